//! Charts as inline SVG in a page, drawn with the classes of its style sheet, so that they follow its light and dark
//! colours.

mod bars;
mod columns;
mod shares;
mod window;

pub(super) use bars::{Bar, Group, bars};
pub(super) use columns::columns;
pub(super) use shares::{Share, shares};
pub(super) use window::window;

use super::xml::{Attributes, Xml};

/// The width of all charts, in the pixels of an unscaled page.
const WIDTH: f64 = 760.0;
/// The width of a digit in a wide font at the style sheet's size; letters are narrower.
const CHARACTER: f64 = 7.7;
/// The minimum size of a mark, so that it is visible.
const LEAST: f64 = 1.0;
/// The gap between a text and its neighbour.
const GAP: f64 = 6.0;

/// A legend: classes of the style sheet, and the meaning of their colours.
pub(super) fn key(xml: &mut Xml, entries: impl IntoIterator<Item = (&'static str, String)>) {
    xml.element("ul", &[("class", &"key")], |xml| {
        for (class, text) in entries {
            xml.element("li", &[], |xml| {
                xml.leaf("span", &[("class", &format!("swatch {class}"))], "");
                xml.leaf("span", &[], &text);
            });
        }
    });
}

/// The alignment of a text relative to its place.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing.
struct Canvas<'a>(&'a mut Xml);

impl Canvas<'_> {
    /// A drawing of some height, with a description for readers who cannot see it.
    fn draw(xml: &mut Xml, height: f64, shows: &str, inside: impl FnOnce(&mut Canvas<'_>)) {
        let size = format!("0 0 {WIDTH} {}", round(height));
        let attributes: Attributes<'_> = &[("viewBox", &size), ("role", &"img"), ("aria-label", &shows)];
        // On a narrow screen it scrolls instead of becoming too small to read.
        xml.element("div", &[("class", &"wide")], |xml| {
            xml.element("svg", attributes, |xml| inside(&mut Canvas(xml)));
        });
    }

    /// A rectangle with a tooltip.
    fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str, says: &str) {
        let [x, y, width, height] = [x, y, width, height].map(round);
        let attributes: Attributes<'_> =
            &[("class", &class), ("x", &x), ("y", &y), ("width", &width), ("height", &height)];
        self.0.element("rect", attributes, |xml| xml.leaf("title", &[], says));
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(round);
        self.0.empty("line", &[("class", &class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)]);
    }

    /// A text, vertically centred at a height.
    fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.0.leaf("text", &[("x", &round(x)), ("y", &round(y + 4.0)), ("text-anchor", &anchor)], text);
    }
}

/// Rounds to a tenth of a pixel.
fn round(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}

/// The width of the longest of these texts.
fn room<'a>(texts: impl IntoIterator<Item = &'a str>) -> f64 {
    texts.into_iter().map(|text| text.chars().count()).max().unwrap_or(0) as f64 * CHARACTER
}

/// The part of a text that fits.
fn fit(text: &str, room: f64) -> String {
    let most = (room / CHARACTER) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A scale from values to pixels.
#[derive(Clone, Copy)]
struct Scale {
    values: (f64, f64),
    pixels: (f64, f64),
}

impl Scale {
    /// If the values have no range, all are at its beginning.
    fn at(&self, value: f64) -> f64 {
        let ((from, to), (start, end)) = (self.values, self.pixels);
        let part = (value - from) / (to - from);
        start + if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 } * (end - start)
    }

    /// Round values over the whole range, in steps of 1, 2 or 5 times a power of ten, at least `least`.
    fn ticks(&self, least: f64) -> Vec<f64> {
        let (from, to) = self.values;
        let rough = (to - from) / 5.0;
        if !(rough.is_finite() && rough.is_normal()) {
            return vec![from];
        }
        let decade = 10_f64.powi(rough.log10().floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * decade).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough).max(least);
        let first = (from / step).ceil();
        // At most six steps fit.
        (0..=6).map(|at| (first + f64::from(at)) * step).filter(|tick| *tick <= to).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(from: f64, to: f64) -> Scale {
        Scale { values: (from, to), pixels: (100.0, 200.0) }
    }

    #[test]
    fn a_scale_reaches_from_end_to_end() {
        assert_eq!([0.0, 25.0, 50.0].map(|value| scale(0.0, 50.0).at(value)), [100.0, 150.0, 200.0]);
        assert_eq!(scale(-1.0, 1.0).at(0.0), 150.0);
        let downwards = Scale { values: (0.0, 1.0), pixels: (90.0, 10.0) };
        assert_eq!(downwards.at(1.0), 10.0);
    }

    #[test]
    fn nothing_and_nonsense_have_a_place() {
        for (from, to) in [(0.0, 0.0), (f64::MIN, f64::MAX), (0.0, f64::MIN_POSITIVE), (0.0, f64::MAX)] {
            let scale = scale(from, to);
            assert!((100.0..=200.0).contains(&scale.at(from)));
            assert!((100.0..=200.0).contains(&scale.at(to)));
            let ticks = scale.ticks(0.0);
            assert!(!ticks.is_empty() && ticks.iter().all(|tick| tick.is_finite()), "{from} {to}: {ticks:?}");
        }
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(scale(0.0, 50.0).ticks(0.0), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!(scale(-3.0, 9.0).ticks(0.0), [0.0, 5.0]);
        assert_eq!(scale(0.0, 3.0).ticks(1.0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(scale(0.0, 0.0).ticks(1.0), [0.0]);
        for to in 1..2000 {
            let ticks = scale(0.0, f64::from(to)).ticks(0.0);
            assert!((3..=6).contains(&ticks.len()), "{to}: {ticks:?}");
        }
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(fit("diffpack", 100.0), "diffpack");
        assert_eq!(fit("äöüäöüäöü", 5.0 * CHARACTER), "äöüä…");
        assert_eq!(fit("name", 0.0), "…");
    }
}
