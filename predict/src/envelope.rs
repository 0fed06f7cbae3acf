//! The identity of receive calls: six of their arguments (5.0), or numbers that stand for them.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;

/// The 6-tuple of a receive call: its arguments without status and request.
///
/// Wildcards are ordinary values: the tuple contains what the call asked for, not what it received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Envelope {
    /// Address of the receive buffer.
    pub buffer: u64,
    /// The maximum number of elements.
    pub count: u64,
    /// Rank in the communicator; negative for wildcards and for `MPI_PROC_NULL`, with any value the MPI uses.
    pub source: i32,
    /// Tag of the message; negative for the wildcard.
    pub tag: i32,
    /// A number assigned to the datatype by the caller.
    pub datatype: u32,
    /// A number assigned to the communicator by the caller.
    pub comm: u32,
}

/// The number of a distinct message.
pub type Id = u32;

/// Assigns numbers to values, from 0 on; equal values get the same number.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    ids: BTreeMap<T, Id>,
    most: Id,
}

impl<T: Ord> Interner<T> {
    /// An interner for at most `most` distinct values.
    #[must_use]
    pub fn new(most: Id) -> Self {
        Self { ids: BTreeMap::new(), most }
    }

    /// The number of a value; `None` if there are too many distinct values.
    pub fn intern(&mut self, value: T) -> Option<Id> {
        let next = Id::try_from(self.ids.len()).ok().filter(|id| *id < self.most);
        match self.ids.entry(value) {
            Entry::Occupied(entry) => Some(*entry.get()),
            Entry::Vacant(entry) => Some(*entry.insert(next?)),
        }
    }

    /// The number of distinct values so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there were no values yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}
