//! The result as a picture: for each link the total time of every strategy, relative to sending all raw.

use super::simulate::Times;
use super::{Row, TRANSFERS};
use crate::bars::{Bars, Drawn, Series};
use mpress::selector::Link;
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

/// Writes the picture.
pub(super) fn write(file: &Path, rows: &[Row], links: &[(String, Link)]) -> Result<(), String> {
    draw(file, rows, links).map_err(|error| error.to_string())
}

fn draw(file: &Path, rows: &[Row], links: &[(String, Link)]) -> Drawn {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    for ((transfer, _), area) in TRANSFERS.into_iter().zip(area.split_evenly((1, TRANSFERS.len()))) {
        let of_link = |(link, _): &(String, Link)| {
            let here = rows.iter().filter(|row| row.transfer == transfer && row.link == *link);
            Times::total(here.map(|row| &row.times))
        };
        let totals: Vec<_> = links.iter().map(of_link).collect();
        let parts = totals.iter().flat_map(|total| STRATEGIES.map(|(.., time)| time(total) / total.raw));
        let highest = parts.fold(1.0, f64::max).min(2.0) * 1.1;
        let bars = Bars {
            caption: format!("{transfer}: time over all raw"),
            groups: links.iter().map(|(link, _)| link.clone()).collect(),
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
