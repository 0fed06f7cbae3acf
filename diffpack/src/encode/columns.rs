//! Encodes records: the fields, and a column of blocks for each (format, section 9).
#![forbid(unsafe_code)]

use super::block::Blocks;
use super::header;
use super::piece::{Message, Piece};
use crate::columns::gather;
use crate::effort::Settings;
use crate::format::{COLUMN, Fields, PIECE, RECORDS, Slots};
use crate::kernel;
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
            let bytes = gather(piece, at, width, stride, &mut column);
            let message = Message { bytes, reference: gather(other, at, width, stride, memory) };
            blocks.begin_message(settings, false);
            let (hints, slots) = (None, &mut Slots::new());
            let column = Piece { message, start: 0, hints, settings, blocks, slots, out };
            match width {
                8 => kernel::with::<u64, _>(simd, column)?,
                4 => kernel::with::<u32, _>(simd, column)?,
                _ => kernel::with::<u16, _>(simd, column)?,
            }
        }
    }
    out.extend_from_slice(tail)
}
