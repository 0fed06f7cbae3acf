//! The knowledge of one sort of messages: of a kind, size class and level.

use crate::cell::Cell;
use crate::link::PEER_CLASSES;
use crate::priors::CANDIDATES;

/// The weight of the latest error in the average, and the fraction of that average that is expected for a codec not yet observed.
const ERROR_WEIGHT: f64 = 0.25;
const SHARED_ERROR: f64 = 0.7;
/// A fraction that differs by this much from the expected one is a reason to try codecs again.
pub(crate) const NEW_FRACTION: f64 = 0.05;
/// After this number of messages of a sort another codec is tried; after each trial that changed nothing the number doubles, up to the maximum.
const TRY: u32 = 1;
const TRY_MAX: u32 = 256;

#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) cells: [Cell; CANDIDATES],
    /// The average difference between the fractions observed here and those of the level.
    error: f64,
    visits: u32,
    next_try: u32,
    interval: u32,
    /// By peer class, the candidate in use.
    current: [Option<u8>; PEER_CLASSES],
    /// By peer class, how often each was chosen, without trials; the first is raw.
    pub(crate) chosen: [[u32; CANDIDATES + 1]; PEER_CLASSES],
}

impl Context {
    pub(crate) fn new() -> Self {
        Self {
            cells: [Cell::new(1.0); CANDIDATES],
            error: 0.0,
            visits: 0,
            next_try: 0,
            interval: TRY,
            current: [None; PEER_CLASSES],
            chosen: [[0; CANDIDATES + 1]; PEER_CLASSES],
        }
    }

    /// The expected fraction of a candidate, given its expected fraction over all lengths. If one codec does better or worse than expected, the
    /// others are likely to do so, too.
    #[inline]
    pub(crate) fn fraction(&self, candidate: usize, of_level: f64) -> f64 {
        let cell = self.cells[candidate];
        if cell.seen() > 0 { cell.fraction() } else { (of_level + SHARED_ERROR * self.error).clamp(0.0, 1.0) }
    }

    /// The candidate in use for a peer class.
    #[inline]
    pub(crate) fn current(&self, peer: usize) -> Option<usize> {
        self.current[peer].map(usize::from)
    }

    /// Makes this candidate the one in use.
    pub(crate) fn choose(&mut self, peer: usize, candidate: Option<usize>) {
        self.current[peer] = candidate.map(|at| at as u8); // fewer than `CANDIDATES`
        self.chosen[peer][candidate.map_or(0, |at| at + 1)] += 1;
    }

    /// Counts a message of this sort that is weighed; returns the number of those before it.
    pub(crate) fn visit(&mut self) -> u32 {
        let before = self.visits;
        self.visits = before.wrapping_add(1);
        before
    }

    /// Whether a trial is due.
    pub(crate) fn is_due(&self) -> bool {
        self.visits >= self.next_try
    }

    /// Whether trials have changed nothing for a long time.
    pub(crate) fn is_settled(&self) -> bool {
        self.interval == TRY_MAX
    }

    /// Makes the next message try another codec.
    pub(crate) fn try_now(&mut self) {
        self.next_try = self.visits;
        self.interval = TRY;
    }

    /// Postpones the next trial after one was made.
    pub(crate) fn wait(&mut self) {
        self.next_try = self.visits.wrapping_add(self.interval);
        self.interval = (self.interval * 2).min(TRY_MAX);
    }

    /// Records the fraction of a message with a candidate; `expected` is its fraction over all lengths.
    pub(crate) fn observe(&mut self, candidate: usize, expected: f64, fraction: f64) {
        let change = fraction - self.fraction(candidate, expected);
        if change.abs() > NEW_FRACTION {
            self.try_now();
        }
        self.error += (fraction - expected - self.error) * ERROR_WEIGHT;
        self.cells[candidate].observe(fraction);
    }
}
