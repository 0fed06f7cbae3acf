//! Figures 1 to 3 as SVG: matrix product on the left, FFT on the right.

#[path = "../../../cli/src/bars.rs"]
mod bars;

use super::figures::{BLOCKS, Figures, PROGRAMS, RANKS, Ratio};
use super::paper::{self, Said};
use bars::{Bars, Drawn, Series};
use plotters::prelude::*;
use std::path::Path;

const SIZE: (u32, u32) = (1000, 960);
/// The colours of blocks of 1, 2, 4 and 8.
const COLORS: [RGBColor; 4] = [
    RGBColor(0x9e, 0xae, 0xbd),
    RGBColor(0x1b, 0x6c, 0xa8),
    RGBColor(0xe0, 0x8e, 0x2b),
    RGBColor(0xa3, 0x3b, 0x20),
];

/// Writes the figures.
pub(crate) fn write(file: &Path, figures: &Figures) -> Drawn {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let parts: [(&str, Ratio, Said); 3] = [
        ("time, no cache / cache", Figures::cache, paper::CACHE),
        ("messages, no cache / residual", Figures::messages, paper::MESSAGES),
        ("time, cache / residual", Figures::residual, paper::RESIDUAL),
    ];
    for ((number, (title, ratio, said)), row) in (1..).zip(parts).zip(area.split_evenly((3, 1))) {
        let programs = PROGRAMS.into_iter().zip([said.mm, said.fft]).zip(row.split_evenly((1, 2)));
        for ((program, (_, mark)), panel) in programs {
            let heights = |block| RANKS.map(|ranks| ratio(figures, program, block, ranks)).to_vec();
            let highest = BLOCKS.into_iter().flat_map(heights).fold(mark, f64::max) * 1.1;
            let names = ["CB 1", "CB 2", "CB 4", "CB 8"];
            let series = names.into_iter().zip(BLOCKS).zip(COLORS).map(|((name, block), color)| Series {
                name,
                color,
                heights: heights(block),
            });
            Bars {
                caption: format!("Figure {number}, {program}: {title} (line: the paper's {mark})"),
                groups: RANKS.map(|ranks| format!("{ranks} ranks")).to_vec(),
                series: series.collect(),
                highest,
                digits: if highest < 10.0 { 1 } else { 0 },
                mark: Some(mark),
            }
            .draw(&panel)?;
        }
    }
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::figures;

    #[test]
    fn the_picture_has_all_panels() {
        let file = std::env::temp_dir().join(format!("xtask-i-structures-{}.svg", std::process::id()));
        super::write(&file, &figures()).unwrap();
        let svg = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!((svg.matches("Figure ").count(), svg.matches("2 ranks").count()), (6, 6));
    }
}
