//! Records: columns of blocks, whose words are scattered to the fields (format, section 9).
#![forbid(unsafe_code)]

use super::block::read;
use super::rebuild::Scratch;
use super::stream::Streams as _;
use crate::encode::{gather_column, second_column};
use crate::format::{COLUMN, Fields, PIECE, column_width};
use core::mem::MaybeUninit;
use mpress_codec::DecodeErrorKind::Length;
use mpress_codec::simd::Simd;
use mpress_codec::{DecodeError, Full, Out};
use mpress_codec_support::Wire;

/// Reads records, as many as fit in the remaining room. The reference is empty if there is none.
#[inline(never)]
pub(super) fn read_records(
    simd: Simd,
    scratch: &mut Scratch,
    wire: &mut Wire<'_>,
    reference: &[u8],
    out: &mut Out<'_>,
) -> Result<(), DecodeError> {
    let place = wire.at;
    let (fields, len) = Fields::from_wire(wire.rest()).map_err(|malformed| wire.malformed(malformed))?;
    wire.at += len;
    let full = DecodeError::new(Length, place);
    let (stride, mut left) = (fields.stride(), out.remaining() / fields.stride());
    let mut others = reference.chunks(PIECE * stride);
    let mut memory = None;
    let referring = second_column(reference, &mut memory);
    while left > 0 {
        let records = left.min(PIECE);
        let other = others.next().unwrap_or_default();
        let start = out.len();
        out.extend_zeroed(records * stride).map_err(|Full { .. }| full)?;
        let piece = out.written_mut().get_mut(start..).unwrap_or_default();
        for (at, width) in fields.iter() {
            let mut column = [MaybeUninit::uninit(); COLUMN];
            let mut column = Out::new(&mut column[..records * column_width(width)]);
            let (out, reference) = (&mut column, gather_column(other, at, width, stride, referring));
            match width {
                8 => read::<u64>(simd, scratch, wire, records, reference, out, 0)?,
                4 => read::<u32>(simd, scratch, wire, records, reference, out, 0)?,
                _ => read::<u16>(simd, scratch, wire, records, reference, out, 0)?,
            }
            match width {
                8 => scatter::<8, 8>(column.written(), piece, at, stride),
                4 => scatter::<4, 4>(column.written(), piece, at, stride),
                2 => scatter::<2, 2>(column.written(), piece, at, stride),
                _ => scatter::<2, 1>(column.written(), piece, at, stride),
            }
        }
        left -= records;
    }
    Ok(())
}

/// Puts the low `F` bytes of words of `N` bytes into the field at `at` of each record.
#[inline(always)]
fn scatter<const N: usize, const F: usize>(column: &[u8], records: &mut [u8], at: usize, stride: usize) {
    let fields = records.get_mut(at..).unwrap_or_default().chunks_mut(stride);
    for (word, field) in column.as_chunks::<N>().0.iter().zip(fields) {
        let (Some(low), Some(field)) = (word.first_chunk::<F>(), field.first_chunk_mut()) else { return };
        *field = *low;
    }
}
