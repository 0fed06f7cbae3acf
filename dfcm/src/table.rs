//! A decoder's table of lines, which clears only the pages that messages have written to.
//!
//! A wire of a few elements may require the largest table. Decoding it must not take as long as clearing 512 KiB.
#![forbid(unsafe_code)]

use crate::lines::Lines;
use crate::predictor::Context;
use crate::word::Word;

/// The number of 64-bit words in a page of 4 KiB. The largest table has as many pages as `touched` has bits.
const PAGE: usize = Lines::MAX.words::<u64>() / u128::BITS as usize;

/// Memory for a table of up to [`Lines::MAX`] lines.
#[derive(Clone, Debug)]
pub(crate) struct Table<M> {
    memory: M,
    /// One bit per page: 0 if all of it is zero.
    touched: u128,
}

impl<M: AsMut<[u64]>> Table<M> {
    /// A table in memory with any contents.
    pub(crate) fn new(memory: M) -> Self {
        Self { memory, touched: u128::MAX }
    }

    /// Sets the first `words` words to zero.
    pub(crate) fn clear(&mut self, words: usize) {
        let table = &mut self.memory.as_mut()[..words];
        for (page, bit) in table.chunks_mut(PAGE).zip(0..) {
            if self.touched >> bit & 1 == 1 {
                page.fill(0);
                // The rest of a partial page may hold entries of a larger table.
                self.touched &= !(u128::from(page.len() == PAGE) << bit);
            }
        }
    }

    /// The first `words` words for writing. All of them count as written to unless [`wrote`](Self::wrote) is called.
    pub(crate) fn words(&mut self, words: usize) -> (&mut [u64], TouchedBefore) {
        let before = TouchedBefore(self.touched);
        self.touched |= all(words);
        (&mut self.memory.as_mut()[..words], before)
    }

    /// Records the pages that have been written to since `words` was called.
    pub(crate) fn wrote(&mut self, TouchedBefore(before): TouchedBefore, pages: u128) {
        self.touched = before | pages;
    }
}

/// The pages of the first `words` words that these elements write to, starting from this context.
pub(crate) fn pages<W: Word>(words: usize, context: Context<W>, elements: &[W::Bytes]) -> u128 {
    // Each element writes to one page. If there may be as many elements as pages, the check is not worth it.
    if elements.len() >= words.div_ceil(PAGE) {
        return all(words);
    }
    context.lines(words, elements).fold(0, |pages, index| pages | 1 << (index / PAGE))
}

/// All pages of the first `words` words.
fn all(words: usize) -> u128 {
    u128::MAX.unbounded_shr(u128::BITS - words.div_ceil(PAGE) as u32)
}

/// The pages written to before the table was lent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TouchedBefore(u128);

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use crate::predictor::Predictor;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn what_was_written_to_is_cleared_and_nothing_else() {
        let mut table = Table::new(vec![5; Lines::MAX.words::<u64>()]);
        table.clear(PAGE / 2);
        assert!(table.memory[..PAGE / 2].iter().all(|word| *word == 0));
        assert_eq!((table.memory[PAGE / 2], table.touched), (5, u128::MAX));
        table.clear(3 * PAGE);
        assert_eq!((table.memory[3 * PAGE], table.touched), (5, u128::MAX << 3));
        table.clear(Lines::MAX.words::<u64>());
        assert_eq!(table.touched, 0);

        for (words, count) in
            [(1 << 16, 100), (1 << 16, 200), (1 << 10, 1), (1 << 10, 9), (64, 1), (1 << 16, 0)]
        {
            let elements: Vec<_> =
                (0..count).map(|i| f64::to_le_bytes(f64::from(i * i) * 1e9_f64.powi(i % 7))).collect();
            table.clear(words);
            let (lines, before) = table.words(words);
            let mut predictor = Predictor::<u64>::resume(lines, Context::START);
            elements.iter().for_each(|element| {
                predictor.residual(u64::from_le_bytes(*element));
            });
            table.wrote(before, pages(words, Context::<u64>::START, &elements));
            let touched = (0..words.div_ceil(PAGE)).filter(|page| table.touched >> page & 1 == 1).count();
            assert!(touched <= elements.len().max(1), "{words} words, {count}: {touched} pages");
            for (page, bit) in table.memory.chunks(PAGE).zip(0..) {
                let has_zeros = page.iter().all(|word| *word == 0);
                assert!(has_zeros || table.touched >> bit & 1 == 1, "page {bit} of {words} words, {count}");
            }
        }
    }
}
