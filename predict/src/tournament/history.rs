//! The last calls, and numbers that stand for the last few of them.

use super::events::{Event, NONE};
use super::hash;
use alloc::vec;
use alloc::vec::Vec;

/// Calls that are remembered; a power of two.
pub(super) const HISTORY: usize = 4096;

/// The events of the last calls.
#[derive(Clone, Debug)]
pub(super) struct History {
    events: Vec<Event>,
    now: u64,
}

impl History {
    pub(super) fn new() -> Self {
        Self { events: vec![NONE; HISTORY], now: 0 }
    }

    /// How many calls there were; the number of the next.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// The event of a call.
    pub(super) fn event(&self, call: u64) -> Event {
        self.events[call as usize % HISTORY]
    }

    pub(super) fn push(&mut self, event: Event) {
        self.events[self.now as usize % HISTORY] = event;
        self.now += 1;
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.events)
    }
}

/// Numbers for the last calls, as many as each of some lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rolling<const N: usize> {
    values: [u64; N],
    /// What a value has been multiplied by when it leaves.
    leaving: [u64; N],
    lengths: [u64; N],
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl<const N: usize> Rolling<N> {
    pub(super) fn new(lengths: [usize; N]) -> Self {
        Self {
            values: [0; N],
            leaving: lengths.map(|len| FACTOR.wrapping_pow(len as u32)),
            lengths: lengths.map(|len| len as u64),
        }
    }

    pub(super) fn values(&self) -> [u64; N] {
        self.values
    }

    /// Takes the newest call of a history, by what `of` says of calls.
    pub(super) fn push(&mut self, history: &History, of: impl Fn(u64) -> u16) {
        let term = |call: u64| hash(u64::from(of(call)) + 1);
        let Some(newest) = history.now().checked_sub(1) else { return };
        let came = term(newest);
        for ((value, leaving), len) in self.values.iter_mut().zip(self.leaving).zip(self.lengths) {
            *value = value.wrapping_mul(FACTOR).wrapping_add(came);
            if let Some(oldest) = newest.checked_sub(len) {
                *value = value.wrapping_sub(term(oldest).wrapping_mul(leaving));
            }
        }
    }
}
