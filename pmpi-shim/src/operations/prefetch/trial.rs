//! Whether receiving ahead pays, by the time that it has gained and lost.

use std::time::{Duration, Instant};

/// Number of receive calls after which the trial is evaluated.
const WINDOW: u32 = 256;

/// Greatest length of a pause, in windows.
const LONGEST_PAUSE: u32 = 64;

/// Estimated loss of a call that polls the MPI instead of waiting in it.
const ASKING: Duration = Duration::from_micros(1);

/// One in this many calls of the predictor is timed.
const TIMED: u32 = 16;

/// Decides whether receiving ahead pays: in each window of receive calls, more time must be gained than lost. Otherwise there is a pause of
/// 1, 2, 4 ... [`LONGEST_PAUSE`] windows, in which the predictor observes nothing and nothing is looked for.
pub(super) struct Trial {
    /// Calls left in the window or the pause.
    left: u32,
    pauses: bool,
    /// Length of the next pause, in windows.
    pause: u32,
    /// Time lost in this window.
    lost: Duration,
    /// Nanoseconds gained before this window.
    gained: i64,
    /// Duration of the last step, by which the call that contained it may have returned later.
    pub(super) last: Duration,
}

impl Trial {
    pub(super) fn new() -> Self {
        let zero = Duration::ZERO;
        Self { left: WINDOW, pauses: false, pause: 1, lost: zero, gained: 0, last: zero }
    }

    /// Counts a call; returns whether to observe it. `gained`: nanoseconds gained so far.
    pub(super) fn goes_on(&mut self, gained: i64) -> bool {
        self.lost += std::mem::take(&mut self.last);
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return !self.pauses;
        }
        let lost = i64::try_from(self.lost.as_nanos()).unwrap_or(i64::MAX);
        let paid = gained.saturating_sub(self.gained) > lost;
        (self.lost, self.gained) = (Duration::ZERO, gained);
        if self.pauses || paid {
            self.pause = if self.pauses { self.pause } else { 1 };
            (self.pauses, self.left) = (false, WINDOW);
        } else {
            (self.pauses, self.left) = (true, WINDOW * self.pause);
            self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        }
        !self.pauses
    }

    /// Times some of the calls of the predictor.
    pub(super) fn timed(&mut self, work: impl FnOnce()) {
        if !self.left.is_multiple_of(TIMED) {
            return work();
        }
        let start = Instant::now();
        work();
        self.lost += start.elapsed() * TIMED;
    }

    /// A call is about to poll the MPI.
    pub(super) fn waits(&mut self) {
        self.lost += ASKING;
    }

    /// Ends the search.
    pub(super) fn end(&mut self) {
        (self.pauses, self.left) = (true, u32::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROSECOND: i64 = 1000;

    /// Number of `calls` that are observed, if each gains `gain` nanoseconds and loses a microsecond.
    fn looked_at(trial: &mut Trial, calls: u32, gain: i64, gained: &mut i64) -> u32 {
        let mut count = 0;
        for _ in 0..calls {
            if trial.goes_on(*gained) {
                count += 1;
                *gained += gain;
                trial.last = Duration::from_micros(1);
            }
        }
        count
    }

    #[test]
    fn what_pays_goes_on() {
        let (mut trial, mut gained) = (Trial::new(), 0);
        assert_eq!(looked_at(&mut trial, 100 * WINDOW, 2 * MICROSECOND, &mut gained), 100 * WINDOW);
    }

    #[test]
    fn what_does_not_pauses_longer_each_time() {
        let (mut trial, mut gained) = (Trial::new(), 0);
        // Windows followed by pauses of 1, 2, 4 ... 64, 64 windows.
        let calls = WINDOW * (8 + 127 + 64);
        let count = looked_at(&mut trial, calls, MICROSECOND / 2, &mut gained);
        assert!((7 * WINDOW..=9 * WINDOW).contains(&count), "{count}");
    }

    #[test]
    fn a_new_phase_of_the_program_is_noticed() {
        let (mut trial, mut gained) = (Trial::new(), 0);
        looked_at(&mut trial, 20 * WINDOW, 0, &mut gained);
        let count = looked_at(&mut trial, 300 * WINDOW, 2 * MICROSECOND, &mut gained);
        assert!(count >= 230 * WINDOW, "{count}");
    }
}
