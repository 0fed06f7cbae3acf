//! A place in the past where it went as it goes now: what came there next is expected.

use super::hash;
use super::history::{HISTORY, History};
use alloc::boxed::Box;

/// Places that are known of contexts, a power of two.
const PLACES: usize = 2048;
/// Lengths of the contexts that places are found by, the longest first.
pub(super) const LENGTHS: [usize; 2] = [20, 6];
/// From this length on a place is not given up for another.
const FAITHFUL: u32 = 20;
/// The bits of a call, modulo the length of the history.
const CALL: u16 = HISTORY as u16 - 1;
/// How far back two places are compared.
const COMPARED: usize = 32;

/// Follows a place in the history.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    /// The number of the call that came in the past where the next one comes now.
    place: u64,
    /// Calls that have gone alike before.
    len: u32,
    /// The last place after a context, modulo the length of the history, and above that a check of the context.
    places: Box<[u16; PLACES]>,
}

impl Follower {
    pub(super) fn new() -> Self {
        Self { place: 0, len: 0, places: Box::new([0; PLACES]) }
    }

    /// The call that is followed, if there is one, and how sure that is.
    pub(super) fn expected(&self, history: &History) -> Option<(u64, u8)> {
        let known = self.place < history.now() && history.now() - self.place < HISTORY as u64;
        known.then(|| (self.place, (32 - self.len.leading_zeros()).min(15) as u8))
    }

    /// Calls that have gone alike up to now.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// After a call: `hit`, whether it went as in the place that was followed; `alike`, whether two calls of the history
    /// are alike; `contexts`, of `LENGTHS`.
    pub(super) fn advance(
        &mut self,
        history: &History,
        hit: bool,
        alike: impl Fn(u64, u64) -> bool,
        contexts: [u64; LENGTHS.len()],
    ) {
        let now = history.now();
        self.place += 1;
        self.len = if hit { self.len.saturating_add(1) } else { 0 };
        let known = self.place < now && now - self.place < HISTORY as u64;
        if !known {
            self.len = 0;
        }
        for (context, length) in contexts.into_iter().zip(LENGTHS) {
            let mixed = hash(context ^ length as u64);
            let slot = &mut self.places[(mixed >> 32) as usize % PLACES];
            let entry = (mixed >> 48) as u16 & !CALL | (now % HISTORY as u64) as u16;
            let known = core::mem::replace(slot, entry);
            // Most others in the same place are told by their check: to compare calls costs more.
            if (known ^ entry) & !CALL == 0 && (self.len as usize) < length {
                // The youngest call of this number, modulo the length of the history.
                let back = u64::from(entry.wrapping_sub(known) & CALL);
                let place = now.wrapping_sub(back);
                if back > 0 && place < now && place != self.place {
                    let most = COMPARED.min(place as usize);
                    let len = (1..=most as u64).take_while(|at| alike(place - at, now - at)).count() as u32;
                    if len > self.len && (self.len < FAITHFUL) {
                        self.place = place;
                        self.len = len;
                    }
                }
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.places)
    }
}
