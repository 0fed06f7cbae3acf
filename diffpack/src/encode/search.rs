//! Makes the shortlist: samples a stretch of a message to find its record stride and row length, and ranks the predictors that these
//! suggest.
//!
//! Uses only integer arithmetic, so every tier finds the same shortlist.
#![forbid(unsafe_code)]

use super::hints::REMEMBERED;
use crate::effort::Settings;
use crate::format::{Domain, MAX_ORDER, Predictor};
use crate::kernel::portable::{self, Span};
use crate::kernel::{Kernel, LAGS, SAMPLE};
use crate::word::Word;

/// The maximum number of predictors in a shortlist.
pub(super) const SHORTLIST: usize = 6;
/// The maximum number of candidates for the shortlist.
const CANDIDATES: usize = 48;
/// The number of words at which lags are compared.
const PLACES: usize = 16;
/// The maximum row length.
const MAX_ROW: usize = 1000;
/// The number of row lengths that are examined further.
const ROWS: usize = 4;
/// From this message length in bytes, a verdict of noise takes more samples.
const LONG: usize = 1 << 18;
/// The candidates for messages too short to sample, and for columns.
const SHORT: [Predictor; 4] = [Predictor::BELOW_ROTATED, Predictor::BELOW, Predictor::STEP, Predictor::NONE];
/// The maximum number of samples.
const MAX_SAMPLES: usize = 8;

/// The predictors that every block of a stretch chooses from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Shortlist {
    predictors: [Predictor; SHORTLIST],
    len: usize,
}

impl Shortlist {
    pub(super) fn of<'a>(predictors: impl Iterator<Item = &'a Predictor>) -> Self {
        // Copied in whole vectors, which is faster than making each predictor.
        static EMPTY: Shortlist = Shortlist { predictors: [Predictor::NONE; SHORTLIST], len: 0 };
        let mut list = EMPTY;
        for (to, from) in list.predictors.iter_mut().zip(predictors) {
            *to = *from;
            list.len += 1;
        }
        list
    }

    /// The first of `predictors`, of which `len` are used.
    pub(super) fn of_first(predictors: &[Predictor; REMEMBERED], len: usize) -> Self {
        let (some, _) = predictors.split_first_chunk().unwrap_or((&[Predictor::NONE; SHORTLIST], &[]));
        // Copied as a whole, and not read again soon.
        Self { predictors: *some, len: len.min(SHORTLIST) }
    }

    /// The same list with all differences in fixed point.
    pub(super) fn in_fixed_point(mut self, unit: u16) -> Self {
        for predictor in self.predictors.iter_mut().filter(|predictor| predictor.is_difference()) {
            *predictor = predictor.in_domain(Domain::Fixed(unit));
        }
        self
    }

    /// The shortlist for columns of records, which are too short to search: the simplest predictors, and the second difference.
    #[inline(never)]
    pub(super) fn of_columns() -> Self {
        Self::of(SHORT.iter().chain(&Predictor::difference(Domain::Integer, &[1, 1])))
    }

    pub(super) fn predictors(&self) -> &[Predictor] {
        &self.predictors[..self.len.min(SHORTLIST)]
    }

    /// The longest reach, in words, of the predictors in this domain.
    pub(super) fn reach_in(&self, domain: Domain) -> usize {
        let some = self.predictors().iter().filter(|predictor| predictor.domain == domain);
        some.map(Predictor::reach).max().unwrap_or(0)
    }
}

/// Candidates and their costs, cheapest first.
struct Ranking {
    entries: [(u32, Predictor); CANDIDATES],
    len: usize,
}

impl Ranking {
    fn add(&mut self, cost: u32, predictor: Predictor) {
        if self.len == CANDIDATES {
            return;
        }
        let at = self.entries[..self.len].partition_point(|(other, _)| *other <= cost);
        self.entries.copy_within(at..self.len, at + 1);
        self.entries[at] = (cost, predictor);
        self.len += 1;
    }

    /// The best of the predictors that are `good`.
    fn shortlist(&self, settings: &Settings, good: fn(&Predictor) -> bool) -> Shortlist {
        let all = self.entries[..self.len].iter().map(|(_, predictor)| predictor);
        Shortlist::of(all.filter(|predictor| good(predictor)).take(settings.shortlist))
    }
}

/// A message and how to sample it.
pub(super) struct Search<'a, K> {
    pub(crate) kernel: K,
    /// A whole number of words.
    pub(crate) message: &'a [u8],
    pub(crate) settings: &'a Settings,
}

