//! The number of lines of a predictor's table.
#![forbid(unsafe_code)]

use crate::entries::Word;
use mpress_codec::MemoryError;

/// The size of a predictor's table: a power of two lines, up to the 2^15 of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lines(u8);

impl Lines {
    /// 2^15 lines: the size of the paper's table, and the maximum.
    pub const MAX: Self = Self(15);
    /// 2^10 lines: the maximum that [`Lines::for_elements`] returns. A table for doubles then takes 16 KiB and stays in the first-level cache
    /// (format, section 9).
    pub const MAX_SIZED: Self = Self(10);
    /// 2^6 lines: the minimum that [`Lines::for_elements`] returns.
    pub const MIN_SIZED: Self = Self(6);

    /// A table of `2^log2` lines; `None` if that is too large.
    #[must_use]
    pub const fn new(log2: u8) -> Option<Self> {
        if log2 <= Self::MAX.0 { Some(Self(log2)) } else { None }
    }

    /// The table for a message of `elements` elements: half as many lines, rounded up to a power of two, within
    /// [`MIN_SIZED`](Self::MIN_SIZED) and [`MAX_SIZED`](Self::MAX_SIZED) (format, section 9).
    #[must_use]
    pub fn for_elements(elements: usize) -> Self {
        let half = elements.div_ceil(2).clamp(1 << Self::MIN_SIZED.0, 1 << Self::MAX_SIZED.0);
        Self(half.next_power_of_two().ilog2() as u8)
    }

    /// The binary logarithm of the number of lines.
    #[must_use]
    pub const fn log2(self) -> u8 {
        self.0
    }

    /// The number of 64-bit words of memory for a table of this size.
    #[must_use]
    pub const fn words<W: Word>(self) -> usize {
        (size_of::<W>() / 4) << self.0
    }

    /// Whether `memory` has room for such a table.
    pub(crate) fn check<W: Word>(self, memory: &[u64]) -> Result<(), MemoryError> {
        if memory.len() < self.words::<W>() {
            return Err(MemoryError::new(self.words::<W>(), memory.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_sized_to_its_message() {
        let log2 = |elements| Lines::for_elements(elements).log2();
        assert_eq!([0, 1, 128, 129, 256, 257].map(log2), [6, 6, 6, 7, 7, 8]);
        assert_eq!([1024, 1025, 1 << 20, usize::MAX].map(log2), [9, 10, 10, 10]);
    }

    #[test]
    fn words_of_memory_follow_the_word() {
        assert_eq!(Lines::MAX.words::<u64>(), 65_536, "512 KiB, as in the paper");
        assert_eq!(Lines::MAX.words::<u32>(), 32_768);
        assert_eq!((Lines::new(0).map(Lines::log2), Lines::new(16)), (Some(0), None));
    }
}
