//! The table of codecs. A new codec, or a new setting of one, is a new row.

use crate::Result;
use crate::coder::{Coder, Memcpy, Ours};
use crate::element::Element;
use crate::peers::PEERS;
use mpress_codec::MemoryError;
use mpress_codec::simd::Simd;
use mpress_dfcm::Lines;
use mpress_diffpack::Effort;
use mpress_lzo_compat::{self as lz, Lz77, Lzo1x};
use mpress_rice::{Mapping, ccsds};
use mpress_rle_huffman::{Code, HuffmanEncoder, RleEncoder, ShannonFanoEncoder, Symbol, Width};

/// The role of a row in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The copy with which everything is compared.
    Baseline,
    /// A codec as used by the engine.
    Codec,
    /// A special setting of a codec, for comparison only.
    Variant,
    /// A third-party codec.
    Peer,
}

/// A codec as a row in a report.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The name of the row, without blanks and commas.
    pub name: &'static str,
    /// Its role.
    pub role: Role,
    /// Creates the codec for these elements, with kernels of this tier; `None` if it does not support such elements.
    pub make: fn(Element, Simd) -> Made,
}

/// A codec ready for use.
pub type Made = Result<Option<Box<dyn Coder>>>;

/// The codecs of this project.
pub const CODECS: &[Subject] = &[
    row("memcpy", Role::Baseline, |_, _| Ok(Some(Box::new(Memcpy)))),
    row("dfcm", Role::Codec, |element, simd| dfcm(element, simd, Table::Sized)),
    row("dfcm-lines15", Role::Variant, |element, simd| dfcm(element, simd, Table::Fixed(15))),
    row("dfcm-continuing10", Role::Variant, |element, simd| dfcm(element, simd, Table::Continuing(10))),
    // As in cMPI: order 3, 2^15 lines, state that carries over from message to message (section 3).
    row("dfcm-cmpi", Role::Codec, |element, simd| dfcm(element, simd, Table::Continuing(15))),
    row("dfcm-lanes", Role::Codec, dfcm_lanes),
    row("fpc", Role::Codec, fpc),
    row("fpc-stream10", Role::Codec, |element, simd| fpc_stream(element, simd, 10)),
    row("fpc-stream20", Role::Variant, |element, simd| fpc_stream(element, simd, 20)),
    row("diffpack-fast", Role::Codec, |element, simd| diffpack(element, simd, Effort::Fast, Hints::Kept)),
    row("diffpack-balanced", Role::Codec, |e, simd| diffpack(e, simd, Effort::Balanced, Hints::Kept)),
    row("diffpack-ratio", Role::Codec, |element, simd| diffpack(element, simd, Effort::Ratio, Hints::Kept)),
    row("diffpack-fast-nohints", Role::Variant, |e, simd| diffpack(e, simd, Effort::Fast, Hints::None)),
    row("diffpack-balanced-nohints", Role::Variant, |e, l| diffpack(e, l, Effort::Balanced, Hints::None)),
    row("diffpack-ratio-nohints", Role::Variant, |e, simd| diffpack(e, simd, Effort::Ratio, Hints::None)),
    row("lz77-fast", Role::Codec, |_, _| Ok(lzo_compat::<Lz77>(lz::Effort::Fast))),
    row("lz77-normal", Role::Codec, |_, _| Ok(lzo_compat::<Lz77>(lz::Effort::Normal))),
    row("lzo-fast", Role::Codec, |_, _| Ok(lzo_compat::<Lzo1x>(lz::Effort::Fast))),
    row("lzo-normal", Role::Codec, |_, _| Ok(lzo_compat::<Lzo1x>(lz::Effort::Normal))),
    row("rice", Role::Codec, |element, simd| rice(element, simd, None)),
    row("rice-unsigned", Role::Variant, |element, simd| rice(element, simd, Some(Mapping::Unsigned))),
    row("rice-signed", Role::Variant, |element, simd| rice(element, simd, Some(Mapping::Signed))),
    row("rice-delta", Role::Variant, |element, simd| rice(element, simd, Some(Mapping::Delta))),
    row("rice-offset", Role::Variant, |element, simd| rice(element, simd, Some(Mapping::Offset))),
    row("ccsds121", Role::Codec, ccsds121),
    row("rle", Role::Codec, |_, simd| Ok(rle(Width::One, simd))),
    row("huffman", Role::Codec, |_, simd| Ok(coded(HuffmanEncoder::new(Width::One), simd))),
    row("huffman-planes", Role::Codec, |e, simd| Ok(coded(HuffmanEncoder::new(planes(e)?), simd))),
    row("rle-planes", Role::Variant, |e, simd| Ok(rle(planes(e)?, simd))),
    row("shannon-fano", Role::Variant, |_, simd| Ok(coded(ShannonFanoEncoder::new(Width::One), simd))),
    row("shannon-fano-planes", Role::Variant, |e, l| Ok(coded(ShannonFanoEncoder::new(planes(e)?), l))),
];

