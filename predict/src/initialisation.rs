//! The initialisation phase (6.1.1): skips calls that never recur.

use crate::Tag;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A cycle up to this length does not end the phase. The paper uses "greater than 5", "so as not to form a small cycle".
const SHORT: usize = 5;

/// The calls before the first cycle, and the calls of the cycle.
pub(crate) type Phase<'a, M> = (&'a [(Tag, M)], &'a [(Tag, M)]);

/// Looks for the first cycle of more than five calls, with any head.
///
/// A call ends the phase if the same message occurred more than five calls earlier. The cycle consists of the calls from there on. If there are
/// several such places, the last one counts, so the cycle is as short as possible.
#[derive(Clone, Debug)]
pub(crate) struct Initialisation<M> {
    log: Vec<(Tag, M)>,
    /// For each message, its last position that is more than `SHORT` calls before the next call.
    places: BTreeMap<M, usize>,
}

impl<M> Default for Initialisation<M> {
    fn default() -> Self {
        Self { log: Vec::new(), places: BTreeMap::new() }
    }
}

impl<M: Copy + Ord> Initialisation<M> {
    /// Adds a call. If it closes the first cycle, returns the calls of the phase, without this call, which is the head again.
    pub(crate) fn observe(&mut self, tag: Tag, message: M) -> Option<Phase<'_, M>> {
        let now = self.log.len();
        if let Some(far) = now.checked_sub(SHORT + 1)
            && let Some(&(_, message)) = self.log.get(far)
        {
            self.places.insert(message, far);
        }
        if let Some(&head) = self.places.get(&message) {
            return self.log.split_at_checked(head);
        }
        self.log.push((tag, message));
        None
    }
}
