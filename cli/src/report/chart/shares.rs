//! Shares of a whole: a full-width bar for each whole, divided into parts.

use super::{Anchor, Canvas, GAP, Scale, WIDTH, key, room};
use crate::report::units::percent;
use crate::report::xml::Xml;

/// An entry with a share of every whole.
pub(in crate::report) struct Share<const WHOLES: usize> {
    /// Its class in the style sheet.
    pub(in crate::report) class: &'static str,
    pub(in crate::report) name: String,
    /// Its share of each whole; not negative.
    pub(in crate::report) values: [f64; WHOLES],
}

const BAR: f64 = 26.0;
const BETWEEN: f64 = 8.0;

/// Draws a bar for each whole, with its name in front, and a list of the entries.
pub(in crate::report) fn shares<const WHOLES: usize>(
    xml: &mut Xml,
    shows: &str,
    wholes: [&str; WHOLES],
    shares: &[Share<WHOLES>],
) {
    let total = |of: usize| shares.iter().map(|share| share.values[of]).sum::<f64>();
    let part = |share: &Share<WHOLES>, of: usize| percent(share.values[of], total(of)).unwrap_or_default();
    let left = room(wholes) + GAP;

    Canvas::draw(xml, WHOLES as f64 * (BAR + BETWEEN), shows, |canvas| {
        for (of, whole) in wholes.into_iter().enumerate() {
            let y = of as f64 * (BAR + BETWEEN);
            canvas.text((left - GAP, y + BAR / 2.0), Anchor::End, whole);
            let scale = Scale { values: (0.0, total(of)), pixels: (left, WIDTH) };
            let mut sum = 0.0;
            for share in shares {
                let (start, end) = (scale.at(sum), scale.at(sum + share.values[of]));
                sum += share.values[of];
                let says = format!("{}: {} of {whole}", share.name, part(share, of));
                canvas.rect((start, y), (end - start, BAR), share.class, &says);
            }
        }
    });
    let entry = |share: &Share<WHOLES>| {
        let parts: Vec<_> = (0..WHOLES).map(|of| format!("{} of {}", part(share, of), wholes[of])).collect();
        (share.class, format!("{}: {}", share.name, parts.join(", ")))
    };
    key(xml, shares.iter().map(entry));
}