pub(crate) const fn row(name: &'static str, role: Role, make: fn(Element, Simd) -> Made) -> Subject {
    Subject { name, role, make }
}

/// All rows.
pub fn all() -> impl Iterator<Item = &'static Subject> {
    CODECS.iter().chain(PEERS)
}

/// The size of DFCM's table of lines, and whether it is kept from message to message.
#[derive(Clone, Copy)]
enum Table {
    Sized,
    Fixed(u8),
    Continuing(u8),
}

fn dfcm(element: Element, simd: Simd, table: Table) -> Made {
    fn of<W: mpress_dfcm::Word + 'static>(simd: Simd, table: Table) -> Made {
        use mpress_dfcm::{Decoder, Encoder};
        let memory = || vec![0; Lines::MAX.words::<W>()];
        let lines = |log2| Lines::new(log2).ok_or("no table of that many lines");
        let encoder: std::result::Result<Encoder<W, Vec<u64>>, MemoryError> = match table {
            Table::Sized => Encoder::new(memory()),
            Table::Fixed(log2) => Encoder::with_lines(memory(), lines(log2)?),
            Table::Continuing(log2) => Encoder::continuing(memory(), lines(log2)?),
        };
        Ok(Some(Box::new(Ours {
            encoder: encoder?.with_simd(simd),
            decoder: Decoder::<W, _>::new(memory())?.with_simd(simd),
            continuing: matches!(table, Table::Continuing(_)),
        })))
    }
    match element.width() {
        8 => of::<u64>(simd, table),
        4 => of::<u32>(simd, table),
        _ => Ok(None),
    }
}

fn dfcm_lanes(element: Element, simd: Simd) -> Made {
    fn of<W: mpress_dfcm::Word + 'static>(simd: Simd) -> Made {
        use mpress_dfcm::lanes::{Decoder, Encoder};
        Ok(Some(Box::new(Ours {
            encoder: Encoder::<W>::new().with_simd(simd),
            decoder: Decoder::<W>::new().with_simd(simd),
            continuing: false,
        })))
    }
    match element.width() {
        8 => of::<u64>(simd),
        4 => of::<u32>(simd),
        _ => Ok(None),
    }
}

fn fpc(element: Element, simd: Simd) -> Made {
    fn of<W: mpress_fpc::Word + 'static>(simd: Simd) -> Made {
        Ok(Some(Box::new(Ours {
            encoder: mpress_fpc::Encoder::<W>::new().with_simd(simd),
            decoder: mpress_fpc::Decoder::<W>::new().with_simd(simd),
            continuing: false,
        })))
    }
    match element.width() {
        8 => of::<u64>(simd),
        4 => of::<u32>(simd),
        _ => Ok(None),
    }
}

