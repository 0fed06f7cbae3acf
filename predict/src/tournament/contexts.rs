//! What followed a context: the previous events, or those at a call site.

use super::events::{Event, NONE};
use super::hash;
use alloc::boxed::Box;

/// The number of contexts in the table; a power of two.
const CONTEXTS: usize = 2048;
/// The maximum confidence of an entry.
const SUREST: u8 = 14;

/// The event that usually followed a context.
#[derive(Clone, Copy, Debug)]
struct Entry {
    event: Event,
    /// A check of the context, to distinguish it from others in the same place.
    check: u8,
    sure: u8,
}

/// The table of all contexts.
#[derive(Clone, Debug)]
pub(super) struct Contexts {
    entries: Box<[Entry; CONTEXTS]>,
}

/// A context: its place in the table and its check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    place: u16,
    check: u8,
}

impl Context {
    /// The context of an expert for a history.
    pub(super) fn new(expert: usize, history: u64) -> Self {
        let mixed = hash(history ^ (expert as u64 + 1) << 56);
        Self { place: (mixed >> 40) as u16 % CONTEXTS as u16, check: (mixed >> 56) as u8 }
    }
}

impl Contexts {
    pub(super) fn new() -> Self {
        Self { entries: Box::new([Entry { event: NONE, check: 0, sure: 0 }; CONTEXTS]) }
    }

    /// The event predicted for a context, and the confidence.
    pub(super) fn after(&self, context: Context) -> Option<(Event, u8)> {
        let entry = self.entries[usize::from(context.place)];
        (entry.check == context.check && entry.event != NONE).then_some((entry.event, entry.sure))
    }

    /// Records the event that followed a context. If the event is `new`, an entry with its number referred to another event and was wrong.
    pub(super) fn learn(&mut self, context: Context, event: Event, new: bool) {
        let entry = &mut self.entries[usize::from(context.place)];
        // No branches, because which case applies is as unpredictable as the calls.
        let same = (entry.check == context.check) & (entry.event == event);
        let replaced = !same & ((entry.sure == 0) | (entry.event == NONE));
        let surer = if new { 0 } else { (entry.sure + 1).min(SUREST) };
        entry.sure = if same { surer } else { entry.sure / 2 };
        entry.event = if replaced { event } else { entry.event };
        entry.check = if replaced { context.check } else { entry.check };
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }
}
