//! A record of the table of operations, and the mark of the call that works on it.

use crate::messages::context::Context;
use crate::mpi::handle::Handle;
use crate::mpi::sys::*;
use crate::operations::active::Active;
use crate::operations::persistent::Template;
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// An operation, or a persistent request, which may have one.
pub(super) struct Record {
    /// Accessed only by the call that has marked the record.
    pub(super) active: UnsafeCell<Option<Active>>,
    pub(super) template: Option<Template>,
    /// The program's handle as a key; none of an operation without a request.
    pub(super) key: Option<usize>,
    /// The MPI's request as a key, which another thread may cancel.
    pub(super) inner: AtomicUsize,
    /// The thread that uses it, 0 if none does, and the place of its call on the stack.
    pub(super) thread: AtomicUsize,
    place: AtomicUsize,
    /// The call completes nothing (`MPI_Request_get_status`), so others may ask for the request at the same time.
    pub(super) looks: AtomicBool,
    /// Whether the operation makes progress only if it is advanced.
    pub(super) moves: AtomicBool,
}

/// Number of records that are marked as in use.
pub(super) static IN_USE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The same, by this thread.
    pub(super) static IN_USE_HERE: Cell<usize> = const { Cell::new(0) };
}

/// A number unique to this thread, not 0.
fn this_thread() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

/// Who works on a record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum User {
    Nobody,
    /// A call of this thread, in which the present call is made: by an error handler of the program.
    Outer,
    Other,
}

impl Record {
    pub(super) fn new(key: Option<usize>, active: Option<Active>, template: Option<Template>) -> Arc<Self> {
        let inner = AtomicUsize::new(key_of(active.as_ref()));
        let moves = AtomicBool::new(active.as_ref().is_some_and(Active::is_moving));
        let (thread, place, looks) = Default::default();
        #[allow(clippy::arc_with_non_send_sync, reason = "handles are plain values, see `state`")]
        Arc::new(Self { active: UnsafeCell::new(active), template, key, inner, thread, place, looks, moves })
    }

    /// A mark of this thread that is not well above the present place on the stack is of a call that was left by a jump.
    pub(super) fn user(&self) -> User {
        /// Bytes by which two places in calls from the same frame may differ; the frames of the MPI and of an error handler take more.
        const SAME: usize = 256;
        let here = 0_u8;
        match self.thread.load(Ordering::Acquire) {
            0 => User::Nobody,
            user if user != this_thread() => User::Other,
            _ if self.place.load(Ordering::Relaxed) > (&raw const here).addr() + SAME => User::Outer,
            _ => User::Nobody,
        }
    }

    /// Whether it was marked by a call that was left by a jump.
    pub(super) fn was_left(&self) -> bool {
        self.thread.load(Ordering::Acquire) != 0 && self.user() == User::Nobody
    }

    pub(super) fn mark(self: &Arc<Self>) -> InUse {
        let here = 0_u8;
        self.place.store((&raw const here).addr(), Ordering::Relaxed);
        self.looks.store(false, Ordering::Relaxed);
        if self.thread.swap(this_thread(), Ordering::AcqRel) == 0 {
            IN_USE.fetch_add(1, Ordering::AcqRel);
            IN_USE_HERE.set(IN_USE_HERE.get() + 1);
        }
        InUse(Arc::clone(self))
    }
}

/// The key of the MPI's request of an operation.
fn key_of(active: Option<&Active>) -> usize {
    active.map_or(REQUEST_NULL, |active| active.operation.request).key()
}

/// A record that a call works on, until dropped.
pub(crate) struct InUse(pub(super) Arc<Record>);

impl InUse {
    pub(crate) fn active(&mut self) -> Option<&mut Active> {
        self.slot().as_mut()
    }

    /// The place of the operation.
    pub(crate) fn slot(&mut self) -> &mut Option<Active> {
        // SAFETY: only the call that has marked a record accesses this.
        unsafe { &mut *self.0.active.get() }
    }

    pub(crate) fn template(&self) -> Option<&Template> {
        self.0.template.as_ref()
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

    /// The call completes nothing.
    pub(crate) fn only_looks(&self) {
        self.0.looks.store(true, Ordering::Release);
    }

    fn tell_inner(&mut self) {
        let key = key_of(self.active().as_deref());
        self.0.inner.store(key, Ordering::Release);
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.tell_inner();
        if self.0.thread.swap(0, Ordering::AcqRel) != 0 {
            IN_USE.fetch_sub(1, Ordering::AcqRel);
            IN_USE_HERE.set(IN_USE_HERE.get().saturating_sub(1));
        }
    }
}
