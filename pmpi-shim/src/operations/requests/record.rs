//! A record of the table of operations, and the mark of the call that works on it.

use crate::messages::context::Context;
use crate::mpi::stack::{self, Earlier, Place};
use crate::mpi::{handle::Handle, sys::*};
use crate::operations::active::{Active, Template};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{cell::Cell, cell::UnsafeCell, sync::Arc};

/// An operation, or a persistent request, which may have one.
pub(super) struct Record {
    /// Accessed only by the call that has marked the record.
    pub(super) active: UnsafeCell<Option<Active>>,
    pub(super) template: Option<Template>,
    /// The program's handle as a key; `None` for an operation without a request.
    pub(super) key: Option<usize>,
    /// The MPI's request as a key, which another thread may cancel.
    pub(super) inner: AtomicUsize,
    /// [`FREE`], [`LEFT`], or the thread whose call works on it, and [`LENT`] while that call is in the MPI.
    mark: AtomicUsize,
    /// The lowest place on the stack that the call may have.
    place: AtomicUsize,
    /// Whether the call completes nothing. If so, the program may ask for the request in other calls at the same time.
    looks: AtomicBool,
    /// Whether the operation makes progress only if it is advanced.
    pub(super) moves: AtomicBool,
}

/// The mark of a record that no call works on.
const FREE: usize = 0;
/// Part of a mark: the call has passed the request to the MPI, and may have been left by a jump there. It touches the record again only if the mark
/// is unchanged.
const LENT: usize = 1;
/// The mark of a record whose call was left by a jump.
const LEFT: usize = LENT;

thread_local! {
    /// The greatest number of records that this thread may have marked as in use, and of its calls that [wait](Waits).
    pub(super) static IN_USE_HERE: Cell<usize> = const { Cell::new(0) };
    /// The place of this thread's last call that waits; 0 if there is none.
    static WAITS: Cell<Place> = const { Cell::new(0) };
}

/// A call that waits for an operation that is not in the table, until dropped. An error handler may leave it by a jump, too.
pub(crate) struct Waits {
    outer: Place,
}

impl Waits {
    /// Inlined, so that the place on the stack is the caller's.
    #[inline(always)]
    #[must_use]
    pub(crate) fn begin() -> Self {
        IN_USE_HERE.set(IN_USE_HERE.get() + 1);
        Self { outer: WAITS.replace(stack::here()) }
    }

    /// A call of this thread begins `here`. Whether the last one that waits was left by a jump; from then on, none waits.
    pub(super) fn end_if_over(here: Place) -> bool {
        let is_over = Self::are_any() && stack::earlier(WAITS.get(), here) == Earlier::Over;
        if is_over {
            WAITS.set(0);
        }
        is_over
    }

    pub(super) fn are_any() -> bool {
        WAITS.get() != 0
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        IN_USE_HERE.set(IN_USE_HERE.get().saturating_sub(1));
        WAITS.set(self.outer);
    }
}

/// The mark of this thread, which no other thread has or had.
fn this_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    thread_local! {
        static MARK: usize = NEXT.fetch_add(1, Ordering::Relaxed) << 1;
    }
    MARK.with(|mark| *mark)
}

impl Record {
    pub(super) fn new(key: Option<usize>, active: Option<Active>, template: Option<Template>) -> Arc<Self> {
        let inner = AtomicUsize::new(key_of(active.as_ref()));
        let moves = AtomicBool::new(active.as_ref().is_some_and(Active::is_moving));
        let (mark, place, looks) = Default::default();
        #[allow(clippy::arc_with_non_send_sync, reason = "handles are plain values, see `state`")]
        Arc::new(Self { active: UnsafeCell::new(active), template, key, inner, mark, place, looks, moves })
    }

    fn mark(&self) -> usize {
        self.mark.load(Ordering::Acquire)
    }

    /// Whether no call works on it, nor has left it by a jump.
    pub(super) fn is_free(&self) -> bool {
        self.mark() == FREE
    }

    /// Whether the call that worked on it was left by a jump.
    pub(super) fn was_left(&self) -> bool {
        self.mark() == LEFT
    }

    /// Whether no call works on it.
    pub(super) fn is_unused(&self) -> bool {
        matches!(self.mark(), FREE | LEFT)
    }

