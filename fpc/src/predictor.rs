//! The two predictors of FPC, in four lanes side by side (format, sections 3 and 4).
//!
//! In a decoder every look-up waits for the value before it: a chain of a dozen cycles. Lanes know nothing of each
//! other, so four such chains run at the same time.
#![forbid(unsafe_code)]

use crate::format::{BLOCK, HASH_SHIFT, LANES, MAX_ENTRIES, MAX_LOG2, PICKED};
use crate::word::Word;
use core::hint::select_unpredictable;
use core::ops::Range;

/// How many entries each table has: a power of two, at most [`MAX_ENTRIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entries(u8);

impl Entries {
    const MAX: Self = Self(MAX_LOG2);

    /// `2^log2` entries, if a table can have so many.
    pub(crate) fn new(log2: u8) -> Option<Self> {
        (log2 <= Self::MAX.0).then_some(Self(log2))
    }

    /// The size for a message of so many values (format, section 9).
    pub(crate) fn for_values(values: usize) -> Self {
        let lane = (values / LANES).clamp(1, MAX_ENTRIES);
        Self(lane.next_power_of_two().ilog2() as u8)
    }

    pub(crate) fn log2(self) -> u8 {
        self.0
    }

    fn count(self) -> usize {
        1 << self.0
    }

    /// The bits that count of a hash.
    fn mask(self) -> usize {
        // The remainder changes nothing. It shows the compiler that every hash is an index.
        (self.count() - 1) % MAX_ENTRIES
    }
}

/// What a lane has learned.
#[derive(Clone, Debug)]
struct Tables<W> {
    /// By the hash of the values before: the value that followed.
    fcm: [W; MAX_ENTRIES],
    /// By the hash of the differences before: the difference that followed.
    dfcm: [W; MAX_ENTRIES],
    /// The tables of two lanes must not lie 4 KiB apart: a processor takes a load there for one of what it has just
    /// stored (format, section 9).
    _apart: [W; 40],
}

/// The hashes of a lane.
#[derive(Clone, Copy, Debug)]
struct Hashes {
    /// Of the values before.
    fcm: u64,
    /// Of the differences before. It is of another width than the hash of values, or the compiler would pair both in
    /// a vector, and every look-up would wait for its way there and back.
    dfcm: u32,
}

impl Hashes {
    const START: Self = Self { fcm: 0, dfcm: 0 };

    /// Foretells the value behind `last`, and learns it from `reveal`, which gets the predictions of fcm and of dfcm.
    #[inline(always)]
    fn step<W: Word>(
        &mut self,
        tables: &mut Tables<W>,
        mask: usize,
        last: W,
        reveal: impl FnOnce(W, W) -> W,
    ) {
        let fcm = &mut tables.fcm[self.fcm as usize & mask];
        let dfcm = &mut tables.dfcm[self.dfcm as usize & mask];
        let value = reveal(*fcm, last.plus(*dfcm));
        let difference = value.minus(last);
        *fcm = value;
        *dfcm = difference;
        self.fcm = self.fcm << HASH_SHIFT ^ value.top(W::TOP_BITS) as u64;
        self.dfcm = self.dfcm << HASH_SHIFT ^ difference.top(W::TOP_BITS) as u32;
    }
}

/// The predictors of all lanes.
#[derive(Clone, Debug)]
pub(crate) struct Predictor<W> {
    tables: [Tables<W>; LANES],
    hashes: [Hashes; LANES],
    /// The value before.
    last: [W; LANES],
    entries: Entries,
}

impl<W: Word> Predictor<W> {
    pub(crate) const fn new() -> Self {
        const {
            let tables = [const {
                Tables { fcm: [W::ZERO; MAX_ENTRIES], dfcm: [W::ZERO; MAX_ENTRIES], _apart: [W::ZERO; 40] }
            }; LANES];
            Self { tables, hashes: [Hashes::START; LANES], last: [W::ZERO; LANES], entries: Entries::MAX }
        }
    }

    /// Goes to the start state, with tables of this size.
    pub(crate) fn start(&mut self, entries: Entries) {
        self.entries = entries;
        self.restart();
    }

