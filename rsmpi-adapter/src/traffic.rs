//! How long this rank waits for long frames, from which the selector learns the bandwidth. Short ones wait for the network's
//! latency and for other ranks rather than for bandwidth.

use mpress::Engine;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Frames from this length on count.
const LONG: usize = 32 << 10;
/// After so many bytes in one direction the selector is told. What the system buffers is little of that.
const ENOUGH: u64 = 4 << 20;

/// What has been waited for, by all threads, since the selector was told last.
#[derive(Default)]
pub(crate) struct Traffic {
    sent: AtomicU64,
    received: AtomicU64,
    waited_ns: AtomicU64,
}

/// The direction of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Out,
    In,
}

impl Traffic {
    /// A call of the MPI's that waited for a frame of so many bytes began at `start`, and is over.
    pub(crate) fn waited(&self, engine: &Engine, way: Way, bytes: usize, start: Instant) {
        if bytes < LONG {
            return;
        }
        let bytes = bytes as u64;
        let (out, into) = if way == Way::Out { (bytes, 0) } else { (0, bytes) };
        let sent = self.sent.fetch_add(out, Relaxed) + out;
        let received = self.received.fetch_add(into, Relaxed) + into;
        self.waited_ns.fetch_add(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX), Relaxed);
        if sent.max(received) >= ENOUGH {
            // Another thread may add something meanwhile, which then counts for the next time.
            let (sent, received) = (self.sent.swap(0, Relaxed), self.received.swap(0, Relaxed));
            let waited = Duration::from_nanos(self.waited_ns.swap(0, Relaxed));
            engine.waited(usize::try_from(sent.max(received)).unwrap_or(usize::MAX), waited);
        }
    }
}
