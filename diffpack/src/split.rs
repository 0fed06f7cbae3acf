//! Deals the residuals of a block to two streams if that is smaller (format, section 7).
#![forbid(unsafe_code)]

use crate::block::{Block, Mask};
use crate::format::Head;
use crate::kernel::Kernel;
use crate::stream::Stream;
use crate::word::Word;
use mpress_codec::{Full, Out};

/// The thresholds to try for the narrow stream, as distances below the greatest width.
const BELOW_GREATEST: [u8; 2] = [6, 18];
/// The number of bytes that a split at a threshold above 0 must save, to pay for its decoding time.
const MARGIN: usize = 14;

/// Scratch memory for dealing a block.
#[derive(Clone, Debug)]
pub(crate) struct Dealt {
    wide: Block,
    narrow: Block,
}

/// A block dealt to the two streams of a [`Dealt`].
pub(crate) struct Split {
    mask: Mask,
    wide_words: usize,
    wide: Stream,
    narrow: Stream,
    /// Length in bytes of mask, narrow head and streams.
    pub(crate) len: usize,
}

impl Dealt {
    pub(crate) const ZERO: Self = Self { wide: Block::ZERO, narrow: Block::ZERO };

    /// Finds the best split that beats the single `stream`: zeros from the rest, and at the given number of further thresholds.
    #[inline(always)]
    pub(crate) fn split<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        residuals: &Block,
        words: usize,
        stream: &Stream,
        thresholds: Option<usize>,
    ) -> Option<Split> {
        let thresholds = thresholds?;
        let greatest = stream.greatest();
        let (mut best, mut least, mut dealt) = (None, stream.len, 0);
        let below = BELOW_GREATEST.iter().take(thresholds).map_while(|below| greatest.checked_sub(*below));
        for threshold in core::iter::once(0).chain(below.filter(|threshold| *threshold != 0)) {
            let mut mask = kernel.above(residuals, threshold.into());
            mask[words.div_ceil(8)..].fill(0);
            let wide_words = count(&mask);
            let narrow_words = words - wide_words.min(words);
            // A few zeros are not worth their mask. Wide words have at least a bit more than the threshold.
            let few = if threshold == 0 { words / 10 } else { words / 32 };
            let at_least = words.div_ceil(8) + wide_words * (usize::from(threshold) + 1) / 8;
            if narrow_words <= few || wide_words == 0 || at_least >= least {
                continue;
            }
            dealt = threshold;
            let split = self.deal(kernel, residuals, words, mask, wide_words);
            let margin = if threshold == 0 { 0 } else { MARGIN };
            if split.len + margin < least {
                least = split.len;
                best = Some((threshold, split));
            }
        }
        let (threshold, split) = best?;
        if threshold != dealt {
            kernel.deal(residuals, &split.mask, words, &mut self.wide, &mut self.narrow);
        }
        Some(split)
    }

    #[inline(always)]
    fn deal<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        residuals: &Block,
        words: usize,
        mask: Mask,
        wide_words: usize,
    ) -> Split {
        kernel.deal(residuals, &mask, words, &mut self.wide, &mut self.narrow);
        let wide = Stream::new::<W, K>(kernel, &self.wide, wide_words);
        let narrow = Stream::new::<W, K>(kernel, &self.narrow, words - wide_words);
        let len = words.div_ceil(8) + Head::BYTES + wide.len + narrow.len;
        Split { mask, wide_words, wide, narrow, len }
    }

    /// Writes the mask, the narrow head and the streams.
    #[inline(always)]
    pub(crate) fn write<W: Word, K: Kernel<W>>(
        &self,
        kernel: K,
        split: &Split,
        words: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        out.extend_from_slice(&split.mask[..words.div_ceil(8)])?;
        out.extend_from_slice(&split.narrow.head().0.to_le_bytes())?;
        split.wide.write(kernel, &self.wide, split.wide_words, out)?;
        split.narrow.write(kernel, &self.narrow, words - split.wide_words, out)
    }
}

impl Split {
    /// The head of the block without its predictor code.
    pub(crate) fn head(&self) -> Head {
        Head(self.wide.head().0 | Head::SPLIT)
    }
}

/// The number of set bits.
#[inline(always)]
pub(crate) fn count(mask: &Mask) -> usize {
    mask.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes).count_ones() as usize).sum()
}
