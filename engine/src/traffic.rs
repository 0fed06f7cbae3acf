//! Measures how long a process waits for frames; the selector learns the bandwidth from this.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The minimum length of frames that count. Shorter ones wait for the network's latency and for other processes rather than for bandwidth.
pub(crate) const LONG: usize = 32 << 10;
/// The minimum number of bytes of chunks that show how fast the network is: on a link that is limited to a rate, fewer may pass at once after a
/// pause.
pub(crate) const TRAIN: usize = 256 << 10;
/// The number of bytes in one direction after which the selector is told. The system buffers only a small part of that.
const ENOUGH: usize = 4 << 20;

/// The selector is not told before this time has passed: a program often receives, in quick succession, messages that arrived earlier.
const LONG_ENOUGH: Duration = Duration::from_millis(10);

/// The waiting of all threads since the selector was told last.
pub(crate) struct Traffic(Mutex<Since>);

struct Since {
    told: Instant,
    sent: usize,
    received: usize,
    waited: Duration,
}

impl Since {
    fn new(told: Instant) -> Self {
        Self { told, sent: 0, received: 0, waited: Duration::ZERO }
    }
}

impl Default for Traffic {
    fn default() -> Self {
        Self::since(Instant::now())
    }
}

/// The traffic in a period of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passage {
    /// The number of bytes in the direction that had more.
    pub(crate) bytes: usize,
    /// How long this process waited for them.
    pub(crate) waited: Duration,
    /// The time in which they passed, including time without waiting.
    pub(crate) elapsed: Duration,
}

impl Traffic {
    fn since(beginning: Instant) -> Self {
        Self(Mutex::new(Since::new(beginning)))
    }

    /// Adds the waiting time of a call. Returns the traffic since the last result once it is enough.
    pub(crate) fn add(&self, sent: usize, received: usize, waited: Duration) -> Option<Passage> {
        self.add_by(Instant::now, sent, received, waited)
    }

    /// The same by this clock, which is read only if there was enough traffic.
    fn add_by(
        &self,
        clock: impl Fn() -> Instant,
        sent: usize,
        received: usize,
        waited: Duration,
    ) -> Option<Passage> {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.sent = since.sent.saturating_add(sent);
        since.received = since.received.saturating_add(received);
        since.waited = since.waited.saturating_add(waited);
        let bytes = since.sent.max(since.received);
        if bytes < ENOUGH {
            return None;
        }
        let now = clock();
        let elapsed = now.saturating_duration_since(since.told);
        if elapsed < LONG_ENOUGH {
            return None;
        }
        let Since { waited, .. } = std::mem::replace(&mut *since, Since::new(now));
        Some(Passage { bytes, waited, elapsed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Traffic by a clock that stands still, unless a test moves it.
    struct Clocked {
        traffic: Traffic,
        now: Cell<Instant>,
    }

    impl Clocked {
        fn new() -> Self {
            let now = Instant::now();
            Self { traffic: Traffic::since(now), now: Cell::new(now) }
        }

        fn pass(&self, time: Duration) {
            self.now.set(self.now.get() + time);
        }

        fn add(&self, sent: usize, received: usize, waited: Duration) -> Option<Passage> {
            self.traffic.add_by(|| self.now.get(), sent, received, waited)
        }
    }

    #[test]
    fn the_direction_with_more_counts() {
        let traffic = Clocked::new();
        let second = Duration::from_secs(1);
        traffic.pass(LONG_ENOUGH);
        assert_eq!(traffic.add(1 << 20, 3 << 20, second), None);
        let passage = Passage { bytes: 4 << 20, waited: 2 * second, elapsed: LONG_ENOUGH };
        assert_eq!(traffic.add(0, 1 << 20, second), Some(passage));
        traffic.pass(LONG_ENOUGH);
        assert_eq!(traffic.add(3 << 20, 0, second), None);
    }

    #[test]
    fn messages_that_are_there_already_count_with_the_time_that_follows() {
        let traffic = Clocked::new();
        traffic.pass(LONG_ENOUGH);
        assert_eq!(traffic.add(0, 4 << 20, Duration::ZERO).map(|passage| passage.bytes), Some(4 << 20));
        traffic.pass(LONG_ENOUGH - Duration::from_nanos(1));
        assert!((0..7).all(|_| traffic.add(0, 4 << 20, Duration::ZERO).is_none()));
        traffic.pass(Duration::from_nanos(1));
        assert_eq!(traffic.add(0, 4 << 20, Duration::ZERO).map(|passage| passage.bytes), Some(32 << 20));
    }

    #[test]
    fn the_clock_is_that_of_the_system() {
        let traffic = Traffic::default();
        std::thread::sleep(LONG_ENOUGH);
        let passage = traffic.add(4 << 20, 0, Duration::ZERO).unwrap();
        assert!(passage.elapsed >= LONG_ENOUGH);
    }
}
