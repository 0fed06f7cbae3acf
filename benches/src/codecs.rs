//! The table of codecs. A new codec, or a new setting of one, is one row.

use crate::Result;
use crate::coder::{Coder, Memcpy, Ours};
use crate::element::Element;
use crate::peers::PEERS;
use mpress_codec::MemoryError;
use mpress_codec::simd::Level;
use mpress_dfcm::Lines;
use mpress_diffpack::Effort;

/// What a row of the table is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The copy that all else is seen beside.
    Baseline,
    /// A codec as the engine uses it.
    Codec,
    /// A special setting of one, for comparison only.
    Variant,
    /// A codec of others.
    Peer,
}

/// A codec as a row of a report.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// What the row is called: no blank and no comma.
    pub name: &'static str,
    /// What it is there for.
    pub role: Role,
    /// Makes it for these elements, with kernels of this level; `None` where it has no use for such elements.
    pub make: fn(Element, Level) -> Made,
}

/// A codec ready for use.
pub type Made = Result<Option<Box<dyn Coder>>>;

/// The codecs of this project.
pub const CODECS: &[Subject] = &[
    row("memcpy", Role::Baseline, |_, _| Ok(Some(Box::new(Memcpy)))),
    row("dfcm", Role::Codec, |element, level| dfcm(element, level, Table::Sized)),
    row("dfcm-lines15", Role::Variant, |element, level| dfcm(element, level, Table::Fixed(15))),
    row("dfcm-continuing10", Role::Variant, |element, level| dfcm(element, level, Table::Continuing(10))),
    row("dfcm-continuing15", Role::Variant, |element, level| dfcm(element, level, Table::Continuing(15))),
    row("diffpack-fast", Role::Codec, |element, level| diffpack(element, level, Effort::Fast, Hints::Kept)),
    row("diffpack-balanced", Role::Codec, |e, level| diffpack(e, level, Effort::Balanced, Hints::Kept)),
    row("diffpack-ratio", Role::Codec, |element, level| diffpack(element, level, Effort::Ratio, Hints::Kept)),
    row("diffpack-fast-nohints", Role::Variant, |e, level| diffpack(e, level, Effort::Fast, Hints::None)),
    row("diffpack-balanced-nohints", Role::Variant, |e, l| diffpack(e, l, Effort::Balanced, Hints::None)),
    row("diffpack-ratio-nohints", Role::Variant, |e, level| diffpack(e, level, Effort::Ratio, Hints::None)),
];

pub(crate) const fn row(name: &'static str, role: Role, make: fn(Element, Level) -> Made) -> Subject {
    Subject { name, role, make }
}

/// Every row there is.
pub fn all() -> impl Iterator<Item = &'static Subject> {
    CODECS.iter().chain(PEERS)
}

/// How DFCM's table of lines is sized, and whether it is kept from message to message.
#[derive(Clone, Copy)]
enum Table {
    Sized,
    Fixed(u8),
    Continuing(u8),
}

fn dfcm(element: Element, level: Level, table: Table) -> Made {
    fn of<W: mpress_dfcm::Word + 'static>(level: Level, table: Table) -> Made {
        use mpress_dfcm::{Decoder, Encoder};
        let memory = || vec![0; Lines::MAX.words::<W>()];
        let lines = |log2| Lines::new(log2).ok_or("no table of that many lines");
        let encoder: std::result::Result<Encoder<W, Vec<u64>>, MemoryError> = match table {
            Table::Sized => Encoder::new(memory()),
            Table::Fixed(log2) => Encoder::with_lines(memory(), lines(log2)?),
            Table::Continuing(log2) => Encoder::continuing(memory(), lines(log2)?),
        };
        Ok(Some(Box::new(Ours {
            encoder: encoder?.with_level(level),
            decoder: Decoder::<W, _>::new(memory())?.with_level(level),
            continuing: matches!(table, Table::Continuing(_)),
        })))
    }
    match element.width() {
        8 => of::<u64>(level, table),
        4 => of::<u32>(level, table),
        _ => Ok(None),
    }
}

/// Whether diffpack keeps hints between messages.
#[derive(Clone, Copy)]
enum Hints {
    Kept,
    None,
}

fn diffpack(element: Element, level: Level, effort: Effort, hints: Hints) -> Made {
    fn of<W: mpress_diffpack::Word + 'static>(level: Level, effort: Effort, hints: Hints) -> Made {
        use mpress_diffpack::{Decoder, Encoder};
        let encoder = match hints {
            Hints::Kept => Encoder::<W>::remembering(effort),
            Hints::None => Encoder::new(effort),
        };
        Ok(Some(Box::new(Ours {
            encoder: encoder.with_level(level),
            decoder: Decoder::<W>::new().with_level(level),
            continuing: false,
        })))
    }
    match element.width() {
        8 => of::<u64>(level, effort, hints),
        4 => of::<u32>(level, effort, hints),
        2 => of::<u16>(level, effort, hints),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_fit_a_list_with_commas() {
        let names: BTreeSet<_> = all().map(|subject| subject.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.iter().all(|name| !name.contains([',', ' '])));
    }

    #[test]
    fn every_row_works_for_some_element_and_brings_it_back() {
        for subject in all() {
            let mut made = 0;
            for element in Element::ALL {
                let Some(mut coder) = (subject.make)(element, Level::detect()).unwrap() else { continue };
                made += 1;
                // The second has a tail behind its last whole element, for elements of two bytes and more.
                for len in [4096, 4099] {
                    let message: Vec<u8> = (0..len).map(|i| (i / 16 % 251) as u8).collect();
                    let mut wire = vec![0; coder.bound(len).unwrap().max(len)];
                    let packed = coder.pack(&message, &mut wire).unwrap().map(|len| &wire[..len]);
                    let mut raw = crate::aligned::Aligned::zeroed(len);
                    coder.unpack(packed, &message, &mut raw).unwrap();
                    assert!(raw[..] == message, "{} {element:?} {len}", subject.name);
                }
            }
            assert!(made > 0, "{}", subject.name);
        }
    }
}
