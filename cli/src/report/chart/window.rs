//! A compression window over messages: the lengths inside it, from change to change.

use super::{Anchor, CHARACTER, Canvas, GAP, Scale, WIDTH, room};
use crate::report::units::{count, length};
use crate::report::xml::Xml;
use mpress::report::{Threshold, Window};
use mpress::selector::SizeClass;

const HEIGHT: f64 = 150.0;
const TOP: f64 = 10.0;
const AXIS: f64 = 40.0;

/// Draws a window with two logarithmic axes.
pub(in crate::report) fn window(xml: &mut Xml, shows: &str, window: &Window) {
    let last = window.thresholds.last().map_or(0, |threshold| threshold.messages);
    // Lengths as octaves, from the shortest class to one octave above the longest, which has no upper end.
    let starts: Vec<_> = SizeClass::all().step_by(2).map(|class| class.start() as u64).collect();
    let (shortest, longest) = (starts.first().copied().unwrap_or(1), starts.last().copied().unwrap_or(1));
    let octave = |length: u64| (length.max(1) as f64).log2();
    let ends = (octave(shortest), octave(longest) + 1.0);
    let bottom = TOP + HEIGHT;
    let left =
        room(starts.iter().map(|start| length(*start)).collect::<Vec<_>>().iter().map(|label| &**label))
            + GAP;
    let right = WIDTH - room([&*count(last)]) / 2.0;
    let upright = Scale { values: ends, pixels: (bottom, TOP) };
    let along = Scale { values: (0.0, decade(last).max(1.0)), pixels: (left, right) };

    Canvas::draw(xml, bottom + AXIS, shows, |canvas| {
        for start in starts.iter().step_by(4) {
            let y = upright.at(octave(*start));
            canvas.line((left, y), (right, y), "grid");
            canvas.text((left - GAP, y), Anchor::End, &length(*start));
        }
        for (threshold, until) in spans(&window.thresholds) {
            let Some(smallest) = threshold.smallest else { continue };
            let (x, end) = (along.at(decade(threshold.messages)), along.at(decade(until)));
            let low = upright.at(octave(smallest));
            let high = threshold.end.map_or(TOP, |end| upright.at(octave(end)));
            let above = threshold.end.map_or("no limit".into(), length);
            let says = format!(
                "messages {} to {}: from {} to {above}",
                count(threshold.messages),
                count(until),
                length(smallest)
            );
            canvas.rect((x, high), (end - x, low - high), "inside", &says);
            // The limits, above the rectangle's edges.
            for (y, limit) in [(low, Some(smallest)), (high, threshold.end)] {
                if limit.is_some() {
                    canvas.line((x, y), (end, y), "limit");
                }
            }
        }
        canvas.line((left, bottom), (right, bottom), "axis");
        let labels = (room([&*count(last)]) + 2.0 * CHARACTER) / (right - left) * along.values.1;
        for at in (0..=20_u32).step_by((labels.ceil() as usize).max(1)) {
            if f64::from(at) <= along.values.1 {
                let x = along.at(f64::from(at));
                canvas.line((x, bottom), (x, bottom + 4.0), "axis");
                canvas.text((x, bottom + 14.0), Anchor::Middle, &count(10_i128.pow(at)));
            }
        }
        let name = format!("messages of {} until then, on rank 0", window.kind);
        canvas.text(((left + right) / 2.0, bottom + 32.0), Anchor::Middle, &name);
    });
}

fn decade(messages: u64) -> f64 {
    (messages.max(1) as f64).log10()
}

/// Thresholds, and the count of messages up to which they were valid. Before the first change all lengths are inside.
fn spans(thresholds: &[Threshold]) -> Vec<(Threshold, u64)> {
    let start = Threshold {
        messages: 0,
        smallest: SizeClass::all().next().map(|class| class.start() as u64),
        end: None,
    };
    let all: Vec<_> = [start].iter().chain(thresholds).copied().collect();
    let until = all.iter().skip(1).map(|threshold| threshold.messages);
    // Entries out of order have no extent.
    all.iter().copied().zip(until).filter(|(threshold, until)| threshold.messages < *until).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(messages: u64, smallest: Option<u64>, end: Option<u64>) -> Threshold {
        Threshold { messages, smallest, end }
    }

    #[test]
    fn each_threshold_holds_until_the_next() {
        let first = threshold(0, Some(2048), None);
        let second = threshold(40, Some(2048), Some(65536));
        let last = threshold(900, Some(2048), Some(65536));
        assert_eq!(spans(&[first, second, last]), [(first, 40), (second, 900)]);
        assert_eq!(spans(&[last]), [(threshold(0, Some(1024), None), 900)], "nothing has changed");
        assert_eq!(spans(&[]), []);
        assert_eq!(spans(&[last, first]), [(threshold(0, Some(1024), None), 900)], "out of order");
    }
}
