//! How long a process waits for frames, from which the selector learns the bandwidth.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Frames from this length on count. Shorter ones wait for the network's latency and for other processes rather than for bandwidth.
pub(crate) const LONG: usize = 32 << 10;
/// After so many bytes in one direction the selector is told. What the system buffers is little of that.
const ENOUGH: u64 = 4 << 20;

/// What has been waited for, by all threads, since the selector was told last.
#[derive(Default)]
pub(crate) struct Traffic {
    sent: AtomicU64,
    received: AtomicU64,
    waited_ns: AtomicU64,
}

impl Traffic {
    /// Counts what a call has waited for; gives bytes and time once there are enough of them.
    pub(crate) fn add(&self, sent: usize, received: usize, waited: Duration) -> Option<(usize, Duration)> {
        let sent = self.sent.fetch_add(sent as u64, Relaxed) + sent as u64;
        let received = self.received.fetch_add(received as u64, Relaxed) + received as u64;
        self.waited_ns.fetch_add(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        if sent.max(received) < ENOUGH {
            return None;
        }
        // Another thread may add something meanwhile, which then counts for the next time.
        let (sent, received) = (self.sent.swap(0, Relaxed), self.received.swap(0, Relaxed));
        let waited = Duration::from_nanos(self.waited_ns.swap(0, Relaxed));
        Some((usize::try_from(sent.max(received)).unwrap_or(usize::MAX), waited))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_direction_with_more_counts() {
        let traffic = Traffic::default();
        let second = Duration::from_secs(1);
        assert_eq!(traffic.add(1 << 20, 3 << 20, second), None);
        assert_eq!(traffic.add(0, 1 << 20, second), Some((4 << 20, 2 * second)));
        assert_eq!(traffic.add(3 << 20, 0, second), None);
    }
}
