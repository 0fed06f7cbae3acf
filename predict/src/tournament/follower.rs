//! Follows a place in the past that resembles the present, and predicts the call that came next there.

use super::hash;
use super::history::{HISTORY, History};
use alloc::boxed::Box;

/// The number of places in the table; a power of two.
const PLACES: usize = 2048;
/// The context lengths by which places are found, longest first.
pub(super) const LENGTHS: [usize; 2] = [20, 6];
/// A place with a match of at least this length is not replaced.
const FAITHFUL: u32 = 20;
/// The bits of a call's number modulo the length of the history.
const CALL: u16 = HISTORY as u16 - 1;
/// The maximum number of calls by which two places are compared.
const COMPARED: usize = 32;

/// Follows a place in the history.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    /// The number of the past call that corresponds to the next one.
    place: u64,
    /// The length of the match: the number of previous calls that agree.
    len: u32,
    /// For each context, the place after its last occurrence, modulo the length of the history, with a check of the context in the bits above.
    places: Box<[u16; PLACES]>,
}

impl Follower {
    pub(super) fn new() -> Self {
        Self { place: 0, len: 0, places: Box::new([0; PLACES]) }
    }

    /// The call that is followed, if any, and the confidence.
    pub(super) fn expected(&self, history: &History) -> Option<(u64, u8)> {
        let known = self.place < history.now() && history.now() - self.place < HISTORY as u64;
        known.then(|| (self.place, (32 - self.len.leading_zeros()).min(15) as u8))
    }

    /// The length of the match.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Advances after a call. `hit`: the call agreed with the followed place; `alike`: compares two calls of the history; `contexts`: hashes over
    /// `LENGTHS`.
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
            // The check excludes most other contexts more cheaply than comparing calls.
            if (known ^ entry) & !CALL == 0 && (self.len as usize) < length {
                // The most recent call with this number, modulo the length of the history.
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