impl<K> Search<'_, K> {
    /// Whether compression can gain anything. A few samples show whether all bits are noise: the range of the words in each, and the
    /// differences of some words at each stride.
    pub(super) fn is_worthwhile<W: Word>(&self) -> bool
    where
        K: Kernel<W>,
    {
        let words = self.message.len() / W::WIDTH;
        if words < 2 * SAMPLE / W::WIDTH {
            return true;
        }
        let full = 8 * W::BITS;
        let looks = if self.message.len() < LONG { 1 } else { 4 };
        let look = |i: usize| words * (2 * i + 1) / (2 * looks) * W::WIDTH - SAMPLE / 2;
        let is_smaller = |i: usize| self.kernel.below_cost(self.message, look(i), 1) < full - full / 64;
        if (0..looks).any(is_smaller) {
            return true;
        }
        // The same places again, because they are now in the cache.
        let mut places = [0; PLACES];
        let places = &mut places[..PLACES / 4 * W::PER_LANE as usize];
        for (i, place) in places.iter_mut().enumerate() {
            *place = look(i % looks) + SAMPLE / 2 + i / looks * W::WIDTH;
        }
        let mut scores = [0; LAGS];
        self.kernel.lag_scores(self.message, places, 0, 1, &mut scores);
        // Random differences are on average one bit narrower than a word.
        let full = places.len() as u32 * (W::BITS - 1);
        scores.iter().any(|score| *score < full - full / 8)
    }

    /// Finds the shortlist for the message.
    #[inline(never)]
    pub(super) fn shortlist<W: Word>(&self) -> Shortlist
    where
        K: Kernel<W>,
    {
        let words = self.message.len() / W::WIDTH;
        let sample_words = SAMPLE / W::WIDTH;
        // Too short to sample: the blocks choose among these.
        if words < 2 * sample_words {
            return Shortlist::of(SHORT.iter());
        }

        let mut ranking = Ranking { entries: [(0, Predictor::default()); CANDIDATES], len: 0 };
        let stride = self.stride::<W>();
        let mut samples = self.samples::<W>(2 * LAGS);
        for predictor in [Predictor::BELOW_ROTATED, Predictor::BELOW] {
            ranking.add(self.cost::<W>(&samples, &predictor), predictor);
        }
        let base = self.rank::<W>(&mut ranking, &samples, &[]);
        let by_stride = self.rank::<W>(&mut ranking, &samples, &[stride]).min(base);
        // If even this does not help, longer differences are of little use.
        let is_smooth = ranking.entries[0].0 >= by_stride;
        if is_smooth || self.settings.thorough {
            let rows = self.rows::<W>(stride);
            if let Some(longest) = rows.iter().map(|(_, lag)| *lag).max().filter(|lag| *lag != 0) {
                samples = self.samples::<W>(2 * longest + stride);
                let before = ranking.entries;
                let before = &before[..core::mem::take(&mut ranking.len)];
                for (_, predictor) in before {
                    ranking.add(self.cost::<W>(&samples, predictor), *predictor);
                }
            }
            let k = stride;
            for lags in [&[1][..], &[1, 1], &[k, k], &[1, k], &[k, k, k]] {
                self.rank::<W>(&mut ranking, &samples, lags);
            }
            let mut row = (u32::MAX, 0);
            for (_, lag) in rows.into_iter().filter(|(_, lag)| *lag != 0) {
                row = row.min((self.rank::<W>(&mut ranking, &samples, &[k, lag]), lag));
            }
            if let (_, w @ 1..) = row {
                for lags in [&[w][..], &[w, w], &[k, k, w], &[k, w, w], &[1, w]] {
                    self.rank::<W>(&mut ranking, &samples, lags);
                }
            }
        }
        match self.unit::<W>() {
            // Differences only: if floats have a unit, differences are better.
            Some(unit) => ranking.shortlist(self.settings, Predictor::is_difference).in_fixed_point(unit),
            None => ranking.shortlist(self.settings, |_| true),
        }
    }

    /// The best of `predictors` for the message, from samples.
    #[inline(never)]
    pub(super) fn best_of<W: Word>(&self, predictors: &[Predictor]) -> Shortlist
    where
        K: Kernel<W>,
    {
        if predictors.len() <= 1 {
            return Shortlist::of(predictors.iter());
        }
        let reach = predictors.iter().map(Predictor::reach).max().unwrap_or(0);
        let samples = self.samples::<W>(reach.max(2 * LAGS));
        let mut ranking = Ranking { entries: [(0, Predictor::default()); CANDIDATES], len: 0 };
        for predictor in predictors {
            ranking.add(self.cost::<W>(&samples, predictor), *predictor);
        }
        ranking.shortlist(self.settings, |_| true)
    }

    /// The unit in which every float of the message is a whole number that fits in a word, so that fixed point restores it. `None` if there
    /// is no such unit, if fewer than a quarter of the floats have trailing zeros in their fraction, or if the effort does not use fixed
    /// point.
    pub(super) fn unit<W: Word>(&self) -> Option<u16>
    where
        K: Kernel<W>,
    {
        if W::FRACTION == 0 || !self.settings.thorough {
            return None;
        }
        let mut span = Span::default();
        for some in self.message.chunks(SAMPLE) {
            self.kernel.apart(|| portable::span::<W>(some, &mut span));
            let high = span.exponent + W::FRACTION;
            let is_wide = span.floats > 0 && high > span.lowest + W::BITS - 4;
            if span.odd || span.round * 4 < span.floats || is_wide {
                return None;
            }
        }
        (span.floats > 0 && span.lowest >> W::EXPONENT == 0).then_some(span.lowest as u16)
    }

    /// The record stride: the lag with the smallest differences between single words.
    fn stride<W: Word>(&self) -> usize
    where
        K: Kernel<W>,
    {
        let places: [usize; PLACES] = self.places::<W, _>(2 * LAGS, self.message.len() / W::WIDTH);
        let mut scores = [0; LAGS];
        self.kernel.lag_scores(self.message, &places, 0, 1, &mut scores);
        let (mut stride, mut best) = (1, scores[0]);
        for (lag, score) in (1..).zip(scores) {
            if score + PLACES as u32 / 4 < best {
                (stride, best) = (lag, score);
            }
        }
        stride
    }

    /// Candidates for the row length, and their scores.
    fn rows<W: Word>(&self, stride: usize) -> [(u32, usize); ROWS]
    where
        K: Kernel<W>,
    {
        let words = self.message.len() / W::WIDTH;
        let mut rows = [(u32::MAX, 0); ROWS];
        let longest = (words / self.settings.rows).min(MAX_ROW);
        let lowest = longest + LAGS + stride;
        if longest <= LAGS || lowest + SAMPLE / W::WIDTH >= words {
            return rows;
        }
        let places: [usize; PLACES] = self.places::<W, _>(lowest, words);
        let places = &places[..if self.settings.thorough { PLACES } else { PLACES / 2 }];
        let mut scores = [0; LAGS];
        for first in (2..longest).step_by(LAGS) {
            self.kernel.lag_scores(self.message, places, stride, first, &mut scores);
            for (lag, score) in (first..).zip(scores) {
                if score < rows[ROWS - 1].0 && lag != stride {
                    let at = rows.partition_point(|(other, _)| *other <= score);
                    rows.copy_within(at..ROWS - 1, at + 1);
                    rows[at] = (score, lag);
                }
            }
        }
        rows
    }

    /// `N` places, as byte offsets, spread over the words from `from` to `to`. The even-numbered ones come first.
    fn places<W: Word, const N: usize>(&self, from: usize, to: usize) -> [usize; N] {
        let mut places = [0; N];
        for (i, place) in places.iter_mut().enumerate() {
            let i = if 2 * i < N { 2 * i } else { 2 * i - N + 1 };
            *place = (from + (to - from) * i / N) * W::WIDTH;
        }
        places
    }

    /// The places of the samples for ranking candidates, past the first `from` words if the message is long enough.
    pub(super) fn samples<W: Word>(&self, from: usize) -> Samples {
        let words = self.message.len() / W::WIDTH;
        let sample_words = SAMPLE / W::WIDTH;
        let last = words - sample_words;
        let from = from.min(words / 2).min(last);
        let len = if words >= 16 * sample_words { self.settings.samples } else { 2 };
        let mut samples = Samples { at: [0; MAX_SAMPLES], len };
        for (i, at) in samples.at[..len].iter_mut().enumerate() {
            *at = (from + (last - from) * i / (len - 1)) * W::WIDTH;
        }
        samples
    }

    /// The cost of the samples with this predictor.
    pub(super) fn cost<W: Word>(&self, samples: &Samples, predictor: &Predictor) -> u32
    where
        K: Kernel<W>,
    {
        let reach = predictor.reach() * W::WIDTH;
        let cost = |at: &usize| match predictor.domain {
            Domain::Below { rotation } => self.kernel.below_cost(self.message, *at, rotation.into()),
            _ if *at >= reach => self.kernel.difference_cost(self.message, *at, predictor.lags()),
            _ => 8 * W::BITS,
        };
        samples.at[..samples.len].iter().map(cost).sum()
    }

    /// Adds a difference to the ranking. Returns its cost.
    fn rank<W: Word>(&self, ranking: &mut Ranking, samples: &Samples, lags: &[usize]) -> u32
    where
        K: Kernel<W>,
    {
        let mut short = [0; MAX_ORDER];
        for (to, lag) in short.iter_mut().zip(lags) {
            *to = *lag as u16;
        }
        let Some(predictor) = Predictor::difference(Domain::Integer, &short[..lags.len()]) else {
            return u32::MAX;
        };
        if let Some((cost, _)) = ranking.entries[..ranking.len].iter().find(|(_, other)| *other == predictor)
        {
            return *cost;
        }
        let cost = self.cost::<W>(samples, &predictor);
        ranking.add(cost, predictor);
        cost
    }
}

/// The places of samples of eight groups each.
pub(super) struct Samples {
    at: [usize; MAX_SAMPLES],
    len: usize,
}
