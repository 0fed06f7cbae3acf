//! Columns over message lengths: a place for each size class, two to an octave.

use super::{Anchor, Bar, CHARACTER, Canvas, GAP, LEAST, Scale, WIDTH, room};
use crate::report::tables::class_name;
use crate::report::units::length;
use crate::report::xml::Xml;
use mpress::selector::SizeClass;

const HEIGHT: f64 = 180.0;
const TOP: f64 = 10.0;
const AXIS: f64 = 24.0;
/// The minimum number of places, so that few columns do not look like many.
const PLACES: usize = 8;

/// Draws vertical bars, side by side in the place of their class. `tick` labels the axis on the left, with steps of at least `step`.
pub(in crate::report) fn columns(
    xml: &mut Xml,
    shows: &str,
    columns: &[(SizeClass, Vec<Bar>)],
    tick: fn(f64) -> String,
    step: f64,
) {
    let classes = || columns.iter().map(|(class, _)| class.index());
    // From a full octave to a full octave.
    let first = classes().min().unwrap_or(0) / 2 * 2;
    let places = (classes().max().unwrap_or(0) + 1 - first).next_multiple_of(2).max(PLACES);
    let most = columns.iter().flat_map(|(_, bars)| bars).map(|bar| bar.value).fold(0.0, f64::max);
    let bottom = TOP + HEIGHT;
    let upright = Scale { values: (0.0, most), pixels: (bottom, TOP) };
    let ticks: Vec<_> = upright.ticks(step).into_iter().map(|value| (value, tick(value))).collect();
    let left = room(ticks.iter().map(|(_, label)| &**label)) + GAP;
    // At both ends, half a label extends beyond the axis.
    let end = WIDTH - 5.0 * CHARACTER;
    let along = Scale { values: (first as f64, (first + places) as f64), pixels: (left, end) };
    let width = (end - left) / places as f64;

    Canvas::draw(xml, bottom + AXIS, shows, |canvas| {
        for (value, label) in &ticks {
            let y = upright.at(*value);
            canvas.line((left, y), (end, y), "grid");
            canvas.text((left - GAP, y), Anchor::End, label);
        }
        for (class, bars) in columns {
            let start = along.at(class.index() as f64);
            let each = (width - 4.0) / bars.len() as f64;
            for (at, bar) in bars.iter().enumerate() {
                let least = if bar.value == 0.0 { bottom } else { bottom - LEAST };
                let (x, y) = (start + 2.0 + at as f64 * each, upright.at(bar.value).min(least));
                let says = format!("{}: {}", class_name(*class), bar.label);
                canvas.rect((x, y), (each, bottom - y), bar.class, &says);
            }
        }
        canvas.line((left, bottom), (end, bottom), "axis");
        // One octave, or as many as a label needs.
        let octaves = (10.0 * CHARACTER / (2.0 * width)).ceil() as usize;
        for class in SizeClass::all().skip(first).take(places + 1).step_by(2 * octaves) {
            let x = along.at(class.index() as f64);
            canvas.line((x, bottom), (x, bottom + 4.0), "axis");
            canvas.text((x, bottom + 4.0 + AXIS / 2.0), Anchor::Middle, &length(class.start() as u64));
        }
    });
}
