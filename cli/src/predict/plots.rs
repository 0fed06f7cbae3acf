//! The figures of the paper, as SVG.

use super::evaluate::{Evaluated, REPLACE, Spread, WINDOWS, names};
use super::{Error, largest};
use crate::bars::{Area, Bars, Drawn, Series};
use plotters::prelude::*;
use std::fs;
use std::path::Path;

/// Colours of minimum, mean and maximum, and of the three strategies of windows.
const THREE: [RGBColor; 3] =
    [RGBColor(0x9e, 0xae, 0xbd), RGBColor(0x1b, 0x6c, 0xa8), RGBColor(0xe0, 0x8e, 0x2b)];

/// Colours of the predictors.
const MANY: [RGBColor; 9] = [
    RGBColor(0x1b, 0x6c, 0xa8),
    RGBColor(0x9e, 0xae, 0xbd),
    RGBColor(0x4f, 0x9d, 0x69),
    RGBColor(0x2d, 0x5f, 0x3f),
    RGBColor(0xd3, 0xb8, 0xd8),
    RGBColor(0xa8, 0x7b, 0xb0),
    RGBColor(0x6d, 0x41, 0x75),
    RGBColor(0xe0, 0x8e, 0x2b),
    RGBColor(0xa3, 0x3b, 0x20),
];

