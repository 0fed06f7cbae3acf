//! How long this rank waits for long messages, from which the selector learns the bandwidth.
//!
//! Counted are calls that wait, in which frames of 32 KiB and more were sent to the end or arrived. Short ones wait for the
//! network's latency and for other ranks rather than for bandwidth. What encoding and decoding take in these calls is left out.

use mpress::Engine;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Frames from this length on count.
const LONG: usize = 32 << 10;
/// After so many bytes in one direction the selector is told. What the system buffers is little of that.
const ENOUGH: u64 = 4 << 20;

#[derive(Clone, Copy, Default)]
struct Call {
    sent: u64,
    received: u64,
    coding: Duration,
}

thread_local! {
    /// What has happened in the call that this thread is in.
    static CALL: Cell<Call> = const { Cell::new(Call { sent: 0, received: 0, coding: Duration::ZERO }) };
}

/// A frame of so many bytes has been sent.
pub(crate) fn sent(bytes: usize) {
    if bytes >= LONG {
        CALL.set(Call { sent: CALL.get().sent + bytes as u64, ..CALL.get() });
    }
}

/// A frame of so many bytes has arrived.
pub(crate) fn received(bytes: usize) {
    if bytes >= LONG {
        CALL.set(Call { received: CALL.get().received + bytes as u64, ..CALL.get() });
    }
}

/// Does work that is no waiting.
pub(crate) fn coding<R>(work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    CALL.set(Call { coding: CALL.get().coding + start.elapsed(), ..CALL.get() });
    result
}

/// What has been waited for, by all threads, since the selector was told last.
#[derive(Default)]
pub(crate) struct Traffic {
    sent: AtomicU64,
    received: AtomicU64,
    waited_ns: AtomicU64,
}

impl Traffic {
    /// Makes a call that may wait for messages.
    pub(crate) fn during<R>(&self, engine: &Engine, call: impl FnOnce() -> R) -> R {
        CALL.set(Call::default());
        let start = Instant::now();
        let result = call();
        let call = CALL.get();
        if call.sent + call.received > 0 {
            self.add(engine, &call, start.elapsed().saturating_sub(call.coding));
        }
        result
    }

    fn add(&self, engine: &Engine, call: &Call, waited: Duration) {
        let sent = self.sent.fetch_add(call.sent, Relaxed) + call.sent;
        let received = self.received.fetch_add(call.received, Relaxed) + call.received;
        self.waited_ns.fetch_add(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        if sent.max(received) >= ENOUGH {
            // Another thread may add something meanwhile, which then counts for the next time.
            let (sent, received) = (self.sent.swap(0, Relaxed), self.received.swap(0, Relaxed));
            let waited = Duration::from_nanos(self.waited_ns.swap(0, Relaxed));
            engine.waited(usize::try_from(sent.max(received)).unwrap_or(usize::MAX), waited);
        }
    }
}
