//! Splits the residuals of a block into two streams if that is smaller (format, section 7).
#![forbid(unsafe_code)]

use super::stream::Stream;
use crate::format::Head;
use crate::kernel::Kernel;
use crate::kernel::block::{Block, Mask, count};
use crate::word::Word;
use mpress_codec::{Full, Out};

/// The thresholds to try for the narrow stream, as distances below the greatest width.
const BELOW_GREATEST: [u8; 3] = [6, 12, 20];
/// The number of bytes that a split at a threshold above 0 must save, to justify its decoding time.
const MARGIN: usize = 14;

/// Scratch memory for dealing a block.
#[derive(Clone, Debug)]
pub(super) struct Dealt {
    wide: Block,
    narrow: Block,
}

/// A block dealt to the two streams of a [`Dealt`].
struct Split {
    mask: Mask,
    wide_words: usize,
    wide: Stream,
    narrow: Stream,
    /// Length in bytes of mask, narrow head and streams.
    len: usize,
}

impl Dealt {
    pub(super) const ZERO: Self = Self { wide: Block::ZERO, narrow: Block::ZERO };

    /// Finds the best split that beats the single `stream`: zeros from the rest, and at the given number of further thresholds.
    #[inline(always)]
    fn split<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        residuals: &Block,
        words: usize,
        stream: &Stream,
        thresholds: usize,
    ) -> Option<Split> {
        let (mut best, mut least, mut dealt) = (None, stream.len, 0);
        let below =
            BELOW_GREATEST.iter().take(thresholds).map_while(|below| stream.maximum.checked_sub(*below));
        for threshold in core::iter::once(0).chain(below.filter(|threshold| *threshold != 0)) {
            let mut mask = kernel.above(residuals, threshold.into());
            mask[words.div_ceil(8)..].fill(0);
            let wide_words = count(&mask);
            let narrow_words = words - wide_words.min(words);
            // A few zeros do not justify a mask. Wide words have at least one bit more than the threshold.
            let few = if threshold == 0 { words / 10 } else { words / 32 };
            let at_least = words.div_ceil(8) + wide_words * (usize::from(threshold) + 1) / 8;
            if narrow_words <= few || wide_words == 0 || at_least >= least {
                continue;
            }
            dealt = threshold;
            kernel.deal(residuals, &mask, words, &mut self.wide, &mut self.narrow);
            let wide = Stream::new::<W, K>(kernel, &self.wide, wide_words);
            let narrow = Stream::new::<W, K>(kernel, &self.narrow, words - wide_words);
            let len = words.div_ceil(8) + Head::BYTES + wide.len + narrow.len;
            let margin = if threshold == 0 { 0 } else { MARGIN };
            if len + margin < least {
                least = len;
                best = Some((threshold, Split { mask, wide_words, wide, narrow, len }));
            }
        }
        let (threshold, split) = best?;
        if threshold != dealt {
            kernel.deal(residuals, &split.mask, words, &mut self.wide, &mut self.narrow);
        }
        Some(split)
    }

    /// How to write `words` residuals: two streams are considered only if there are `thresholds` to try.
    #[inline(always)]
    pub(super) fn coding<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        residuals: &Block,
        words: usize,
        stream: Stream,
        thresholds: Option<usize>,
    ) -> Coding {
        let split =
            thresholds.and_then(|some| kernel.apart(|| self.split(kernel, residuals, words, &stream, some)));
        Coding { stream, split }
    }

    /// Deals the residuals of a coding that was found earlier than the last one.
    #[inline(always)]
    pub(super) fn again<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        coding: &Coding,
        residuals: &Block,
        words: usize,
    ) {
        if let Some(split) = &coding.split {
            kernel.deal(residuals, &split.mask, words, &mut self.wide, &mut self.narrow);
        }
    }

    /// Writes the stream, or the mask, the narrow head and two streams.
    #[inline(always)]
    pub(super) fn write<W: Word, K: Kernel<W>>(
        &self,
        kernel: K,
        coding: &Coding,
        residuals: &Block,
        words: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let Some(split) = &coding.split else { return coding.stream.write(kernel, residuals, words, out) };
        kernel.apart(|| {
            out.extend_from_slice(&split.mask[..words.div_ceil(8)])?;
            out.extend_from_slice(&split.narrow.head().0.to_le_bytes())?;
            split.wide.write(kernel, &self.wide, split.wide_words, out)?;
            split.narrow.write(kernel, &self.narrow, words - split.wide_words, out)
        })
    }
}

/// Residuals in one stream, or in two if that is smaller.
pub(super) struct Coding {
    stream: Stream,
    split: Option<Split>,
}

impl Coding {
    /// The head of the block without its predictor code.
    #[inline(always)]
    pub(super) fn head(&self) -> u16 {
        match &self.split {
            Some(split) => split.wide.head().0 | Head::SPLIT,
            None => self.stream.head().0,
        }
    }

    /// The number of bytes after head and definition.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.split.as_ref().map_or(self.stream.len, |split| split.len)
    }
}
