//! Statistics of messages taken ahead: for the report, and for deciding whether to go on.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counters shared by all threads.
#[derive(Default)]
pub(crate) struct PrefetchGain {
    predicted: AtomicU64,
    right: AtomicU64,
    early: AtomicU64,
    decoding_ns: AtomicU64,
    copying_ns: AtomicU64,
}

impl PrefetchGain {
    /// Counts a receive call for which there was a prediction.
    pub(crate) fn predicted(&self, right: bool) {
        self.predicted.fetch_add(1, Relaxed);
        self.right.fetch_add(u64::from(right), Relaxed);
    }

    /// Counts a message of which a part was decoded before the program asked for it: the time of that, and of the copy afterwards.
    pub(crate) fn delivered(&self, decoding: Duration, copying: Duration) {
        self.early.fetch_add(1, Relaxed);
        self.decoding_ns.fetch_add(nanoseconds(decoding), Relaxed);
        self.copying_ns.fetch_add(nanoseconds(copying), Relaxed);
    }

    /// Nanoseconds gained, less those lost.
    pub(crate) fn gained(&self) -> i64 {
        let difference = self.decoding_ns.load(Relaxed).wrapping_sub(self.copying_ns.load(Relaxed));
        difference.cast_signed()
    }

    /// Predictions, correct predictions, messages decoded early, nanoseconds gained: to be summed over ranks with wrap-around.
    pub(crate) fn words(&self) -> [u64; 4] {
        let [predicted, right, early] = [&self.predicted, &self.right, &self.early].map(|n| n.load(Relaxed));
        [predicted, right, early, self.gained().cast_unsigned()]
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
