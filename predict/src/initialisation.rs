//! The initialisation phase (6.1.1): calls that never come again are skipped.

use crate::Tag;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A cycle of this length or shorter does not end the phase. The paper takes "greater than 5", "so as not to form a
/// small cycle".
const SHORT: usize = 5;

/// The calls before the first cycle, and those of it.
pub(crate) type Phase<'a, M> = (&'a [(Tag, M)], &'a [(Tag, M)]);

/// Looks for the first cycle of more than five calls, whatever its head.
///
/// A call ends the phase if the same message came more than five calls before it. The cycle is what lies between; of
/// several such places the last one, so the cycle is no longer than it must be.
#[derive(Clone, Debug)]
pub(crate) struct Initialisation<M> {
    log: Vec<(Tag, M)>,
    /// The last place of each message that is more than `SHORT` calls before the next.
    places: BTreeMap<M, usize>,
}

impl<M> Default for Initialisation<M> {
    fn default() -> Self {
        Self { log: Vec::new(), places: BTreeMap::new() }
    }
}

impl<M: Copy + Ord> Initialisation<M> {
    /// Takes a call; returns what the phase has seen if the call closes the first cycle. The call itself, which is the head
    /// again, is not in it.
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
