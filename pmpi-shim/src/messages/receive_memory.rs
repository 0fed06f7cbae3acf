//! Pending receives that the MPI writes directly to the program's memory. A frame stays there until it is decoded, so nothing else may be written
//! there before. Where receives share memory, later ones use our own buffer ([`ReceiveMemory::claim`]), and their messages are kept until nothing is
//! pending there any more ([`ReceiveMemory::keep`]). `README.md`, "Receives that share memory", says why.
//!
//! Receives that cannot bring a frame are left to the MPI and not tracked here.

mod landing;

use crate::mpi::span::{OwnedType, Span, bounds};
use mpress::Buffer;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::{collections::BTreeMap, ops::Range};

/// The memory of a receive.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// As a span of bytes, if contiguous.
    pub(super) span: Span,
    /// In bytes.
    pub(super) capacity: usize,
    /// Whether the bytes of a message have the same order in memory as on the wire, and the host may read them.
    pub(super) contiguous: bool,
}

impl Memory {
    /// None.
    pub(crate) fn nothing() -> Self {
        Self { span: Span::nothing(), capacity: 0, contiguous: true }
    }

    /// Its address range. For a datatype with gaps only the first byte counts: the columns of an array interleave, but share no memory.
    fn range(&self) -> Range<usize> {
        let start = self.span.ptr().addr();
        if self.contiguous {
            return start..start.saturating_add(self.capacity);
        }
        let lower = bounds(self.span.datatype()).map_or(0, |bounds| bounds.true_lb);
        let first = start.wrapping_add_signed(lower);
        first..first.saturating_add(1)
    }
}

/// Number of shared ranges of memory that are remembered.
const MOST_SHARED: usize = 64;

/// A message that has come, for memory in which another receive is pending.
struct Waiting {
    memory: Memory,
    message: Buffer,
    /// A reference to the datatype.
    _held: Option<OwnedType>,
}

/// The pending receives, and what waits for them.
#[derive(Default)]
pub(crate) struct ReceiveMemory {
    /// By the start of a receive's memory, its end and the number of the claim. The ranges do not overlap.
    pending: Mutex<BTreeMap<usize, (usize, usize)>>,
    /// Whether there may be claims of receives that are over.
    distrusts: AtomicBool,
    /// Ranges in which receives have overlapped, the latest last.
    shared: Mutex<Vec<Range<usize>>>,
    count: AtomicUsize,
    /// Messages that wait, in the order in which they came. Locked while they are written: the program may use its memory again only after that.
    kept: Mutex<Vec<Waiting>>,
    /// Whether there are any.
    has_kept: AtomicBool,
}

/// Exclusive use of a receive's memory, until dropped.
pub(crate) struct Claim {
    all: Arc<ReceiveMemory>,
    start: usize,
    number: usize,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut pending = self.all.lock();
        if pending.get(&self.start).is_some_and(|(_, number)| *number == self.number) {
            pending.remove(&self.start);
        }
        self.all.count.store(pending.len() - 1, Ordering::Release);
    }
}

/// Whether a pending receive overlaps this range. They do not overlap each other, so at most one begins before it.
fn overlaps(pending: &BTreeMap<usize, (usize, usize)>, range: &Range<usize>) -> bool {
    let mut before = pending.range(..range.start);
    before.next_back().is_some_and(|(_, (end, _))| *end > range.start)
        || pending.range(range.clone()).next().is_some()
}

impl ReceiveMemory {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, (usize, usize)>> {
        crate::locked(&self.pending)
    }

    /// Whether this memory overlaps that of a pending receive.
    pub(crate) fn overlaps(&self, memory: &Memory) -> bool {
        self.count.load(Ordering::Acquire) > 0 && overlaps(&self.lock(), &memory.range())
    }

    /// Claims this memory for a receive to be posted; `None` if receives share it, or have done so before: programs that share memory once do it
    /// again.
    pub(crate) fn claim(self: &Arc<Self>, memory: &Memory) -> Option<Claim> {
        let range = memory.range();
        let mut shared = crate::locked(&self.shared);
        if shared.iter().any(|known| known.start < range.end && range.start < known.end) {
            return None;
        }
        let claim = self.hold(&range);
        if claim.is_none() {
            if shared.len() == MOST_SHARED {
                shared.remove(0);
            }
            shared.push(range);
        }
        claim
    }

    /// Claims this memory; `None` if it overlaps that of a pending receive.
    fn hold(self: &Arc<Self>, range: &Range<usize>) -> Option<Claim> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mut pending = self.lock();
        if overlaps(&pending, range) {
            if !self.distrusts.load(Ordering::Relaxed) {
                return None;
            }
            // The program may not post a receive where another one is pending: that one is over.
            pending.retain(|start, (end, _)| *end <= range.start || range.end <= *start);
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // An entry beyond all addresses: a map that is never empty keeps its allocation.
        pending.entry(usize::MAX).or_insert((usize::MAX, usize::MAX));
        pending.insert(range.start, (range.end, number));
        self.count.store(pending.len() - 1, Ordering::Release);
        Some(Claim { all: Arc::clone(self), start: range.start, number })
    }

    /// A call was left by a jump, and its claims remain. Messages that wait for claims to end are dropped: the program may have taken back their
    /// memory.
    pub(crate) fn distrust(&self) {
        self.distrusts.store(true, Ordering::Relaxed);
        crate::locked(&self.kept).clear();
        self.has_kept.store(false, Ordering::Release);
    }

    /// Whether a message may be written to this memory now: if so, nothing else is while the claim lives.
    pub(crate) fn free(self: &Arc<Self>, memory: &Memory) -> Option<Claim> {
        self.hold(&memory.range())
    }
}
