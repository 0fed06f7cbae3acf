//! How long a process waits for frames, from which the selector learns the bandwidth.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Frames from this length on count. Shorter ones wait for the network's latency and for other processes rather than for bandwidth.
pub(crate) const LONG: usize = 32 << 10;
/// After so many bytes in one direction the selector is told. What the system buffers is little of that.
const ENOUGH: u64 = 4 << 20;

/// What has been waited for, by all threads, since the selector was told last.
pub(crate) struct Traffic {
    start: Instant,
    /// When the selector was told last, in nanoseconds from the start.
    told_ns: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    waited_ns: AtomicU64,
}

impl Default for Traffic {
    fn default() -> Self {
        let [told_ns, sent, received, waited_ns] = [0; 4].map(AtomicU64::new);
        Self { start: Instant::now(), told_ns, sent, received, waited_ns }
    }
}

/// What has passed in some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passage {
    /// Bytes, in the direction that had more.
    pub(crate) bytes: usize,
    /// How long this process waited for them.
    pub(crate) waited: Duration,
    /// In how long they passed, waited for or not.
    pub(crate) elapsed: Duration,
}

impl Traffic {
    /// Counts what a call has waited for; gives what has passed once that is enough.
    pub(crate) fn add(&self, sent: usize, received: usize, waited: Duration) -> Option<Passage> {
        let sent = self.sent.fetch_add(sent as u64, Relaxed) + sent as u64;
        let received = self.received.fetch_add(received as u64, Relaxed) + received as u64;
        self.waited_ns.fetch_add(nanoseconds(waited), Relaxed);
        if sent.max(received) < ENOUGH {
            return None;
        }
        // Another thread may add something meanwhile, which then counts for the next time.
        let (sent, received) = (self.sent.swap(0, Relaxed), self.received.swap(0, Relaxed));
        let now = nanoseconds(self.start.elapsed());
        Some(Passage {
            bytes: usize::try_from(sent.max(received)).unwrap_or(usize::MAX),
            waited: Duration::from_nanos(self.waited_ns.swap(0, Relaxed)),
            elapsed: Duration::from_nanos(now.saturating_sub(self.told_ns.swap(now, Relaxed))),
        })
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_direction_with_more_counts() {
        let traffic = Traffic::default();
        let second = Duration::from_secs(1);
        assert_eq!(traffic.add(1 << 20, 3 << 20, second), None);
        let passage = traffic.add(0, 1 << 20, second).unwrap();
        assert_eq!((passage.bytes, passage.waited), (4 << 20, 2 * second));
        assert!(passage.elapsed <= traffic.start.elapsed());
        assert_eq!(traffic.add(3 << 20, 0, second), None);
    }
}
