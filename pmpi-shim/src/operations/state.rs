//! The shared state of the shim.

use crate::messages::context::Context;
use crate::operations::{
    prefetch::Prefetch, requests::Requests, unexpected::Matched, unexpected::Unexpected,
};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::{ops::Deref, ptr};

/// The state shared by the handlers: the shim's, which lives from `MPI_Init` to the end of the process, or that of a layer for one communicator.
pub struct Shim {
    pub(crate) context: Context,
    pub(crate) requests: Requests,
    pub(crate) unexpected: Unexpected,
    pub(crate) matched: Matched,
    pub(crate) prefetch: Prefetch,
}

impl Shim {
    /// A state without pending operations.
    pub(crate) fn new(context: Context, prefetch: Prefetch) -> Self {
        let (requests, unexpected, matched) = Default::default();
        Self { context, requests, unexpected, matched, prefetch }
    }

    /// Whether a call may wait in the MPI: nothing needs to be advanced, or looked for, meanwhile.
    pub(crate) fn may_wait(&self) -> bool {
        self.streams.is_idle() && !self.prefetch.is_looking(&self.unexpected)
    }
}

impl Deref for Shim {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

// Shared by all threads of the program. Its MPI handles and addresses are plain values, which any thread may use as far as the thread level permits;
// all mutable state is locked or atomic.
static SHIM: AtomicPtr<Shim> = AtomicPtr::new(ptr::null_mut());

/// The shared state, if the shim is active.
#[inline]
pub(crate) fn shared() -> Option<&'static Shim> {
    // SAFETY: only `activate` stores here, a leaked box that is never freed.
    unsafe { SHIM.load(Ordering::Acquire).as_ref() }
}

/// Set after `MPI_Init`, in all ranks of a job or in none.
static TAKES_PART: AtomicBool = AtomicBool::new(false);

/// From now on the shim handles calls, or is on standby: then it may wake in some ranks before others.
pub(crate) fn take_part() {
    TAKES_PART.store(true, Ordering::Release);
}

/// Whether the shim compresses in this job, also while it is on standby: `mpress-rsmpi` calls this, so that nothing is compressed twice. The result
/// is the same on all ranks.
#[cfg(shim)]
#[unsafe(no_mangle)]
extern "C" fn mpress_shim_is_active() -> std::ffi::c_int {
    std::ffi::c_int::from(TAKES_PART.load(Ordering::Acquire))
}

/// From now on calls are handled.
pub(crate) fn activate(shim: Shim) {
    SHIM.store(Box::into_raw(Box::new(shim)), Ordering::Release);
    take_part();
}

/// From now on every call is passed on.
pub(crate) fn deactivate() {
    SHIM.store(ptr::null_mut(), Ordering::Release);
    TAKES_PART.store(false, Ordering::Release);
}
