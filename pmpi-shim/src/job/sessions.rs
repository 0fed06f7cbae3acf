//! Sessions (MPI 4.0, chapter 11): a process may end its world, and go on with the communicators of a session. Frames still come on them.

use crate::job::finish;
use crate::mpi::sys::*;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of sessions that have not ended.
static OPEN: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn are_open() -> bool {
    OPEN.load(Ordering::Acquire) > 0
}

/// `MPI_Session_init`.
pub(crate) fn beginning(pass: impl FnOnce() -> c_int) -> c_int {
    let code = pass();
    if code == SUCCESS {
        OPEN.fetch_add(1, Ordering::AcqRel);
    }
    code
}

/// `MPI_Session_finalize`. The last one that outlives the world ends the shim, while the MPI is still usable.
pub(crate) fn ending(pass: impl FnOnce() -> c_int) -> c_int {
    if OPEN.load(Ordering::Acquire) == 1 {
        finish::after_the_world();
    }
    // Before the call: some MPIs end the world in it.
    OPEN.fetch_sub(1, Ordering::AcqRel);
    let code = pass();
    if code != SUCCESS {
        OPEN.fetch_add(1, Ordering::AcqRel);
    }
    code
}
