//! What a process learns from the streams that it sends: how long to wait for their receivers, and how long a message layer takes to start a chunk.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The estimate of the network may be wrong, and a receiver that shares its processor may be late.
const LEAST: Duration = Duration::from_millis(20);
const MOST: Duration = Duration::from_secs(1);
/// The waiting time is halved at most this many times.
const MOST_VAIN: u32 = 6;
/// Every 64th stream is waited for with full patience again, because receivers may have become faster.
const TRIED_AGAIN: u32 = 1 << MOST_VAIN;
/// The minimum number of looks before a wait ends.
const LOOKS: u32 = 8;

/// The patience of a process with the receivers of its streams.
#[derive(Debug)]
pub struct Patience {
    /// How often in a row a tail was waited for in vain.
    vain: AtomicU32,
    /// The least time that starting a chunk has taken so far, in nanoseconds per MiB.
    least_start: AtomicU64,
}

impl Default for Patience {
    fn default() -> Self {
        Self { vain: AtomicU32::new(0), least_start: AtomicU64::new(u64::MAX) }
    }
}

impl Patience {
    /// Begins to wait for the tail of the stream with this number, while none of its chunks leaves: twice as long as the network takes for all that is
    /// pending, and half as long after each time in vain. `pending`: bytes; `byte_ns`: nanoseconds that the network takes for a byte; `id`: the
    /// stream's number.
    pub fn begin(&self, pending: usize, byte_ns: f64, id: u32) -> Wait {
        let vain = if id.is_multiple_of(TRIED_AGAIN) { 0 } else { self.vain.load(Ordering::Relaxed) };
        let time = Duration::from_nanos((2.0 * pending as f64 * byte_ns) as u64).clamp(LEAST, MOST);
        let time = time / (1 << vain.min(MOST_VAIN));
        Wait { left: time, look: time / LOOKS, looked: Instant::now() }
    }

    /// Notes whether a tail was received while it was waited for.
    pub fn waited(&self, received: bool) {
        let vain = self.vain.load(Ordering::Relaxed);
        self.vain.store(if received { 0 } else { (vain + 1).min(MOST_VAIN) }, Ordering::Relaxed);
    }

    /// How long this process was kept waiting by the start of a chunk of `len` bytes, which took this time.
    pub fn stalled(&self, len: usize, time: Duration) -> Duration {
        // Bytes below one MiB, and less than 2^44 ns.
        let of = |ns: u64, from: usize, to: usize| ns.saturating_mul(to as u64) / (from as u64).max(1);
        let of_mib = of(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), len, 1 << 20);
        let least = self.least_start.fetch_min(of_mib, Ordering::Relaxed).min(of_mib);
        time.saturating_sub(Duration::from_nanos(of(least, 1 << 20, len)))
    }
}

/// How long a tail is still waited for.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    left: Duration,
    /// Longer times between two looks count as this: the program may compute meanwhile.
    look: Duration,
    looked: Instant,
}

impl Wait {
    /// Looks once more; returns whether it has ended.
    pub fn ends(&mut self) -> bool {
        let now = Instant::now();
        self.left = self.left.saturating_sub(now.saturating_duration_since(self.looked).min(self.look));
        self.looked = now;
        self.left.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_wears_out_and_comes_back() {
        let patience = Patience::default();
        let of = |pending, id| patience.begin(pending, 10.0, id).left;
        assert_eq!([of(0, 1), of(2_000_000, 1), of(1 << 40, 1)], [LEAST, 2 * LEAST, MOST]);
        for _ in 0..9 {
            patience.waited(false);
        }
        assert_eq!([of(0, 1), of(0, TRIED_AGAIN)], [LEAST / 64, LEAST]);
        patience.waited(true);
        assert_eq!(of(0, 1), LEAST);
    }

    #[test]
    fn a_wait_ends_after_some_looks_however_late_they_are() {
        let mut wait = Patience::default().begin(0, 1.0, 1);
        let looks = (1..).find(|_| {
            wait.looked = wait.looked.checked_sub(MOST).unwrap_or(wait.looked);
            wait.ends()
        });
        assert_eq!(looks, Some(LOOKS));
    }

    #[test]
    fn the_fastest_start_is_no_stall() {
        let patience = Patience::default();
        let time = Duration::from_micros;
        assert_eq!(patience.stalled(1 << 10, time(3)), Duration::ZERO);
        assert_eq!(patience.stalled(1 << 11, time(10)), time(4));
    }
}
