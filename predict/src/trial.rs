//! Whether prediction pays, by the time that it has gained and lost. The caller has the clock.

use core::time::Duration;

/// The number of receive calls in a window.
const WINDOW: u32 = 256;

/// The maximum length of a pause, in windows.
const LONGEST_PAUSE: u32 = 64;

/// Estimated loss of a call that polls the MPI instead of waiting in it.
const ASKING: Duration = Duration::from_micros(1);

/// One in this many calls of the predictor is timed.
const TIMED: u32 = 16;

/// Decides whether it pays to receive messages ahead of the calls that a predictor expects: in each window of 256 receive calls, more time must be
/// gained than lost. Otherwise there is a pause of 1, 2, 4 ... 64 windows, in which the predictor must not observe calls, and no messages are looked
/// for.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Calls left in the window or the pause.
    left: u32,
    pauses: bool,
    /// Length of the next pause, in windows.
    pause: u32,
    /// Time lost in this window.
    lost: Duration,
    /// Nanoseconds gained before this window.
    gained: i64,
    /// The duration of the last search, by which its call may have returned later.
    last: Duration,
}

impl Default for Trial {
    fn default() -> Self {
        Self::new()
    }
}

impl Trial {
    /// A trial that begins with a window.
    #[must_use]
    pub fn new() -> Self {
        let zero = Duration::ZERO;
        Self { left: WINDOW, pauses: false, pause: 1, lost: zero, gained: 0, last: zero }
    }

    /// Counts a receive call; returns whether to observe it. `gained`: nanoseconds gained so far, in all windows.
    pub fn goes_on(&mut self, gained: i64) -> bool {
        self.lost += core::mem::take(&mut self.last);
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

    /// Whether the predictor's part of this call is to be timed, for [`took`](Self::took).
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.left.is_multiple_of(TIMED)
    }

    /// Reports that the predictor took this time for its part of a timed call.
    pub fn took(&mut self, time: Duration) {
        self.lost += time * TIMED;
    }

    /// Reports that a waiting call has looked for messages for this time.
    pub fn looked(&mut self, time: Duration) {
        self.last = time;
    }

    /// Reports that a call is about to poll instead of waiting.
    pub fn waits(&mut self) {
        self.lost += ASKING;
    }

    /// Ends prediction for good.
    pub fn end(&mut self) {
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
                trial.looked(Duration::from_micros(1));
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
