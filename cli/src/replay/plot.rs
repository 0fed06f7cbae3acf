//! The result as a picture: for each link the total time of every strategy as a part of that of all raw.

use super::simulate::Times;
use super::{LINKS, Row, TRANSFERS};
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

fn draw(file: &Path, rows: &[Row]) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    for ((transfer, _), area) in TRANSFERS.into_iter().zip(area.split_evenly((1, TRANSFERS.len()))) {
        let totals = LINKS.map(|(link, _)| {
            let here = rows.iter().filter(|row| row.transfer == transfer && row.link == link);
            Times::total(here.map(|row| &row.times))
        });
        let parts = totals.iter().flat_map(|total| STRATEGIES.map(|(.., time)| time(total) / total.raw));
        let highest = parts.fold(1.0, f64::max).min(2.0) * 1.1;
        let mut chart = ChartBuilder::on(&area)
            .caption(format!("{transfer}: time over all raw"), ("sans-serif", 17))
            .margin(10)
            .x_label_area_size(30)
            .y_label_area_size(40)
            .build_cartesian_2d(0.0..LINKS.len() as f64, 0.0..highest)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(2 * LINKS.len() + 1)
            // The middle of each group bears its link's name.
            .x_label_formatter(&|x| {
                let at = (x - 0.5).round();
                let middle = (x - 0.5 - at).abs() < 0.01 && at >= 0.0;
                LINKS
                    .get(at as usize)
                    .filter(|_| middle)
                    .map_or_else(String::new, |(name, _)| (*name).to_owned())
            })
            .y_label_formatter(&|y| format!("{y:.1}"))
            .draw()?;
        chart.draw_series(LineSeries::new([(0.0, 1.0), (LINKS.len() as f64, 1.0)], BLACK.stroke_width(1)))?;
        for (place, (name, color, time)) in STRATEGIES.into_iter().enumerate() {
            let bars = totals.iter().enumerate().map(|(at, total)| {
                let left = at as f64 + 0.14 + 0.24 * place as f64;
                let top = (time(total) / total.raw).min(highest);
                Rectangle::new([(left, 0.0), (left + 0.22, top)], color.filled())
            });
            chart
                .draw_series(bars)?
                .label(name)
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled()));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .draw()?;
    }
    area.present()?;
    Ok(())
}
