//! A stream of packed residuals: the widths of its groups and their form on the wire (format, section 8).
#![forbid(unsafe_code)]

use crate::format::{GROUPS, Head};
use crate::kernel::Kernel;
use crate::kernel::block::{Block, EACH, Widths, samples};
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::pack::packed_len;

/// What precedes a stream.
pub(super) struct Stream {
    pub(super) widths: Widths,
    minimum: u8,
    /// The greatest width.
    pub(super) maximum: u8,
    bits: u32,
    groups: usize,
    /// Length in bytes of offsets and groups.
    pub(super) len: usize,
}

impl Stream {
    #[inline(always)]
    pub(super) fn new<W: Word, K: Kernel<W>>(kernel: K, residuals: &Block, words: usize) -> Self {
        let groups = words.div_ceil(W::LANES);
        let widths = kernel.widths(samples(residuals.groups(), groups));
        let (sum, minimum, maximum) = kernel.sum_and_ends(&widths, groups.min(GROUPS));
        let minimum = minimum.min(maximum);
        let bits = 8 - (maximum - minimum).leading_zeros();
        let packed = packed_len::<W>(&widths[..groups.min(GROUPS)], words, sum);
        let len = packed + (groups * bits as usize).div_ceil(8);
        Self { widths, minimum, maximum, bits, groups, len }
    }

    pub(super) fn head(&self) -> Head {
        Head::widths(self.minimum, self.bits)
    }

    /// Writes the offsets and the groups: eight offsets take as many bytes as one offset has bits.
    #[inline(always)]
    pub(super) fn write<W: Word, K: Kernel<W>>(
        &self,
        kernel: K,
        residuals: &Block,
        words: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let groups = if self.bits == 0 { 0 } else { self.groups };
        for (eight, start) in self.widths.as_chunks().0.iter().zip((0..groups).step_by(8)) {
            let some = (groups - start).min(8);
            let used = u64::MAX >> (64 - 8 * some);
            // No width is less than the minimum, so there are no borrows.
            let offsets = (u64::from_le_bytes(*eight) & used) - ((EACH * u64::from(self.minimum)) & used);
            let len = (some * self.bits as usize).div_ceil(8);
            out.store(&kernel.gather(offsets, self.bits).to_le_bytes(), len)?;
        }
        kernel.pack(residuals, &self.widths, words, out)
    }
}
