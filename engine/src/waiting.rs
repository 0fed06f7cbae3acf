//! Measures how long a process waits for long messages; the selector learns the bandwidth from this. A message layer makes its waiting calls with
//! [`during`], and reports what was sent, received, encoded and decoded in them.
//!
//! A waiting call counts only if long frames were completely sent or received in it ([`Engine::waited`]). The time for encoding and decoding in these
//! calls is subtracted. For messages in chunks, [`Pace`] measures how fast they arrive ([`Engine::arrived`]).

mod pace;
mod patience;

pub use pace::Pace;
pub use patience::{Patience, Wait};

use crate::engine::Engine;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
struct Call {
    /// The number of this call among the waiting calls of all threads; 0 outside of them.
    number: u64,
    sent: usize,
    received: usize,
    /// Bytes of chunks.
    came: usize,
    coding: Duration,
}

impl Call {
    const NONE: Self = Self { number: 0, sent: 0, received: 0, came: 0, coding: Duration::ZERO };
}

thread_local! {
    /// What has happened in this thread's current call.
    static CALL: Cell<Call> = const { Cell::new(Call::NONE) };
}

/// A moment in a waiting call.
#[derive(Clone, Copy, Debug)]
struct Moment {
    call: u64,
    at: Instant,
    came: usize,
    coding: Duration,
}

impl Moment {
    /// The chunks that arrived since an earlier moment: their bytes, the time, and how much of it was spent coding; `None` if that was in another call.
    fn since(&self, earlier: &Self) -> Option<(usize, Duration, Duration)> {
        let is_later = self.call == earlier.call && self.came >= earlier.came;
        is_later.then(|| {
            let time = self.at.saturating_duration_since(earlier.at);
            (self.came - earlier.came, time, self.coding.saturating_sub(earlier.coding))
        })
    }
}

/// The number of the current waiting call; 0 outside of one.
fn call() -> u64 {
    CALL.get().number
}

/// Counts the arrival of a chunk of this many bytes. Returns this moment, if it is in a waiting call.
fn arrived(bytes: usize) -> Option<Moment> {
    let before = CALL.get();
    let came = before.came + bytes;
    CALL.set(Call { came, ..before });
    let Call { number: call, coding, .. } = before;
    (call > 0).then(|| Moment { call, at: Instant::now(), came, coding })
}

/// Reports that a frame of this many bytes, or all of a message in chunks, has been sent.
pub fn sent(bytes: usize) {
    if Engine::counts(bytes) {
        CALL.set(Call { sent: CALL.get().sent + bytes, ..CALL.get() });
    }
}

/// Reports that a frame of this many bytes, or all of a message in chunks, has been received.
pub fn received(bytes: usize) {
    if Engine::counts(bytes) {
        CALL.set(Call { received: CALL.get().received + bytes, ..CALL.get() });
    }
}

/// Does work that does not count as waiting, such as encoding.
pub fn coding<R>(work: impl FnOnce() -> R) -> R {
    if call() == 0 {
        // Nothing waits.
        return work();
    }
    let (start, before) = (Instant::now(), CALL.get().coding);
    let result = work();
    // Work within this work has been added already.
    CALL.set(Call { coding: before + start.elapsed(), ..CALL.get() });
    result
}

/// Makes a call that may wait for a message of this many bytes.
pub fn during_long<R>(engine: &Engine, bytes: usize, call: impl FnOnce() -> R) -> R {
    // The time of a shorter one is not counted.
    if Engine::counts(bytes) { during(engine, call) } else { call() }
}

/// Makes a call that may wait for messages. What this thread sends and receives in the meantime, and the time, count for this engine.
pub fn during<R>(engine: &Engine, call: impl FnOnce() -> R) -> R {
    /// The number of the next call.
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    /// Continues the outer call, also if this one panics.
    struct Outer(Call);
    impl Drop for Outer {
        fn drop(&mut self) {
            CALL.set(self.0);
        }
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let outer = Outer(CALL.replace(Call { number, ..Call::NONE }));
    let start = Instant::now();
    let result = call();
    let call = CALL.get();
    drop(outer);
    if call.sent + call.received > 0 {
        engine.waited(call.sent, call.received, start.elapsed().saturating_sub(call.coding));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The moments at which two chunks arrive in one call.
    fn two_chunks() -> [Moment; 2] {
        during(&Engine::default(), || [1000, 500].map(|bytes| arrived(bytes).unwrap()))
    }

    #[test]
    fn moments_of_different_calls_and_threads_are_not_compared() {
        let [first, last] = two_chunks();
        assert_eq!(last.since(&first).map(|(bytes, ..)| bytes), Some(500));
        assert!(arrived(7).is_none(), "outside of a call");
        let elsewhere = std::thread::spawn(two_chunks).join().unwrap();
        for other in two_chunks().into_iter().chain(elsewhere) {
            assert!(other.since(&first).is_none() && last.since(&other).is_none());
        }
    }

    #[test]
    fn a_call_within_a_call_does_not_end_it() {
        let bytes = during(&Engine::default(), || {
            let first = arrived(1000).unwrap();
            two_chunks();
            arrived(300).unwrap().since(&first).map(|(bytes, ..)| bytes)
        });
        assert_eq!(bytes, Some(300));
    }
}