/// Writes all figures into a folder.
pub(super) fn write(folder: &Path, runs: &[Evaluated]) -> Result<(), Error> {
    let failed = |file: &Path, why: &dyn std::fmt::Display| Error::Plot {
        file: file.to_owned(),
        why: why.to_string(),
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let draw = |name: &str, panels: usize, draw: &dyn Fn(&[Area<'_>]) -> Drawn| {
        let file = folder.join(format!("{name}.svg"));
        canvas(&file, panels, draw).map_err(|error| failed(&file, &error))
    };
    draw("calls", 1, &|areas| spreads(areas, "receive calls per rank", runs, |run| run.calls))?;
    draw("messages", 1, &|areas| spreads(areas, "different messages per rank", runs, |run| run.messages))?;
    let programs = largest(runs).count();
    draw("distribution", programs, &|areas| distribution(areas, runs))?;
    draw("windows", programs, &|areas| windows(areas, runs))?;
    for name in names() {
        let caption = format!("hit ratio of {name}");
        draw(&format!("hits-{name}"), 1, &|areas| {
            spreads(areas, &caption, runs, |run| run.predictor(name).ratios)
        })?;
    }
    draw("comparison", 1, &|areas| comparison(areas, runs))?;
    draw("starts", 1, &|areas| sensitivity(areas, runs))
}

/// A picture of several panels, two in a row.
fn canvas(file: &Path, panels: usize, draw: &dyn Fn(&[Area<'_>]) -> Drawn) -> Drawn {
    let columns = if panels > 1 { 2 } else { 1 };
    let rows = panels.div_ceil(columns).max(1);
    let area = SVGBackend::new(file, (1000, 60 + 340 * rows as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    draw(&area.split_evenly((rows, columns)))?;
    Ok(area.present()?)
}

/// Slightly above the maximum.
fn above(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(1.0, f64::max) * 1.15
}

/// A part of a spread, and its name.
type Part = (&'static str, fn(&Spread) -> f64);

fn spreads(
    areas: &[Area<'_>],
    caption: &str,
    runs: &[Evaluated],
    of: impl Fn(&Evaluated) -> Spread,
) -> Drawn {
    let spreads: Vec<_> = runs.iter().map(of).collect();
    let parts: [Part; 3] = [
        ("minimum", |spread| spread.min),
        ("mean", |spread| spread.mean()),
        ("maximum", |spread| spread.max),
    ];
    let series = parts.iter().zip(THREE).map(|((name, part), color)| Series {
        name,
        color,
        heights: spreads.iter().map(part).collect(),
    });
    let highest = above(spreads.iter().map(|spread| spread.max));
    bars(areas, caption, runs.iter(), series.collect(), highest)
}

fn bars<'a>(
    areas: &[Area<'_>],
    caption: &str,
    groups: impl Iterator<Item = &'a Evaluated>,
    series: Vec<Series<'_>>,
    highest: f64,
) -> Drawn {
    let bars = Bars {
        caption: caption.to_owned(),
        groups: groups.map(|run| run.run.to_string()).collect(),
        series,
        highest,
        digits: if highest < 10.0 { 1 } else { 0 },
        mark: None,
    };
    areas.first().map_or(Ok(()), |area| bars.draw(area))
}

fn distribution(areas: &[Area<'_>], runs: &[Evaluated]) -> Drawn {
    for (area, run) in areas.iter().zip(largest(runs)) {
        let heights = run.distribution.bars.clone();
        let means = match run.distribution.width {
            0 | 1 => String::new(),
            width => format!(", means of {width} messages"),
        };
        let chart = Bars {
            caption: format!("{}: calls of each message, first rank{means}", run.run),
            groups: vec![String::new(); heights.len()],
            highest: above(heights.iter().copied()),
            series: vec![Series { name: "calls", color: THREE[1], heights }],
            digits: 0,
            mark: None,
        };
        chart.draw(area)?;
    }
    Ok(())
}

fn windows(areas: &[Area<'_>], runs: &[Evaluated]) -> Drawn {
    for (area, run) in areas.iter().zip(largest(runs)) {
        let widest = WINDOWS.iter().copied().max().unwrap_or(1) as f64;
        let mut chart = ChartBuilder::on(area)
            .caption(format!("{}: hit ratio by size of window", run.run), ("sans-serif", 17))
            .margin(10)
            .x_label_area_size(30)
            .y_label_area_size(50)
            .build_cartesian_2d((1.0..widest).log_scale(), 0.0..1.05)?;
        chart.configure_mesh().x_label_formatter(&|x| format!("{x:.0}")).draw()?;
        for (strategy, ((name, _), color)) in REPLACE.into_iter().zip(THREE).enumerate() {
            let points = WINDOWS.iter().enumerate();
            let points = points.map(|(at, size)| (*size as f64, run.window(strategy, at).ratios.mean()));
            chart
                .draw_series(LineSeries::new(points, color.stroke_width(2)))?
                .label(name.to_uppercase())
                .legend(move |(x, y)| Rectangle::new([(x, y - 2), (x + 12, y + 2)], color.filled()));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.85))
            .draw()?;
    }
    Ok(())
}

fn comparison(areas: &[Area<'_>], runs: &[Evaluated]) -> Drawn {
    let series = names().zip(MANY).map(|(name, color)| Series {
        name,
        color,
        heights: largest(runs).map(|run| run.predictor(name).ratios.mean()).collect(),
    });
    // Room for the names.
    bars(areas, "hit ratio of the predictors, means over ranks", largest(runs), series.collect(), 2.0)
}

fn sensitivity(areas: &[Area<'_>], runs: &[Evaluated]) -> Drawn {
    let kinds: Vec<_> = largest(runs).flat_map(|run| &run.sensitivity).map(|of| of.name).collect();
    let mut names: Vec<(&str, bool, String)> = Vec::new();
    for name in kinds {
        for (phase, words) in [(true, "with"), (false, "without")] {
            if !names.iter().any(|known| (known.0, known.1) == (name, phase)) {
                names.push((name, phase, format!("{name} {words}")));
            }
        }
    }
    let series = names.iter().zip(MANY).map(|((name, phase, label), color)| Series {
        name: label,
        color,
        heights: largest(runs)
            .map(|run| {
                let of = run.sensitivity.iter().find(|of| of.name == *name);
                of.map_or(0.0, |of| if *phase { of.with.mean() } else { of.without.mean() })
            })
            .collect(),
    });
    bars(
        areas,
        "hit ratio, with and without initialisation, means over starts",
        largest(runs),
        series.collect(),
        1.5,
    )
}
