//! The guided strategy: the decisions of one run, replayed in the next without reading messages (Adaptive-CoMPI; PRAcTICaL-MPI, section 3).

use crate::decision::Choice;
use crate::size::SizeClass;
use alloc::boxed::Box;
use mpress_codec::Kind;

/// A recorded decision for messages of a kind and size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guide {
    /// The kind of the messages.
    pub kind: Kind,
    /// Their length.
    pub size: SizeClass,
    /// The decision.
    pub choice: Choice,
}

/// Decides by the record of an earlier run. A decision takes one table lookup.
#[derive(Clone, Debug)]
pub struct Guided {
    table: Box<[[Choice; SizeClass::COUNT]; Kind::ALL.len()]>,
}

impl Guided {
    /// Makes a guide from the record of a run. If two entries are for the same messages, the later one counts. If a length has no record, its
    /// messages are treated like the nearest shorter ones in the record if these are at most an octave away. Otherwise they are sent raw, because
    /// the adaptive strategy found such messages too short to read.
    #[must_use]
    pub fn new(record: impl IntoIterator<Item = Guide>) -> Self {
        let mut known = [[None; SizeClass::COUNT]; Kind::ALL.len()];
        for guide in record {
            known[guide.kind as usize][guide.size.index()] = Some(guide.choice);
        }
        let near = |sizes: &[Option<Choice>; SizeClass::COUNT], at: usize| {
            let candidates = [Some(at), at.checked_sub(1), at.checked_sub(2)];
            candidates.into_iter().flatten().find_map(|at| *sizes.get(at)?).unwrap_or(Choice::Raw)
        };
        let table = known.map(|sizes| core::array::from_fn(|at| near(&sizes, at)));
        Self { table: Box::new(table) }
    }

    /// Decides what to do with a message of this number of bytes.
    #[inline]
    #[must_use]
    pub fn decide(&self, kind: Kind, len: usize) -> Choice {
        self.table[kind as usize][SizeClass::of(len).index()]
    }
}
