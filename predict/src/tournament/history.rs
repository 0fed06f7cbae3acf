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

/// A number for the last calls, as many as its length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rolling {
    value: u64,
    /// What a value has been multiplied by when it leaves.
    leaving: u64,
    len: u64,
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Rolling {
    pub(super) fn new(len: usize) -> Self {
        Self { value: 0, leaving: FACTOR.wrapping_pow(len as u32), len: len as u64 }
    }

    pub(super) fn value(&self) -> u64 {
        self.value
    }

    /// Takes the newest call of a history, by what `of` says of calls.
    pub(super) fn push(&mut self, history: &History, of: impl Fn(u64) -> u16) {
        let term = |call: u64| hash(u64::from(of(call)) + 1);
        let Some(newest) = history.now().checked_sub(1) else { return };
        self.value = self.value.wrapping_mul(FACTOR).wrapping_add(term(newest));
        if let Some(oldest) = newest.checked_sub(self.len) {
            self.value = self.value.wrapping_sub(term(oldest).wrapping_mul(self.leaving));
        }
    }
}
