//! The unit of work: the words or residuals of a block.
#![forbid(unsafe_code)]

use crate::format::{BLOCK, ROW};
use crate::word::Word;

/// A block of words, aligned to rows. In a short block, zeros follow the words.
pub(crate) type Block<W> = Aligned<[W; BLOCK]>;

/// Bytes or words aligned to vectors.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub(crate) T);

impl<W: Word> Block<W> {
    #[inline(always)]
    pub(crate) fn zeroed() -> Self {
        Self([W::ZERO; BLOCK])
    }

    /// Sets the words from index `count` on to 0.
    #[inline(always)]
    pub(crate) fn clear_behind(&mut self, count: usize) {
        if let Some(after) = self.0.get_mut(count..) {
            after.fill(W::ZERO);
        }
    }

    /// The union (bitwise OR) of all words.
    #[inline(always)]
    pub(crate) fn union(&self) -> W {
        self.0.iter().fold(W::ZERO, |union, word| union | *word)
    }
}

/// The number of rows in a block of `words` words.
pub(crate) const fn rows<W: Word>(words: usize) -> usize {
    words.div_ceil(W::LANES)
}

/// The number of bytes that remainders of `bits` bits take for `words` words (format, section 6).
pub(crate) const fn remainders_len<W: Word>(words: usize, bits: u32) -> usize {
    if bits == W::BITS {
        return words * W::WIDTH;
    }
    (rows::<W>(words) * bits as usize).div_ceil(W::BITS as usize) * ROW
}