    /// Whether a call of this thread works on it.
    pub(super) fn is_ours(&self) -> bool {
        self.mark() & !LENT == this_thread()
    }

    /// Whether the present call is made inside the one that works on it, by an error handler of the program.
    pub(super) fn is_of_outer_call(&self) -> bool {
        self.is_ours() && stack::earlier(self.place(), stack::here()) == Earlier::Around
    }

    fn place(&self) -> Place {
        self.place.load(Ordering::Relaxed)
    }

    /// Whether a call that completes nothing works on it.
    pub(super) fn is_looked_at(&self) -> bool {
        self.looks.load(Ordering::Acquire)
    }

    /// A call of this thread begins `here`. If the one that works on the record is known to be over, it was left by a jump.
    pub(super) fn leave_if_over(&self, here: Place) -> bool {
        let mark = self.mark();
        stack::earlier(self.place(), here) == Earlier::Over
            && self.mark.compare_exchange(mark, LEFT, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Marks it for a call, unless another one works on it. A call that `completes` the request may take it from one that has passed it to the MPI:
    /// the program may not complete a request in two calls, so that one was left by a jump.
    pub(super) fn use_for(self: &Arc<Self>, completes: bool) -> Option<InUse> {
        let mark = self.mark();
        let is_left = mark & LENT != 0 && completes && !self.is_looked_at();
        if mark != FREE && mark != LEFT && !is_left {
            return None;
        }
        let own = this_thread();
        self.mark.compare_exchange(mark, own, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        /// Bytes by which two places in calls from the same frame may differ; the frames of the MPI and of an error handler take more.
        const SAME: usize = 256;
        self.place.store(stack::here() - SAME, Ordering::Relaxed);
        self.looks.store(!completes, Ordering::Release);
        IN_USE_HERE.set(IN_USE_HERE.get() + 1);
        Some(InUse { record: Arc::clone(self), own })
    }
}

/// The key of the MPI's request of an operation.
fn key_of(active: Option<&Active>) -> usize {
    active.map_or(REQUEST_NULL, |active| active.operation.request).key()
}

/// A record that a call works on, until dropped.
pub(crate) struct InUse {
    pub(super) record: Arc<Record>,
    /// The mark of the call.
    own: usize,
}

impl InUse {
    pub(crate) fn active(&mut self) -> Option<&mut Active> {
        self.slot().as_mut()
    }

    pub(crate) fn slot(&mut self) -> &mut Option<Active> {
        // SAFETY: only the call that has marked a record accesses this.
        unsafe { &mut *self.record.active.get() }
    }

    pub(crate) fn template(&self) -> Option<&Template> {
        self.record.template.as_ref()
    }

    /// The MPI's request; null if there is no operation.
    pub(crate) fn inner(&mut self) -> MPI_Request {
        self.active().map_or(REQUEST_NULL, |active| active.operation.request)
    }

    /// Advances the operation; returns whether its request may be passed to the MPI for completion.
    pub(crate) fn advance(&mut self, context: &Context) -> bool {
        let is_ready = self.active().is_none_or(|active| active.advance(context));
        self.tell_inner();
        is_ready
    }

    fn tell_inner(&mut self) {
        let key = key_of(self.active().as_deref());
        self.record.inner.store(key, Ordering::Release);
    }

    /// Lends the record for a call of the MPI, in which an error handler of the program may be called, and need not return: then other calls may take
    /// the record. It must be dropped if [`take_back`](Self::take_back) returns false.
    pub(crate) fn lend(&self) {
        self.record.mark.store(self.own | LENT, Ordering::Release);
    }

    /// The call of the MPI has returned. Returns whether the operation is still in use by this call: another one may have completed it.
    pub(crate) fn take_back(&mut self) -> bool {
        let take = |from| {
            self.record.mark.compare_exchange(from, self.own, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        if take(self.own | LENT) {
            return true;
        }
        take(FREE) && self.slot().is_some()
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        IN_USE_HERE.set(IN_USE_HERE.get().saturating_sub(1));
        if self.record.mark() & !LENT == self.own {
            self.tell_inner();
            self.record.mark.store(FREE, Ordering::Release);
        }
    }
}
