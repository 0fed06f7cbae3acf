//! Encodes records: the fields, and a column of blocks for each (format, section 9).
#![forbid(unsafe_code)]

use super::block::Blocks;
use super::header;
use super::piece::{Message, Piece, Source};
use crate::effort::Settings;
use crate::format::{COLUMN, Fields, PIECE, RECORDS, Slots, column_width};
use crate::kernel;
use crate::word::Word;
use core::marker::PhantomData;
use mpress_codec::simd::Simd;
use mpress_codec::{Full, Out};

/// Encodes a message of records of these fields. The reference is empty if there is none.
pub(super) fn encode(
    simd: Simd,
    blocks: &mut Blocks,
    fields: &Fields,
    (raw, reference): (&[u8], &[u8]),
    settings: &Settings,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let stride = fields.stride();
    header(RECORDS, raw, out)?;
    let (definition, len) = fields.to_wire();
    out.store(&definition, len)?;
    let (records, tail) = raw.split_at(raw.len() / stride * stride);
    let mut others = reference.chunks(PIECE * stride);
    let (mut column, mut memory) = ([0; COLUMN], None);
    let referring = second_column(reference, &mut memory);
    for piece in records.chunks(PIECE * stride) {
        let other = others.next().unwrap_or_default();
        for (at, width) in fields.iter() {
            let message = Message {
                words: gather_column(piece, at, width, stride, &mut column),
                reference: gather_column(other, at, width, stride, referring),
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
    kernel::with(
        simd,
        Piece::<W> { message, start: 0, source, settings, blocks, slots, out, word: PhantomData },
    )
}

/// The memory for columns of a reference, which is not touched if there is none.
pub(crate) fn second_column<'a>(reference: &[u8], memory: &'a mut Option<[u8; COLUMN]>) -> &'a mut [u8] {
    match reference {
        [] => &mut [],
        _ => memory.insert([0; COLUMN]),
    }
}

/// Gathers the field at `at`, of `width` bytes, of each record of a piece.
pub(crate) fn gather_column<'a>(
    piece: &[u8],
    at: usize,
    width: usize,
    stride: usize,
    column: &'a mut [u8],
) -> &'a [u8] {
    let column = &mut column[..piece.len() / stride * column_width(width)];
    match width {
        8 => gather::<8, 8>(piece, at, stride, column),
        4 => gather::<4, 4>(piece, at, stride, column),
        2 => gather::<2, 2>(piece, at, stride, column),
        _ => gather::<2, 1>(piece, at, stride, column),
    }
    column
}

/// Gathers the field at `at` of each record into words of `N` bytes. Fields have `F` bytes and are zero-extended.
#[inline(always)]
fn gather<const N: usize, const F: usize>(records: &[u8], at: usize, stride: usize, column: &mut [u8]) {
    let fields = records.get(at..).unwrap_or_default().chunks(stride);
    for (word, field) in column.as_chunks_mut::<N>().0.iter_mut().zip(fields) {
        let (Some(low), Some(field)) = (word.first_chunk_mut::<F>(), field.first_chunk()) else { return };
        *low = *field;
        word[F..].fill(0);
    }
}
