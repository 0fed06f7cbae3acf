//! What an encoder may remember from message to message: shortlists, by the length of the message.
#![forbid(unsafe_code)]

use crate::blocks::Choice;
use crate::encode::EdgeWindow;
use crate::format::BLOCK;
use crate::kernel::{Kernel, SAMPLE};
use crate::predictor::{Domain, Predictor};
use crate::search::{SHORTLIST, Search, Shortlist};
use crate::word::Word;

/// Message lengths that are remembered.
const HINTS: usize = 10;
/// The most predictors that are remembered for a length.
pub(crate) const REMEMBERED: usize = 8;
/// Blocks of a message that is too short for a verdict and a ranking before its blocks choose themselves.
pub(crate) const FEW: usize = 4;
/// The most messages that a hint serves before the next search: fewer where a search is a smaller part of the work.
const fn max_age(len: usize) -> u8 {
    if len < 1 << 13 { 32 } else { 16 }
}

/// The predictors that were good for messages of one length, several, for messages of one length may be faces of
/// different directions.
#[derive(Clone, Copy, Debug, Default)]
struct Hint {
    /// Bytes of the message; 0 in an unused one.
    len: usize,
    /// Messages since the last search, and how many there may be: twice as many from search to search, since there is much
    /// to learn in the beginning.
    age: u8,
    due: u8,
    /// What the first block of the last such message chose.
    first: Option<Choice>,
    count: usize,
    predictors: [Predictor; REMEMBERED],
}

impl Hint {
    /// The predictors, with all differences in fixed point if the message has a unit.
    fn predictors(&self, unit: Option<u16>) -> ([Predictor; REMEMBERED], usize) {
        let domain = unit.map_or(Domain::Integer, Domain::Fixed);
        let predictors = self.predictors.map(|p| if p.is_difference() { p.in_domain(domain) } else { p });
        (predictors, self.count.min(REMEMBERED))
    }

    /// Puts the best of these in front of those of earlier searches, and the others behind: the last ones may be forgotten.
    fn learn(&mut self, new: &[Predictor], most: usize) {
        let old = *self;
        self.count = 0;
        self.age = 0;
        let (best, others) = new.split_at(new.len().min(most / 3));
        for predictor in best.iter().chain(&old.predictors[..old.count]).chain(others) {
            // What is good in fixed point is so, or may be, in messages without a unit.
            let predictor =
                if predictor.is_difference() { predictor.in_domain(Domain::Integer) } else { *predictor };
            if self.count < most && !self.predictors[..self.count].contains(&predictor) {
                self.predictors[self.count] = predictor;
                self.count += 1;
            }
        }
    }
}

/// The hints; none in an encoder that is to forget.
#[derive(Clone, Debug)]
pub(crate) struct Hints {
    hints: [Hint; HINTS],
    remembers: bool,
    next: usize,
    /// The one for this message.
    used: Option<usize>,
}

impl Hints {
    pub(crate) fn none() -> Self {
        Self { hints: [Hint::default(); HINTS], remembers: false, next: 0, used: None }
    }

    pub(crate) fn some() -> Self {
        Self { remembers: true, ..Self::none() }
    }

    /// Whether anything is kept from message to message.
    pub(crate) fn remember(&self) -> bool {
        self.remembers
    }

    pub(crate) fn forget(&mut self) {
        *self = Self { remembers: self.remembers, ..Self::none() };
    }

    /// The best of the predictors that are remembered for this length of message, or those that a search finds.
    pub(crate) fn shortlist<W: Word, K: Kernel<W>>(
        &mut self,
        search: &Search<'_, K>,
        window: &mut EdgeWindow,
    ) -> Shortlist {
        let len = search.message.len();
        self.used = None;
        if !self.remembers || len < 2 * SAMPLE {
            return search.shortlist::<W>(window);
        }
        let at = self.hints.iter().position(|hint| hint.len == len).unwrap_or_else(|| {
            self.next = (self.next + 1) % HINTS;
            self.hints[self.next] = Hint { len, ..Hint::default() };
            self.next
        });
        self.used = Some(at);
        let hint = &mut self.hints[at];
        if hint.age < hint.due {
            hint.age += 1;
            let unit = search.unit::<W>();
            let (predictors, count) = hint.predictors(unit);
            if len <= FEW * BLOCK || unit.is_some() {
                // The blocks themselves will rank them.
                return Shortlist::of(&predictors[..count.min(SHORTLIST)]);
            }
            return search.best_of::<W>(&predictors[..count]);
        }
        let shortlist = search.shortlist::<W>(window);
        hint.learn(shortlist.predictors(), search.settings.remembered);
        hint.first = None;
        hint.due = (hint.due * 2).clamp(1, max_age(len));
        shortlist
    }

    /// What the first block of the message may be expected to choose.
    pub(crate) fn first(&self) -> Option<Choice> {
        self.used.and_then(|at| self.hints[at].first)
    }

    /// What it has chosen.
    pub(crate) fn keep_first(&mut self, choice: Option<Choice>) {
        if let Some(at) = self.used {
            self.hints[at].first = choice;
        }
    }
}
