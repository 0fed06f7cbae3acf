//! What followed a context: the events before, or those at a call site.

use super::events::{Event, NONE};
use super::hash;
use alloc::boxed::Box;

/// Contexts that are known at a time; a power of two.
const CONTEXTS: usize = 2048;
/// An entry is never surer than this.
const SUREST: u8 = 14;

/// What mostly followed a context.
#[derive(Clone, Copy, Debug)]
struct Entry {
    event: Event,
    /// Of the context, to tell it from others in the same place.
    check: u8,
    sure: u8,
}

/// The table of all contexts.
#[derive(Clone, Debug)]
pub(super) struct Contexts {
    entries: Box<[Entry; CONTEXTS]>,
}

/// A context, by the numbers that it is looked up with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    place: u16,
    check: u8,
}

impl Context {
    /// That of an expert, of a history.
    pub(super) fn new(expert: usize, history: u64) -> Self {
        let mixed = hash(history ^ (expert as u64 + 1) << 56);
        Self { place: (mixed >> 40) as u16 % CONTEXTS as u16, check: (mixed >> 56) as u8 }
    }
}

impl Contexts {
    pub(super) fn new() -> Self {
        Self { entries: Box::new([Entry { event: NONE, check: 0, sure: 0 }; CONTEXTS]) }
    }

    /// What is expected after a context, and how sure that is.
    pub(super) fn after(&self, context: Context) -> Option<(Event, u8)> {
        let entry = self.entries[usize::from(context.place)];
        (entry.check == context.check && entry.event != NONE).then_some((entry.event, entry.sure))
    }

    /// What followed it. If the event is `new`, an entry of its number is about another event, and was wrong.
    pub(super) fn learn(&mut self, context: Context, event: Event, new: bool) {
        let entry = &mut self.entries[usize::from(context.place)];
        // No branches: which of these it is cannot be foreseen where the calls cannot.
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