/// Streams of FPC 1.1 with tables of this level.
fn fpc_stream(element: Element, simd: Simd, tables: u8) -> Made {
    use mpress_fpc::stream::{Decoder, Encoder, TableLevel};
    if element.width() != 8 {
        return Ok(None);
    }
    let tables = TableLevel::new(tables).ok_or("no such level")?;
    let memory = || vec![0; tables.words()];
    Ok(Some(Box::new(Ours {
        encoder: Encoder::new(memory(), tables)?.with_simd(simd),
        decoder: Decoder::new(memory(), tables)?.with_simd(simd),
        continuing: false,
    })))
}

/// Whether diffpack keeps hints between messages.
#[derive(Clone, Copy)]
enum Hints {
    Kept,
    None,
}

fn diffpack(element: Element, simd: Simd, effort: Effort, hints: Hints) -> Made {
    fn of<W: mpress_diffpack::Word + 'static>(simd: Simd, effort: Effort, hints: Hints) -> Made {
        use mpress_diffpack::{Decoder, Encoder};
        let encoder = match hints {
            Hints::Kept => Encoder::<W>::remembering(effort),
            Hints::None => Encoder::new(effort),
        };
        Ok(Some(Box::new(Ours {
            encoder: encoder.with_simd(simd),
            decoder: Decoder::<W>::new().with_simd(simd),
            continuing: false,
        })))
    }
    match element.width() {
        8 => of::<u64>(simd, effort, hints),
        4 => of::<u32>(simd, effort, hints),
        2 => of::<u16>(simd, effort, hints),
        _ => Ok(None),
    }
}

fn lzo_compat<F: lz::Format + 'static>(effort: lz::Effort) -> Option<Box<dyn Coder>> {
    let (encoder, decoder) = (lz::Encoder::<F>::new(effort), lz::Decoder::<F>::new());
    Some(Box::new(Ours { encoder, decoder, continuing: false }))
}

/// The width of these elements, if they can be split into planes.
fn planes(element: Element) -> Result<Width> {
    Ok(Width::new(element.width()).ok_or("no planes of that width")?)
}

fn rle(planes: Width, simd: Simd) -> Option<Box<dyn Coder>> {
    coded(RleEncoder::new(Symbol::Auto, planes), simd)
}

fn coded<C: Code + 'static>(encoder: mpress_rle_huffman::Encoder<C>, simd: Simd) -> Option<Box<dyn Coder>> {
    let decoder = mpress_rle_huffman::Decoder::<C>::new().with_simd(simd);
    Some(Box::new(Ours { encoder: encoder.with_simd(simd), decoder, continuing: false }))
}

/// Rice codes with this mapping, or with the best mapping for each block.
fn rice(element: Element, simd: Simd, mapping: Option<Mapping>) -> Made {
    fn of<W: mpress_rice::Word + 'static>(simd: Simd, mapping: Option<Mapping>) -> Made {
        use mpress_rice::{Decoder, Encoder};
        Ok(Some(Box::new(Ours {
            encoder: mapping.map_or(Encoder::<W>::auto(), Encoder::new).with_simd(simd),
            decoder: Decoder::<W>::new().with_simd(simd),
            continuing: false,
        })))
    }
    match element.width() {
        8 => of::<u64>(simd, mapping),
        4 => of::<u32>(simd, mapping),
        2 => of::<u16>(simd, mapping),
        _ => of::<u8>(simd, mapping),
    }
}

/// With the same parameters as the row of libaec.
fn ccsds121(element: Element, simd: Simd) -> Made {
    let bits = match element {
        Element::I32 => 32,
        Element::I16 => 16,
        _ => return Ok(None),
    };
    let parameters = ccsds::Parameters::new(bits).ok_or("no such samples")?.with_signed(true);
    Ok(Some(Box::new(Ours {
        encoder: ccsds::Encoder::new(parameters).with_simd(simd),
        decoder: ccsds::Decoder::new().with_simd(simd),
        continuing: false,
    })))
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
                let Some(mut coder) = (subject.make)(element, Simd::detect()).unwrap() else { continue };
                made += 1;
                // The second length leaves a tail after the last whole element, for elements of two or more bytes.
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
