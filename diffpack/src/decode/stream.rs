//! What a decoder reads from the wire: heads, predictors, and streams of packed residuals (format, sections 3, 4 and 8).
#![forbid(unsafe_code)]

use super::rebuild::Packed;
use crate::format::{GROUPS, Head, Predictor, Slots};
use crate::kernel::Kernel;
use crate::kernel::block::{EACH, Widths, window};
use crate::word::Word;
use mpress_codec::DecodeError;
use mpress_codec_support::Wire;
use mpress_codec_support::pack::packed_len;

/// The head of a block or of a narrow stream.
#[inline(always)]
pub(super) fn read_head(wire: &mut Wire<'_>) -> Result<Head, DecodeError> {
    wire.take_array().map(|bytes| Head(u16::from_le_bytes(bytes)))
}

/// The slot of the block's predictor, which the block may define.
#[inline(always)]
pub(super) fn slot<W: Word>(wire: &mut Wire<'_>, head: Head, slots: &mut Slots) -> Result<u16, DecodeError> {
    match head.code() {
        Head::DEFINED => Predictor::from_wire::<W>(wire).map(|predictor| slots.define(predictor)),
        code => Ok(code),
    }
}

/// Skips a stream of `words` residuals in at least one group, and returns its packed groups. Stores their widths in `widths`.
#[inline(always)]
pub(super) fn stream<'a: 'w, 'w, W: Word, K: Kernel<W>>(
    kernel: K,
    wire: &mut Wire<'a>,
    head: Head,
    words: usize,
    widths: &'w mut Widths,
) -> Result<Packed<'w>, DecodeError> {
    let groups = words.div_ceil(W::LANES).min(GROUPS);
    let bits = head.offset_bits();
    let rest = wire.rest();
    wire.take((groups * bits as usize).div_ceil(8))?;
    offsets(kernel, rest, head, widths);
    let (sum, too_wide) = sum(widths, groups, W::BITS);
    if too_wide {
        return Err(wire.corrupt());
    }
    let rest = wire.rest();
    wire.take(packed_len::<W>(&widths[..groups], words, sum))?;
    Ok(Packed { wire: rest, widths })
}

/// Unpacks the widths of a stream's groups from the offsets at the front of `wire`: eight offsets take as many bytes as one has bits.
/// Widths past the last group are arbitrary.
#[inline(always)]
fn offsets<W: Word, K: Kernel<W>>(kernel: K, wire: &[u8], head: Head, widths: &mut Widths) {
    let bits = head.offset_bits();
    let mut eights = [u64::from(head.minimum()) * EACH; GROUPS / 8];
    if bits != 0 {
        for (eight, i) in eights.iter_mut().zip(0..) {
            let mut spare = [0; 8];
            let packed = u64::from_le_bytes(*window(wire, i * bits as usize, &mut spare));
            // No sum exceeds 127 + 127, so there are no carries.
            *eight += kernel.spread(packed, bits);
        }
    }
    *widths = kernel.joined(eights);
}

/// The sum of some widths, and whether one of them exceeds `most`. Reads eight at a time, as they were stored: with
/// [`Kernel::sum_and_ends`], portable decoding takes 4 % longer.
#[inline(always)]
fn sum(widths: &Widths, groups: usize, most: u32) -> (usize, bool) {
    const PAIRS: u64 = 0x00ff_00ff_00ff_00ff;
    let (mut sum, mut above) = (0, 0);
    for (eight, i) in widths.as_chunks().0.iter().zip(0..) {
        let left = groups.saturating_sub(i * 8).min(8) as u32;
        if left == 0 {
            break;
        }
        let eight = u64::from_le_bytes(*eight) << (64 - 8 * left);
        above |= eight | (eight & (EACH * 127)).wrapping_add(EACH * u64::from(127 - most));
        let pairs = (eight & PAIRS) + (eight >> 8 & PAIRS);
        sum += pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48;
    }
    (sum as usize, above & (EACH * 128) != 0)
}
