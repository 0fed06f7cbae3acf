//! The result as a picture: for each link the total time of every strategy as a part of that of all raw.

use super::simulate::Times;
use super::{LINKS, Row, TRANSFERS};
use crate::bars::{Bars, Drawn, Series};
use plotters::prelude::*;
use std::path::Path;

const SIZE: (u32, u32) = (1000, 420);
/// A strategy: name, colour, and its time.
type Strategy = (&'static str, RGBColor, fn(&Times) -> f64);

const STRATEGIES: [Strategy; 3] = [
    ("best fixed codec", RGBColor(0x9e, 0xae, 0xbd), |times| times.fixed),
    ("selector", RGBColor(0x1b, 0x6c, 0xa8), |times| times.selector),
    ("oracle", RGBColor(0xe0, 0x8e, 0x2b), |times| times.oracle),
];

/// Writes it.
pub(super) fn write(file: &Path, rows: &[Row]) -> Result<(), String> {
    draw(file, rows).map_err(|error| error.to_string())
}

fn draw(file: &Path, rows: &[Row]) -> Drawn {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    for ((transfer, _), area) in TRANSFERS.into_iter().zip(area.split_evenly((1, TRANSFERS.len()))) {
        let totals = LINKS.map(|(link, _)| {
            let here = rows.iter().filter(|row| row.transfer == transfer && row.link == link);
            Times::total(here.map(|row| &row.times))
        });
        let parts = totals.iter().flat_map(|total| STRATEGIES.map(|(.., time)| time(total) / total.raw));
        let highest = parts.fold(1.0, f64::max).min(2.0) * 1.1;
        let bars = Bars {
            caption: format!("{transfer}: time over all raw"),
            groups: LINKS.map(|(link, _)| link.to_owned()).to_vec(),
            series: STRATEGIES
                .map(|(name, color, time)| Series {
                    name,
                    color,
                    heights: totals.iter().map(|total| time(total) / total.raw).collect(),
                })
                .into(),
            highest,
            digits: 1,
            mark: Some(1.0),
        };
        bars.draw(&area)?;
    }
    area.present()?;
    Ok(())
}
