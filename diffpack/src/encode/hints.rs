//! What an encoder may remember from message to message: shortlists by message length.
#![forbid(unsafe_code)]

use super::choose::Choice;
use super::search::{Search, Shortlist};
use crate::format::{BLOCK, Domain, Predictor};
use crate::kernel::{Kernel, SAMPLE};
use crate::word::Word;

/// The number of message lengths that are remembered.
const HINTS: usize = 10;
/// The maximum number of predictors remembered for a length.
pub(super) const REMEMBERED: usize = 8;
/// Messages of up to this many blocks are too short for a verdict and a ranking: each block chooses for itself.
pub(super) const FEW: usize = 4;
/// The maximum number of messages between two searches; it is smaller where a search is a smaller part of the work.
const fn max_age(len: usize) -> u8 {
    if len < 1 << 13 { 32 } else { 16 }
}

/// The predictors that worked for messages of one length. There are several, because messages of one length may be faces in different
/// directions.
#[derive(Clone, Copy, Debug, Default)]
struct Hint {
    /// `age`: messages since the last search; `due`: its limit, which doubles with each search, because early searches teach the most.
    age: u8,
    due: u8,
    /// The choice of the first block of the last such message.
    first: Option<Choice>,
    count: usize,
    predictors: [Predictor; REMEMBERED],
}

impl Hint {
    /// The predictors; differences are those of integers.
    fn predictors(&self) -> &[Predictor] {
        &self.predictors[..self.count.min(REMEMBERED)]
    }

    /// Puts the best of `new` before the predictors of earlier searches, and the rest after them. Predictors beyond the first `most` are
    /// forgotten.
    fn learn(&mut self, new: &[Predictor], most: usize) {
        let old = *self;
        self.count = 0;
        self.age = 0;
        let (best, others) = new.split_at(new.len().min(most / 3));
        for predictor in best.iter().chain(&old.predictors[..old.count]).chain(others) {
            // A difference that works in fixed point may also work in messages without a unit.
            let predictor =
                if predictor.is_difference() { predictor.in_domain(Domain::Integer) } else { *predictor };
            if self.count < most && !self.predictors[..self.count].contains(&predictor) {
                self.predictors[self.count] = predictor;
                self.count += 1;
            }
        }
    }
}

/// The hints; unused in an encoder that does not remember.
#[derive(Clone, Debug)]
pub(super) struct Hints {
    /// Lengths of messages in bytes, 0 for unused hints. They are stored together because all are examined.
    lens: [usize; HINTS],
    hints: [Hint; HINTS],
    /// Whether anything is kept between messages.
    pub(super) remembers: bool,
    next: usize,
    /// The index of the hint for this message.
    used: Option<usize>,
}

impl Hints {
    pub(super) fn none() -> Self {
        Self { lens: [0; HINTS], hints: [Hint::default(); HINTS], remembers: false, next: 0, used: None }
    }

    pub(super) fn some() -> Self {
        Self { remembers: true, ..Self::none() }
    }

    pub(super) fn forget(&mut self) {
        *self = Self { remembers: self.remembers, ..Self::none() };
    }

    /// The best of the predictors remembered for this message length, or the result of a search.
    #[inline(always)]
    pub(super) fn shortlist<W: Word, K: Kernel<W>>(&mut self, search: &Search<'_, K>) -> Shortlist {
        let len = search.message.len();
        self.used = None;
        if !self.remembers || len < 2 * SAMPLE {
            return search.shortlist::<W>();
        }
        let at = self.lens.iter().position(|other| *other == len).unwrap_or_else(|| {
            self.next = (self.next + 1) % HINTS;
            (self.lens[self.next], self.hints[self.next]) = (len, Hint::default());
            self.next
        });
        self.used = Some(at);
        let hint = &mut self.hints[at];
        if hint.age < hint.due {
            hint.age += 1;
            let unit = search.unit::<W>();
            let predictors = hint.predictors();
            if unit.is_none() && len > FEW * BLOCK {
                return search.best_of::<W>(predictors);
            }
            // The blocks rank them.
            let few = Shortlist::of_first(&hint.predictors, hint.count);
            return match unit {
                Some(unit) => few.in_fixed_point(unit),
                None => few,
            };
        }
        let shortlist = search.shortlist::<W>();
        hint.learn(shortlist.predictors(), search.settings.remembered);
        hint.first = None;
        hint.due = (hint.due * 2).clamp(1, max_age(len));
        shortlist
    }

    /// The expected choice for the first block of the message; the block's own choice replaces it.
    pub(super) fn first_mut(&mut self) -> Option<&mut Option<Choice>> {
        self.used.and_then(|at| self.hints.get_mut(at)).map(|hint| &mut hint.first)
    }
}
