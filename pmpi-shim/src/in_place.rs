//! Pending receives that the MPI writes directly to the program's memory. A frame stays there until it is decoded, so nothing else may be
//! written there before.
//!
//! The standard forbids pending receives that share memory (MPI 3.1, section 3.7.2), but benchmarks post whole windows of receives into one
//! buffer. So
//!
//! - a receive whose memory overlaps that of a pending one uses our own buffer, and so does every later one in that memory
//!   ([`InPlace::claim`]);
//! - before a message is copied to memory of a receive that is still pending, what that one has received so far is saved
//!   ([`InPlace::land`], [`Covered`]).
//!
//! Receives that cannot bring a frame are left to the MPI and not tracked here.

mod landing;

use crate::covered::Covered;
use crate::span::Span;
use crate::sys::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The memory of a receive.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// As a span of bytes, if contiguous.
    pub(crate) span: Span,
    /// In bytes.
    pub(crate) capacity: usize,
    /// Whether the bytes of a message have the same order in memory as on the wire.
    pub(crate) contiguous: bool,
}

impl Memory {
    /// Its address range. For a datatype with gaps only the first byte counts: the columns of an array interleave, but share no memory.
    fn range(&self) -> Range<usize> {
        let start = self.span.ptr.addr();
        if self.contiguous {
            return start..start.saturating_add(self.capacity);
        }
        let (mut lower, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
        // SAFETY: a datatype of an MPI function's caller, and valid output pointers.
        unsafe { PMPI_Type_get_true_extent(self.span.datatype, &raw mut lower, &raw mut extent) };
        let first = start.wrapping_add(lower as usize);
        first..first.saturating_add(1)
    }
}

/// A pending receive.
struct Pending {
    end: usize,
    memory: Memory,
    covered: Covered,
    /// The received data has been taken out.
    taken: bool,
}

impl Pending {
    /// Records that bytes were copied to `address`, over a contiguous receive that begins at `start`.
    fn put(&mut self, address: usize, start: usize, before: &[u8], after: &[u8]) {
        let (from, end) = (start.saturating_sub(address), self.end.saturating_sub(address).min(after.len()));
        if let (Some(before), Some(after)) = (before.get(from..end), after.get(from..end)) {
            self.covered.put(address.saturating_sub(start), before, after);
        }
    }
}

/// Number of shared ranges of memory that are remembered.
const MOST_SHARED: usize = 64;

/// The pending receives, by start address of their memory. They do not overlap.
#[derive(Default)]
pub(crate) struct InPlace {
    pending: Mutex<BTreeMap<usize, Pending>>,
    /// Ranges in which receives have overlapped, the latest last.
    shared: Mutex<Vec<Range<usize>>>,
    count: AtomicUsize,
    /// Whether there is a shared range.
    is_shared: AtomicBool,
    /// Read-locked while a frame is taken out, write-locked while a message is copied over pending receives.
    landing: RwLock<()>,
}

/// Exclusive use of a receive's memory, until dropped.
pub(crate) struct Claim {
    all: Arc<InPlace>,
    start: usize,
}

impl Claim {
    /// Marks that what arrives there is not a frame any more, so it need not be saved.
    pub(crate) fn set_taken(&self) {
        if let Some(one) = self.all.lock().get_mut(&self.start) {
            one.taken = true;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut pending = self.all.lock();
        pending.remove(&self.start);
        self.all.count.store(pending.len(), Ordering::Release);
    }
}

/// The start addresses of pending receives that overlap this range. They do not overlap each other, so at most one begins before it.
fn overlapping(pending: &BTreeMap<usize, Pending>, range: &Range<usize>) -> impl Iterator<Item = usize> {
    let before = pending.range(..range.start).next_back().filter(|(_, one)| one.end > range.start);
    before.into_iter().chain(pending.range(range.clone())).map(|(start, _)| *start)
}

impl InPlace {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any memory is claimed, or was shared before.
    pub(crate) fn is_used(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0 || self.is_shared.load(Ordering::Acquire)
    }

    /// Whether this memory overlaps that of a pending receive.
    pub(crate) fn overlaps(&self, memory: &Memory) -> bool {
        self.count.load(Ordering::Acquire) > 0 && overlapping(&self.lock(), &memory.range()).next().is_some()
    }

    /// Claims this memory for a receive to be posted; `None` if receives share it, or have done so before. Programs that share memory once
    /// do it again, and fewer covered frames mean less work for [`Covered`].
    pub(crate) fn claim(self: &Arc<Self>, memory: &Memory) -> Option<Claim> {
        let range = memory.range();
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.iter().any(|known| known.start < range.end && range.start < known.end) {
            return None;
        }
        let claim = self.hold(memory, &range);
        if claim.is_none() {
            if shared.len() == MOST_SHARED {
                shared.remove(0);
            }
            shared.push(range);
            self.is_shared.store(true, Ordering::Release);
        }
        claim
    }

    /// Claims this memory; `None` if it overlaps that of a pending receive.
    fn hold(self: &Arc<Self>, memory: &Memory, range: &Range<usize>) -> Option<Claim> {
        let _whole = self.landing.read().unwrap_or_else(PoisonError::into_inner);
        let mut pending = self.lock();
        if overlapping(&pending, range).next().is_some() {
            return None;
        }
        let new = Pending { end: range.end, memory: *memory, covered: Covered::default(), taken: false };
        pending.insert(range.start, new);
        self.count.store(pending.len(), Ordering::Release);
        Some(Claim { all: Arc::clone(self), start: range.start })
    }

    /// Records a copy over a pending receive, unless its message has been taken out.
    fn covered(&self, start: usize, note: impl FnOnce(&mut Pending)) {
        if let Some(one) = self.lock().get_mut(&start).filter(|one| !one.taken) {
            note(one);
        }
    }
}
