//! A job in which no frames go, as on one node: the program's calls go past the shim, until it commits a datatype that the shim packs faster
//! than the MPI. Then the shim becomes active in this process, without a word to others: what it sends are ordinary messages.

use crate::datatypes;
use crate::mpi::nested;
use crate::span::Kinds;
use crate::state::{self, Shim};
use crate::symbol;
use crate::sys::*;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Makes the shared state, by local calls.
type Make = Box<dyn FnOnce() -> Result<Shim, c_int>>;

/// How the shim awakes, if it sleeps.
static ASLEEP: AtomicPtr<Make> = AtomicPtr::new(ptr::null_mut());

/// From now on the shim sleeps. `make` is called once, or never.
pub(crate) fn sleep(make: Make) {
    ASLEEP.store(Box::into_raw(Box::new(make)), Ordering::Release);
    state::take_part();
}

/// `MPI_Type_commit`.
///
/// # Safety
/// `datatype` must be what the caller of that function gave.
pub(crate) unsafe fn committing(datatype: *mut MPI_Datatype, pass: impl FnOnce() -> c_int) -> c_int {
    let code = pass();
    if code != SUCCESS || nested() || ASLEEP.load(Ordering::Acquire).is_null() {
        return code;
    }
    // SAFETY: the MPI has found a datatype there.
    if datatypes::may_reorder(&Kinds::new(), unsafe { *datatype }) {
        awake();
    }
    code
}

#[cold]
fn awake() {
    let make = ASLEEP.swap(ptr::null_mut(), Ordering::AcqRel);
    if make.is_null() {
        return; // another thread was faster
    }
    // SAFETY: only `sleep` stores here, a leaked box, and only one thread takes it out.
    let make = unsafe { Box::from_raw(make) };
    // Where the MPI refuses what is needed, its own way is left.
    if let Ok(shim) = make() {
        state::activate(shim);
        symbol::resume();
    }
}
