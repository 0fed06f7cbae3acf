//! A job without frames, such as one on a single node: calls bypass the shim until the program commits a datatype that the shim packs faster than the
//! MPI. Then the shim becomes active in this process, without telling others: it sends ordinary messages.

use crate::messages::datatypes;
use crate::mpi::{arguments::Out, nested, symbol, sys::*};
use crate::operations::state::{self, Shim};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Makes the shared state, by local calls.
type Make = Box<dyn FnOnce() -> Result<Shim, c_int>>;

/// The function that wakes the shim, if it is on standby.
static ASLEEP: AtomicPtr<Make> = AtomicPtr::new(ptr::null_mut());

/// Puts the shim on standby. `make` is called once, or never.
pub(crate) fn sleep(make: Make) {
    ASLEEP.store(Box::into_raw(Box::new(make)), Ordering::Release);
    state::take_part();
}

/// `MPI_Type_commit`.
pub(crate) fn committing(datatype: Out<MPI_Datatype>, pass: impl FnOnce() -> c_int) -> c_int {
    let code = pass();
    if code != SUCCESS || nested() || ASLEEP.load(Ordering::Acquire).is_null() {
        return code;
    }
    if datatypes::may_reorder(datatype.get()) {
        let make = ASLEEP.swap(ptr::null_mut(), Ordering::AcqRel);
        if make.is_null() {
            return code; // another thread was faster
        }
        // SAFETY: only `sleep` stores here, a leaked box, and only one thread takes it out.
        let make = unsafe { Box::from_raw(make) };
        // If the MPI refuses a resource, the shim stays inactive.
        if let Ok(shim) = make() {
            state::activate(shim);
            symbol::lead(true);
        }
    }
    code
}
