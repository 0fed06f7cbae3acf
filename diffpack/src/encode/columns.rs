//! Encodes records: the fields, and a column of blocks for each (format, section 9).
#![forbid(unsafe_code)]

use super::block::Blocks;
use super::header;
use super::piece::{Message, Piece, Source};
use crate::columns::gather;
use crate::effort::Settings;
use crate::format::{COLUMN, Fields, PIECE, RECORDS, Slots};
use crate::kernel;
use crate::word::Word;
use mpress_codec::simd::Simd;
use mpress_codec::{Full, Out};

/// Encodes a message of records of these fields. `memory` is for columns of the reference. Never inlined, because it has a column on the
/// stack.
#[inline(never)]
pub(super) fn encode(
    simd: Simd,
    blocks: &mut Blocks,
    fields: &Fields,
    Message { bytes, reference }: Message<'_>,
    settings: &Settings,
    memory: &mut [u8],
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let stride = fields.stride();
    header(RECORDS, bytes, out)?;
    let (definition, len) = fields.to_wire();
    out.store(&definition, len)?;
    let (records, tail) = bytes.split_at(bytes.len() / stride * stride);
    let mut others = reference.chunks(PIECE * stride);
    let mut column = [0; COLUMN];
    for piece in records.chunks(PIECE * stride) {
        let other = others.next().unwrap_or_default();
        for (at, width) in fields.iter() {
            let message = Message {
                bytes: gather(piece, at, width, stride, &mut column),
                reference: gather(other, at, width, stride, memory),
            };
            match width {
                8 => encode_column::<u64>(simd, blocks, message, settings, out)?,
                4 => encode_column::<u32>(simd, blocks, message, settings, out)?,
                _ => encode_column::<u16>(simd, blocks, message, settings, out)?,
            }
        }
    }
    out.extend_from_slice(tail)
}

fn encode_column<W: Word>(
    simd: Simd,
    blocks: &mut Blocks,
    message: Message<'_>,
    settings: &Settings,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    blocks.begin_message(settings, false);
    let (source, slots) = (Source::Columns, &mut Slots::new());
    kernel::with::<W, _>(simd, Piece { message, start: 0, source, settings, blocks, slots, out })
}
