//! Measures how long this rank waits for long messages, from which the selector learns the bandwidth.
//!
//! Only waiting calls count in which long frames were completely sent or received. The time for encoding and decoding in these calls is
//! subtracted.

use mpress::Engine;
use std::cell::Cell;
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
struct Call {
    /// The number of this call among the waiting calls of this thread, and whether it has not returned yet.
    number: u64,
    waits: bool,
    sent: usize,
    received: usize,
    /// Bytes of chunks.
    came: usize,
    coding: Duration,
}

impl Call {
    const NONE: Self =
        Self { number: 0, waits: false, sent: 0, received: 0, came: 0, coding: Duration::ZERO };
}

thread_local! {
    /// What has happened in this thread's current call.
    static CALL: Cell<Call> = const { Cell::new(Call::NONE) };
}

/// A moment in a waiting call.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    call: u64,
    at: Instant,
    came: usize,
}

impl Moment {
    pub(crate) fn at(&self) -> Instant {
        self.at
    }

    /// The bytes of chunks that came since an earlier moment, and the time; `None` if that was in another call.
    pub(crate) fn since(&self, earlier: &Self) -> Option<(usize, Duration)> {
        (self.call == earlier.call).then(|| (self.came - earlier.came, self.at - earlier.at))
    }
}

/// A chunk of this many bytes has come. Returns this moment, if it is in a waiting call.
pub(crate) fn came(bytes: usize) -> Option<Moment> {
    let call = Call { came: CALL.get().came + bytes, ..CALL.get() };
    CALL.set(call);
    call.waits.then(|| Moment { call: call.number, at: Instant::now(), came: call.came })
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
    let number = CALL.get().number + 1;
    CALL.set(Call { number, waits: true, ..Call::NONE });
    let start = Instant::now();
    let result = call();
    let call = CALL.get();
    CALL.set(Call { waits: false, ..call });
    if call.sent + call.received > 0 {
        engine.waited(call.sent, call.received, start.elapsed().saturating_sub(call.coding));
    }
    result
}
