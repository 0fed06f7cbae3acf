//! The reference kernel: portable code that defines the result of all kernels.
#![forbid(unsafe_code)]

use super::Kernel;
use crate::block::{Row, RowBytes};
use crate::classes::LENGTHS;
use crate::format::{MAX_CLASSES, PACKED, PICKED, ROW, ROW_BYTES};
use crate::word::Word;

/// It needs no proof, because every CPU runs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl Kernel for Scalar {
    #[inline(always)]
    fn count(self, lengths: &mut RowBytes, counts: &mut [u32; LENGTHS]) -> u64 {
        let mut picks = 0;
        for (group, lengths) in (0..).zip(lengths.as_chunks_mut().0) {
            picks |= gather(u64::from_le_bytes(*lengths) >> 7) << (8 * group);
            *lengths = lengths.map(|length| length & !PICKED);
        }
        for (length, count) in (0..).zip(counts) {
            // At most 64, which fits in a byte.
            *count += u32::from(lengths.iter().map(|other| u8::from(*other == length)).sum::<u8>());
        }
        picks
    }

    #[inline(always)]
    fn classify(self, lengths: &mut RowBytes, codes: &[u8; 16], of_class: &[u8; MAX_CLASSES]) -> [u64; 3] {
        let mut planes = [0; 3];
        for (group, lengths) in (0..).zip(lengths.as_chunks_mut().0) {
            let codes = lengths.map(|length| codes[usize::from(length % 16)]);
            *lengths = codes.map(|code| of_class[usize::from(code) % MAX_CLASSES]);
            let codes = u64::from_le_bytes(codes);
            for (bit, plane) in planes.iter_mut().enumerate() {
                *plane |= gather(codes >> bit) << (8 * group);
            }
        }
        planes
    }

    #[inline(always)]
    fn pack<W: Word>(self, residuals: &Row<W>, lengths: &RowBytes, packed: &mut [u8; PACKED]) -> usize {
        let mut at = 0;
        for (residual, length) in residuals.iter().zip(lengths) {
            // Always stores the whole word; later residuals overwrite the excess. The remainder has no effect; it shows the compiler that the word is
            // within the buffer.
            W::from_bytes(*residual).store(&mut packed[at % ROW_BYTES..], 0);
            at += usize::from(*length);
        }
        at
    }

    #[inline(always)]
    fn lengths(self, planes: [u64; 3], of_class: &[u8; MAX_CLASSES]) -> RowBytes {
        let [low, middle, high] = planes.map(u64::to_le_bytes);
        let mut lengths = [0; ROW];
        for (group, lengths) in lengths.as_chunks_mut().0.iter_mut().enumerate() {
            let codes = scatter(low[group]) | scatter(middle[group]) << 1 | scatter(high[group]) << 2;
            *lengths = codes.to_le_bytes().map(|code| of_class[usize::from(code) % MAX_CLASSES]);
        }
        lengths
    }

    #[inline(always)]
    fn spread(self, bits: u64) -> RowBytes {
        let mut bytes = [0; ROW];
        for (bytes, bits) in bytes.as_chunks_mut().0.iter_mut().zip(bits.to_le_bytes()) {
            *bytes = scatter(bits).to_le_bytes();
        }
        bytes
    }

    #[inline(always)]
    fn unpack<W: Word>(self, wire: &[u8; PACKED], lengths: &RowBytes, residuals: &mut Row<W>) -> usize {
        let mut at = 0;
        for (residual, length) in residuals.iter_mut().zip(lengths) {
            // As in `pack`.
            let word = wire[at % ROW_BYTES..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            *residual = W::low(word & LOW_BYTES[usize::from(length % 16)]).to_bytes();
            at += usize::from(*length);
        }
        at
    }
}

/// Masks of the lowest bytes of a word, indexed by their number.
const LOW_BYTES: [u64; 16] = {
    let mut masks = [u64::MAX; 16];
    let mut bytes = 0;
    while bytes < 8 {
        masks[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    masks
};

/// A one in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Packs the lowest bits of eight bytes.
fn gather(bytes: u64) -> u64 {
    // Bit 0 of byte i moves to bit 56 + i; no two products overlap.
    (bytes & ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The inverse: eight bits, each in its own byte.
fn scatter(bits: u8) -> u64 {
    let own_bit = u64::from(bits).wrapping_mul(ONES) & 0x8040_2010_0804_0201;
    // Any set bit carries into the byte's highest bit.
    (own_bit + 0x7f * ONES) >> 7 & ONES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gather_undoes_scatter() {
        for bits in 0..=u8::MAX {
            let bytes = scatter(bits).to_le_bytes();
            assert!((0..8).all(|at| bytes[at] == bits >> at & 1));
            assert_eq!(gather(scatter(bits) | !ONES), bits.into());
        }
    }
}
