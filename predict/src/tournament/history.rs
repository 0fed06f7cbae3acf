//! The last calls, and hashes of the last few of them.

use super::events::{Event, NONE};
use super::hash;
use alloc::boxed::Box;

/// The number of calls kept; a power of two.
pub(super) const HISTORY: usize = 4096;

/// The events of the last calls.
#[derive(Clone, Debug)]
pub(super) struct History {
    events: Box<[Event; HISTORY]>,
    now: u64,
}

impl History {
    pub(super) fn new() -> Self {
        Self { events: Box::new([NONE; HISTORY]), now: 0 }
    }

    /// The number of calls so far, which is the number of the next one.
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

/// Hashes of the last calls, for several lengths.
///
/// An item is removed with the value with which it was added, because an event's number may be reassigned in
/// between.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rolling<const N: usize> {
    values: [u64; N],
    /// The factor by which an item has been multiplied when it leaves.
    leaving: [u64; N],
    lengths: [usize; N],
    /// The values with which the last items were added, by item number modulo the window.
    window: [u64; WINDOW],
    /// The number of items so far.
    count: usize,
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// Greater than each length; a power of two.
const WINDOW: usize = 32;

impl<const N: usize> Rolling<N> {
    pub(super) fn new(lengths: [usize; N]) -> Self {
        debug_assert!(lengths.iter().all(|len| *len < WINDOW));
        Self {
            values: [0; N],
            leaving: lengths.map(|len| FACTOR.wrapping_pow(len as u32)),
            lengths,
            window: [0; WINDOW],
            count: 0,
        }
    }

    pub(super) fn values(&self) -> [u64; N] {
        self.values
    }

    /// Adds the newest item.
    pub(super) fn push(&mut self, newest: u16) {
        let newest = hash(u64::from(newest) + 1);
        for ((value, leaving), len) in self.values.iter_mut().zip(self.leaving).zip(self.lengths) {
            // 0 if there were fewer items.
            let oldest = self.window[self.count.wrapping_sub(len) % WINDOW];
            *value =
                value.wrapping_mul(FACTOR).wrapping_add(newest).wrapping_sub(oldest.wrapping_mul(leaving));
        }
        self.window[self.count % WINDOW] = newest;
        self.count = self.count.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_same_last_calls_give_the_same_number_whatever_came_before() {
        let number = |before: &[u16]| {
            let mut rolling = Rolling::new([2, 6, 20]);
            before.iter().for_each(|value| rolling.push(*value));
            let later: Vec<u16> = (0..20).collect();
            later.iter().for_each(|value| rolling.push(*value));
            rolling.values()
        };
        let expected = number(&[]);
        assert_eq!(number(&[7; 100]), expected);
        assert_eq!(number(&(0..1000).collect::<Vec<_>>()), expected);
        assert!(expected[0] != expected[1] && expected[1] != expected[2]);
    }
}
