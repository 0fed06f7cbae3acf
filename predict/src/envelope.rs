//! What tells receive calls apart: six arguments of theirs (5.0), and numbers in place of them.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;

/// The 6-tuple of a receive call: its arguments without status and request.
///
/// Wildcards are values as others: what a call asked for counts, not what it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Envelope {
    /// Address of the receive buffer.
    pub buffer: u64,
    /// Elements at most.
    pub count: u64,
    /// Rank in the communicator; negative for wildcards and for no process, whatever the numbers for them.
    pub source: i32,
    /// Tag of the message; negative for the wildcard.
    pub tag: i32,
    /// A number that the caller has given to the datatype.
    pub datatype: u32,
    /// A number that the caller has given to the communicator.
    pub comm: u32,
}

/// A number for each different message.
pub type Id = u32;

/// Gives numbers to values, 0 to the first; the same to the same.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    ids: BTreeMap<T, Id>,
    most: Id,
}

impl<T: Ord> Interner<T> {
    /// Of at most `most` different values.
    #[must_use]
    pub fn new(most: Id) -> Self {
        Self { ids: BTreeMap::new(), most }
    }

    /// The number of a value; `None` if it would be one too many.
    pub fn intern(&mut self, value: T) -> Option<Id> {
        let next = Id::try_from(self.ids.len()).ok().filter(|id| *id < self.most);
        match self.ids.entry(value) {
            Entry::Occupied(entry) => Some(*entry.get()),
            Entry::Vacant(entry) => Some(*entry.insert(next?)),
        }
    }

    /// How many different values there were.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there were none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}
