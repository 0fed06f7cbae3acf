//! Horizontal bars in named groups, on one axis from zero.

use super::{Anchor, Canvas, GAP, LEAST, Scale, WIDTH, fit, room};
use crate::report::xml::Xml;

/// A bar.
pub(in crate::report) struct Bar {
    /// Its class in the style sheet.
    pub(in crate::report) class: &'static str,
    /// Its length; negative values extend to the left of zero.
    pub(in crate::report) value: f64,
    /// The text next to it.
    pub(in crate::report) label: String,
}

/// Bars below each other, with a name in front.
pub(in crate::report) struct Group {
    pub(in crate::report) name: String,
    pub(in crate::report) bars: Vec<Bar>,
}

const BAR: f64 = 14.0;
const BETWEEN: f64 = 10.0;
const AXIS: f64 = 24.0;
/// The maximum width of the names.
const NAMES: f64 = 240.0;

/// Draws all groups, with an axis labelled by `tick` below.
pub(in crate::report) fn bars(xml: &mut Xml, shows: &str, groups: &[Group], tick: fn(f64) -> String) {
    let all = || groups.iter().flat_map(|group| &group.bars);
    let left = room(groups.iter().map(|group| &*group.name)).min(NAMES) + GAP;
    let right = WIDTH - room(all().map(|bar| &*bar.label)) - GAP;
    let least = all().map(|bar| bar.value).fold(0.0, f64::min);
    let most = all().map(|bar| bar.value).fold(0.0, f64::max);
    let scale = Scale { values: (least, most), pixels: (left, right.max(WIDTH / 2.0)) };
    let bottom = all().count() as f64 * BAR + groups.len() as f64 * BETWEEN;

    Canvas::draw(xml, bottom + AXIS, shows, |canvas| {
        for value in scale.ticks(0.0) {
            let x = scale.at(value);
            canvas.line((x, 0.0), (x, bottom), "grid");
            canvas.text((x, bottom + AXIS / 2.0), Anchor::Middle, &tick(value));
        }
        let mut y = BETWEEN / 2.0;
        for group in groups {
            let middle = y + group.bars.len() as f64 * BAR / 2.0;
            canvas.text((left - GAP, middle), Anchor::End, &fit(&group.name, NAMES));
            for bar in &group.bars {
                let (zero, end) = (scale.at(0.0), scale.at(bar.value));
                let says = format!("{}: {}", group.name, bar.label);
                let least = if bar.value == 0.0 { 0.0 } else { LEAST };
                let size = ((end - zero).abs().max(least), BAR - 2.0);
                canvas.rect((zero.min(end), y + 1.0), size, bar.class, &says);
                canvas.text((zero.max(end) + GAP, y + BAR / 2.0), Anchor::Start, &bar.label);
                y += BAR;
            }
            y += BETWEEN;
        }
        let zero = scale.at(0.0);
        canvas.line((zero, 0.0), (zero, bottom), "axis");
    });
}
