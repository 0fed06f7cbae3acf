//! For how many calls a vote stands, and for how many a collective is left to the MPI.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The outcome of the last vote, and for how many blocking calls it stands. Every rank counts alike.
#[derive(Default)]
pub(super) struct Vote {
    pub(super) short: AtomicBool,
    pub(super) left: AtomicU32,
    next: AtomicU32,
}

impl Vote {
    /// Whether it stands for this call.
    pub(super) fn stands(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// An outcome stands for twice as many calls as the one before, if it is the same.
    pub(super) fn learn(&self, short: bool) {
        let same = self.short.swap(short, Ordering::Relaxed) == short;
        let next = if same { (2 * self.next.load(Ordering::Relaxed)).clamp(1, LONGEST) } else { 1 };
        self.next.store(next, Ordering::Relaxed);
        self.left.store(next, Ordering::Relaxed);
    }
}

/// How long a collective is left to the MPI. Every rank sees the same outcomes and comes to the same numbers.
#[derive(Default)]
pub(crate) struct Pause {
    left: AtomicU32,
    next: AtomicU32,
}

/// The longest pause, in calls.
const LONGEST: u32 = 128;

impl Pause {
    /// Whether this call is left to the MPI.
    pub(crate) fn takes(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// Something got shorter in this call, or nothing: then there is a pause, twice as long each time.
    pub(crate) fn learn(&self, shorter: bool) {
        let next = if shorter { 0 } else { (2 * self.next.load(Ordering::Relaxed)).clamp(1, LONGEST) };
        self.next.store(next, Ordering::Relaxed);
        self.left.store(next, Ordering::Relaxed);
    }
}
