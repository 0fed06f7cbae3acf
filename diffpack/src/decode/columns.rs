//! Records: columns of blocks, whose words are scattered to the fields (format, section 9).
#![forbid(unsafe_code)]

use super::block::Read;
use super::rebuild::Scratch;
use crate::columns::{gather, scatter};
use crate::format::{COLUMN, Fields, PIECE, column_width};
use crate::kernel;
use core::mem::MaybeUninit;
use mpress_codec::DecodeErrorKind::Length;
use mpress_codec::simd::Simd;
use mpress_codec::{DecodeError, Full, Out};
use mpress_codec_support::Wire;

/// Reads as many records as fit in the remaining room. The reference is empty if there is none; `memory` is for its columns. Never
/// inlined, because it has a column on the stack.
#[inline(never)]
pub(super) fn read_records(
    simd: Simd,
    scratch: &mut Scratch,
    wire: &mut Wire<'_>,
    reference: &[u8],
    memory: &mut [u8],
    out: &mut Out<'_>,
) -> Result<(), DecodeError> {
    let place = wire.at;
    let fields = Fields::from_wire(wire)?;
    let full = DecodeError::new(Length, place);
    let (stride, mut left) = (fields.stride(), out.remaining() / fields.stride());
    let mut others = reference.chunks(PIECE * stride);
    while left > 0 {
        let records = left.min(PIECE);
        let other = others.next().unwrap_or_default();
        let start = out.len();
        out.extend_zeroed(records * stride).map_err(|Full { .. }| full)?;
        let piece = out.written_mut().get_mut(start..).unwrap_or_default();
        for (at, width) in fields.iter() {
            let mut column = [MaybeUninit::uninit(); COLUMN];
            let mut column = Out::new(&mut column[..records * column_width(width)]);
            let (out, reference) = (&mut column, gather(other, at, width, stride, memory));
            let read = Read { scratch, wire, words: records, reference, out, start: 0 };
            match width {
                8 => kernel::with::<u64, _>(simd, read)?,
                4 => kernel::with::<u32, _>(simd, read)?,
                _ => kernel::with::<u16, _>(simd, read)?,
            }
            scatter(column.written(), piece, at, width, stride);
        }
        left -= records;
    }
    Ok(())
}
