//! The DFCM predictor of cMPI, section 2.3 (format, section 3).
//!
//! A line of the table does not hold the two differences of the paper but the difference that it will predict
//! and the most recent one. That is as much: the drift rule is applied when a line is written instead of when
//! it is read. In a decoder every look-up waits for the element before it, so what is done between a look-up and
//! the next one decides the speed; the drift rule is off that path now.
#![forbid(unsafe_code)]

use crate::format::{HASH_SHIFT, SUM_ROTATION, TOP_BITS};
use crate::word::Word;

/// What runs on from element to element, beside the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Context<W> {
    /// The element before.
    pub(crate) last: W,
    /// The hash of the differences before, times the words of a line: where in the table its line starts,
    /// and bits above that, which do not count.
    index: usize,
    /// A sum of all elements since the start (format, section 6).
    pub(crate) sum: u64,
}

impl<W: Word> Context<W> {
    pub(crate) const START: Self = Self { last: W::ZERO, index: 0, sum: 0 };

    /// Where the line for the next element starts in a table of this number of words.
    #[inline(always)]
    fn line(self, words: usize) -> usize {
        self.index & words.wrapping_sub(W::LINE_WORDS)
    }

    /// The context after the next element, whose line starts at `line` and which differs in this way from the element before.
    #[inline(always)]
    fn next(self, line: usize, element: W, difference: W) -> Self {
        // The hash is kept times the words of a line. The mask drops what that puts below, and what is above.
        let scale = W::LINE_WORDS.ilog2();
        let index = line << HASH_SHIFT ^ difference.top(TOP_BITS + scale);
        let sum = self.sum.rotate_left(SUM_ROTATION).wrapping_add(element.into());
        Self { last: element, index, sum }
    }

    /// Where the lines of these elements start in a table of this number of words.
    pub(crate) fn lines(mut self, words: usize, elements: &[W::Bytes]) -> impl Iterator<Item = usize> {
        elements.iter().map(move |element| {
            let (element, line) = (W::from_bytes(*element), self.line(words));
            self = self.next(line, element, element.minus(self.last));
            line
        })
    }
}

/// A predictor at work on a message. The table's length is that of a power of two lines.
pub(crate) struct Predictor<'a, W> {
    table: &'a mut [u64],
    context: Context<W>,
}

impl<'a, W: Word> Predictor<'a, W> {
    /// A predictor in the start state.
    pub(crate) fn fresh(table: &'a mut [u64]) -> Self {
        table.fill(0);
        Self::resume(table, Context::START)
    }

    /// A predictor that goes on where one with this table and context stopped.
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

    /// Predicts an element, learns it from `reveal`, and says what the prediction was.
    #[inline(always)]
    fn step(&mut self, reveal: impl FnOnce(W) -> W) -> W {
        let last = self.context.last;
        let index = self.context.line(self.table.len());
        let (predicted, previous) = W::load_line(self.table, index);
        let prediction = last.plus(predicted);
        let element = reveal(prediction);
        let difference = element.minus(last);

        let agree = (difference ^ previous).top(TOP_BITS) == 0;
        // Which it is cannot be foreseen on noisy data: no branch.
        let drift = core::hint::select_unpredictable(agree, difference.minus(previous), W::ZERO);
        W::store_line(self.table, index, (difference.plus(drift), difference));

        self.context = self.context.next(index, element, difference);
        prediction
    }
}