    /// Goes to the start state again.
    pub(crate) fn restart(&mut self) {
        for tables in &mut self.tables {
            tables.fcm[..self.entries.count()].fill(W::ZERO);
            tables.dfcm[..self.entries.count()].fill(W::ZERO);
        }
        self.hashes = [Hashes::START; LANES];
        self.last = [W::ZERO; LANES];
    }

    /// The lesser of the two residuals of each value of a block, its length in bytes, and [`PICKED`] with that where
    /// it is the residual of dfcm. Both buffers have room for a block.
    #[inline(always)]
    pub(crate) fn residuals(&mut self, values: &[W::Bytes], residuals: &mut [W::Bytes], lengths: &mut [u8]) {
        let mask = self.entries.mask();
        // Nothing waits here, so one lane after the other: fewer variables than all at once.
        for lane in 0..LANES {
            let run = run(lane, values.len());
            let (tables, mut hashes, mut last) = (&mut self.tables[lane], self.hashes[lane], self.last[lane]);
            let places = residuals[run.clone()].iter_mut().zip(&mut lengths[run.clone()]);
            for (value, (residual, length)) in values[run].iter().zip(places) {
                let value = W::from_bytes(*value);
                hashes.step(tables, mask, last, |by_fcm, by_dfcm| {
                    let (by_fcm, by_dfcm) = (value ^ by_fcm, value ^ by_dfcm);
                    let lesser = by_fcm.min(by_dfcm);
                    *residual = lesser.to_bytes();
                    *length = lesser.byte_len() | (u8::from(by_dfcm < by_fcm) * PICKED);
                    value
                });
                last = value;
            }
            (self.hashes[lane], self.last[lane]) = (hashes, last);
        }
    }

    /// Turns the first `len` residuals of a block into values. A pick other than 0 says dfcm. Both buffers are those
    /// of a block.
    #[inline(always)]
    pub(crate) fn values(&mut self, len: usize, picks: &[u8], words: &mut [W::Bytes]) {
        // The first is the same as the second, but with numbers that the compiler sees.
        if len == BLOCK && self.entries == Entries::MAX {
            self.walk(BLOCK, Entries::MAX.mask(), picks, words);
        } else {
            self.walk(len, self.entries.mask(), picks, words);
        }
    }

    /// Goes through the lanes of a block side by side.
    #[inline(always)]
    fn walk(&mut self, len: usize, mask: usize, picks: &[u8], words: &mut [W::Bytes]) {
        let lane_len = len / LANES;
        // Not through `self`: what a loop keeps in registers it must own.
        let mut hashes = self.hashes;
        let mut step = |lane: usize, at: usize, words: &mut [W::Bytes], last| {
            hashes[lane].step(&mut self.tables[lane], mask, last, |by_fcm, by_dfcm| {
                // Which it is cannot be foreseen on noisy data: no branch.
                let prediction = select_unpredictable(picks[at % BLOCK] != 0, by_dfcm, by_fcm);
                let value = W::from_bytes(words[at % BLOCK]) ^ prediction;
                words[at % BLOCK] = value.to_bytes();
                value
            });
        };
        if lane_len > 0 {
            for (lane, last) in self.last.iter().enumerate() {
                step(lane, lane * lane_len, words, *last);
            }
        }
        for at in 1..lane_len {
            for lane in 0..LANES {
                let at = lane * lane_len + at;
                // Not from a variable: there are too few registers for more than the hashes, and a hash must not wait.
                let last = W::from_bytes(words[(at - 1) % BLOCK]);
                step(lane, at, words, last);
            }
        }
        for at in LANES * lane_len..len {
            let last = if at > 0 { W::from_bytes(words[(at - 1) % BLOCK]) } else { self.last[LANES - 1] };
            step(LANES - 1, at, words, last);
        }
        self.hashes = hashes;
        for (lane, last) in self.last.iter_mut().enumerate() {
            if let Some(value) = words[run(lane, len)].last() {
                *last = W::from_bytes(*value);
            }
        }
    }
}

/// The values of a lane in a block of `len` (format, section 4).
fn run(lane: usize, len: usize) -> Range<usize> {
    let lane_len = len / LANES;
    lane * lane_len..if lane + 1 < LANES { (lane + 1) * lane_len } else { len }
}
