//! The result as a picture: for each link, the total time of every strategy, relative to sending all
//! messages raw.

use super::simulate::Times;
use super::{TRANSFERS, Table};
use crate::bars::{Bars, Drawn, Series};
use plotters::prelude::*;
use std::path::Path;

/// The size of the charts of one transfer.
const SIZE: (u32, u32) = (500, 420);
/// A strategy: name, colour, and its time.
type Strategy = (&'static str, RGBColor, fn(&Times) -> f64);

const STRATEGIES: [Strategy; 3] = [
    ("best fixed codec", RGBColor(0x9e, 0xae, 0xbd), |times| times.best_fixed),
    ("adaptive", RGBColor(0x1b, 0x6c, 0xa8), |times| times.adaptive().map_or(f64::NAN, |sent| sent.ns)),
    ("oracle", RGBColor(0xe0, 0x8e, 0x2b), |times| times.oracle.ns),
];

/// Writes the picture: a row of charts for each state of the caches, a chart for each transfer.
pub(super) fn write(file: &Path, tables: &[Table]) -> Result<(), String> {
    draw(file, tables).map_err(|error| error.to_string())
}

fn draw(file: &Path, tables: &[Table]) -> Drawn {
    let same = |one: &Table, other: &Table| one.transfer == other.transfer && one.caches == other.caches;
    let charts: Vec<_> = tables.chunk_by(same).collect();
    let (columns, rows) = (TRANSFERS.len(), charts.len() / TRANSFERS.len());
    let area = SVGBackend::new(file, (SIZE.0 * columns as u32, SIZE.1 * rows as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    for (tables, area) in charts.iter().zip(area.split_evenly((rows, columns))) {
        let total = |table: &Table| Times::total(table.files.iter().map(|(_, times)| times));
        let totals: Vec<_> = tables.iter().map(total).collect();
        let parts = totals.iter().flat_map(|total| STRATEGIES.map(|(.., time)| time(total) / total.raw.ns));
        let highest = parts.fold(1.0, f64::max).min(2.0) * 1.1;
        let caption = tables.first().map(|table| format!("{}, {}", table.transfer, table.caches.name()));
        let bars = Bars {
            caption: format!("{}: time over all raw", caption.unwrap_or_default()),
            groups: tables.iter().map(|table| table.link.clone()).collect(),
            series: STRATEGIES
                .map(|(name, color, time)| Series {
                    name,
                    color,
                    heights: totals.iter().map(|total| time(total) / total.raw.ns).collect(),
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
