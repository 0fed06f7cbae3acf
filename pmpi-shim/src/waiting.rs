//! Measures how long this rank waits for long messages, from which the selector learns the bandwidth.
//!
//! Only waiting calls count in which long frames were completely sent or received. The time for encoding and decoding in these calls is
//! subtracted.

use mpress::Engine;
use std::cell::Cell;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Default)]
struct Call {
    sent: usize,
    received: usize,
    coding: Duration,
}

thread_local! {
    /// What has happened in this thread's current call.
    static CALL: Cell<Call> = const { Cell::new(Call { sent: 0, received: 0, coding: Duration::ZERO }) };
}

/// A frame of this many bytes has been sent.
pub(crate) fn sent(bytes: usize) {
    if Engine::counts(bytes) {
        CALL.set(Call { sent: CALL.get().sent + bytes, ..CALL.get() });
    }
}

/// A frame of this many bytes has been received.
pub(crate) fn received(bytes: usize) {
    if Engine::counts(bytes) {
        CALL.set(Call { received: CALL.get().received + bytes, ..CALL.get() });
    }
}

/// Does work that does not count as waiting.
pub(crate) fn coding<R>(work: impl FnOnce() -> R) -> R {
    let (start, before) = (Instant::now(), CALL.get().coding);
    let result = work();
    // Work within this work has been added already.
    CALL.set(Call { coding: before + start.elapsed(), ..CALL.get() });
    result
}

/// Makes a call that may wait for messages.
pub(crate) fn during<R>(engine: &Engine, call: impl FnOnce() -> R) -> R {
    CALL.set(Call::default());
    let start = Instant::now();
    let result = call();
    let call = CALL.get();
    if call.sent + call.received > 0 {
        engine.waited(call.sent, call.received, start.elapsed().saturating_sub(call.coding));
    }
    result
}
