//! The last calls, and numbers that stand for the last few of them.

use super::events::{Event, NONE};
use super::hash;
use alloc::boxed::Box;

/// Calls that are remembered; a power of two.
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
///
/// What leaves is taken out as it came in: the number of an event may mean another one by then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rolling<const N: usize> {
    values: [u64; N],
    /// What a value has been multiplied by when it leaves.
    leaving: [u64; N],
    lengths: [usize; N],
    /// What the last ones that came were added as, by their number modulo its length.
    window: [u64; WINDOW],
    /// How many came.
    count: usize,
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// More than any of the lengths; a power of two.
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

    /// Takes what the newest call is.
    pub(super) fn push(&mut self, newest: u16) {
        let newest = hash(u64::from(newest) + 1);
        for ((value, leaving), len) in self.values.iter_mut().zip(self.leaving).zip(self.lengths) {
            // Nothing where there were fewer than that.
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
