//! Statistics of messages received before the program asked for them, for the report and for the decision whether to receive more ahead.

use super::Prediction;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What receiving ahead has gained: counters shared by all threads.
#[derive(Debug, Default)]
pub struct Ahead {
    predicted: AtomicU64,
    right: AtomicU64,
    early: AtomicU64,
    decoding_ns: AtomicU64,
    copying_ns: AtomicU64,
}

impl Ahead {
    /// Counts a receive call for which there was a prediction.
    pub fn predicted(&self, right: bool) {
        self.predicted.fetch_add(1, Relaxed);
        self.right.fetch_add(u64::from(right), Relaxed);
    }

    /// Counts a message that was decoded, completely or in part, before the program asked for it: the time of decoding, and of the copy afterwards.
    pub fn delivered(&self, decoding: Duration, copying: Duration) {
        self.early.fetch_add(1, Relaxed);
        self.decoding_ns.fetch_add(nanoseconds(decoding), Relaxed);
        self.copying_ns.fetch_add(nanoseconds(copying), Relaxed);
    }

    /// Nanoseconds gained, less those lost.
    #[must_use]
    pub fn gained(&self) -> i64 {
        let difference = self.decoding_ns.load(Relaxed).wrapping_sub(self.copying_ns.load(Relaxed));
        difference.cast_signed()
    }

    /// The counters, to be summed over ranks with wrap-around for [`Prediction::of_words`].
    #[must_use]
    pub fn words(&self) -> [u64; 4] {
        let [predicted, right, early] = [&self.predicted, &self.right, &self.early].map(|n| n.load(Relaxed));
        [predicted, right, early, self.gained().cast_unsigned()]
    }
}

impl Prediction {
    /// From the sums of [`Ahead::words`].
    #[must_use]
    pub fn of_words([predicted, right, early, gained]: [u64; 4]) -> Self {
        Self { predicted, right, early, moved_s: gained.cast_signed() as f64 * 1e-9 }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_copying_costs_more_than_was_gained_is_a_loss_in_the_sum() {
        let (here, there) = (Ahead::default(), Ahead::default());
        here.predicted(true);
        here.predicted(false);
        here.delivered(Duration::from_secs(1), Duration::from_secs(3));
        there.delivered(Duration::from_secs(2), Duration::from_millis(500));
        assert_eq!(here.gained(), -2_000_000_000);
        let sum = std::array::from_fn(|at| here.words()[at].wrapping_add(there.words()[at]));
        let expected = Prediction { predicted: 2, right: 1, early: 2, moved_s: -0.5 };
        assert_eq!(Prediction::of_words(sum), expected);
    }
}
