//! The DFCM predictor of cMPI, section 2.3 (format, section 3).
//!
//! Instead of the two differences of the paper, a line of the table holds the difference that it will predict and the most recent difference. This is
//! equivalent: the drift rule is applied when a line is written instead of when it is read. In a decoder every look-up waits for the previous
//! element, so the work between consecutive look-ups determines the speed; this takes the drift rule off that critical path.
#![forbid(unsafe_code)]

use crate::format::{HASH_SHIFT, SUM_ROTATION, TOP_BITS};
use crate::word::Word;

/// The state that carries over from element to element, besides the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context<W> {
    /// The previous element.
    pub(crate) last: W,
    /// The hash of the previous differences, times the number of words in a line: the offset of the next line in the table, plus higher bits that are
    /// ignored.
    index: usize,
    /// A sum of all elements since the start (format, section 6).
    pub(crate) sum: u64,
}

impl<W: Word> Context<W> {
    pub(crate) const START: Self = Self { last: W::ZERO, index: 0, sum: 0 };

    /// The offset of the next element's line in a table of `words` words.
    #[inline(always)]
    fn line(self, words: usize) -> usize {
        self.index & words.wrapping_sub(W::LINE_WORDS)
    }

    /// The context after the next element, whose line starts at `line` and whose difference from the previous element is `difference`.
    #[inline(always)]
    fn next(self, line: usize, element: W, difference: W) -> Self {
        // The hash is scaled by the number of words in a line. The mask in `line` drops the low bits that this adds, and the high bits.
        let scale = W::LINE_WORDS.ilog2();
        let index = line << HASH_SHIFT ^ difference.top(TOP_BITS + scale);
        let sum = self.sum.rotate_left(SUM_ROTATION).wrapping_add(element.into());
        Self { last: element, index, sum }
    }

    /// The offsets of the lines of these elements in a table of `words` words.
    pub(crate) fn lines(mut self, words: usize, elements: &[W::Bytes]) -> impl Iterator<Item = usize> {
        elements.iter().map(move |element| {
            let (element, line) = (W::from_bytes(*element), self.line(words));
            self = self.next(line, element, element.minus(self.last));
            line
        })
    }
}

/// The predictor during a message. The length of the table is that of a power of two lines.
pub(crate) struct Predictor<'a, W> {
    table: &'a mut [u64],
    context: Context<W>,
}

impl<'a, W: Word> Predictor<'a, W> {
    /// A predictor that continues where one with this table and context stopped.
    pub(crate) fn resume(table: &'a mut [u64], context: Context<W>) -> Self {
        debug_assert!(table.len() >= W::LINE_WORDS && table.len().is_power_of_two());
        Self { table, context }
    }

    pub(crate) fn context(&self) -> Context<W> {
        self.context
    }

    /// The residual of the next element.
    #[inline(always)]
    pub(crate) fn residual(&mut self, element: W) -> W {
        self.step(|_| element) ^ element
    }

    /// The next element, from its residual.
    #[inline(always)]
    pub(crate) fn element(&mut self, residual: W) -> W {
        self.step(|prediction| prediction ^ residual);
        self.context.last
    }

    /// Predicts an element, learns the element that `reveal` returns, and returns the prediction.
    #[inline(always)]
    fn step(&mut self, reveal: impl FnOnce(W) -> W) -> W {
        let last = self.context.last;
        let index = self.context.line(self.table.len());
        let (predicted, previous) = W::load_line(self.table, index);
        let prediction = last.plus(predicted);
        let element = reveal(prediction);
        let difference = element.minus(last);

        let agree = (difference ^ previous).top(TOP_BITS) == 0;
        // Unpredictable on noisy data, so no branch.
        let drift = core::hint::select_unpredictable(agree, difference.minus(previous), W::ZERO);
        W::store_line(self.table, index, (difference.plus(drift), difference));

        self.context = self.context.next(index, element, difference);
        prediction
    }
}
