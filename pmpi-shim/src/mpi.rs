//! The MPI's own functions for the wrapped calls: [`real`], in which calls of wrapped functions are the MPI's own, and pass; and [`open`], in which
//! they are handled as usual. Both are generated from `calls.txt` and `functions.txt`. `README.md`, "mpi", says which calls need which.

#![allow(non_snake_case, reason = "the names are those of MPI")]

pub(crate) mod arguments;
pub(crate) mod channel;
pub(crate) mod device;
pub(crate) mod family;
pub(crate) mod fatal;
pub(crate) mod handle;
pub(crate) mod identity;
pub(crate) mod operation;
pub(crate) mod predefined;
pub(crate) mod span;
pub(crate) mod stack;
pub(crate) mod symbol;
pub(crate) mod sys;

use stack::Earlier;
use std::{cell::Cell, ptr};

/// The MPI's own functions; wrapped functions called meanwhile are handled.
#[allow(clippy::too_many_arguments, reason = "MPI's own lists")]
#[allow(unused_imports, dead_code, reason = "not every call is made by the shim")]
pub(crate) mod open {
    use crate::mpi::sys::*;

    include!(concat!(env!("OUT_DIR"), "/open.rs"));
}

/// The MPI's own functions; wrapped functions called meanwhile are the MPI's own calls, and passed on.
#[allow(clippy::too_many_arguments, reason = "MPI's own lists")]
#[allow(dead_code, reason = "not every call is made by the shim")]
pub(crate) mod real {
    use super::inside;
    use crate::mpi::sys::*;

    include!(concat!(env!("OUT_DIR"), "/real.rs"));
}

/// A call, inside which calls are the MPI's own.
struct Inside {
    /// [`LIVE`] while the call is under way.
    live: Cell<u64>,
    outer: *const Inside,
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.live.set(0);
        INSIDE.set(self.outer);
    }
}

/// Any number that a stack is unlikely to have by chance.
const LIVE: u64 = 0x9d3f_51c6_ae07_b248;

thread_local! {
    static INSIDE: Cell<*const Inside> = const { Cell::new(ptr::null()) };
}

/// The call in which the MPI was called last, if it may be under way, and whether this one is known to be made inside it.
#[inline]
fn current() -> (*const Inside, bool) {
    let call = INSIDE.get();
    if call.is_null() { (call, false) } else { judged(call, stack::here()) }
}

#[cold]
fn judged(call: *const Inside, here: stack::Place) -> (*const Inside, bool) {
    match stack::earlier(call.addr(), here) {
        // An error handler of the program may have left it by a jump, and other calls have grown the stack again.
        // SAFETY: what is above this place on the stack of its thread can be read.
        Earlier::Around if unsafe { (&raw const (*call).live).cast::<u64>().read_volatile() } == LIVE => {
            (call, true)
        }
        Earlier::Around | Earlier::Over => (ptr::null(), false),
        Earlier::Unknown => (call, false),
    }
}

/// Makes a call, inside which this thread's calls are the MPI's own.
#[inline]
pub(crate) fn inside<R>(call: impl FnOnce() -> R) -> R {
    let this = Inside { live: Cell::new(LIVE), outer: current().0 };
    INSIDE.set(&raw const this);
    call()
}

/// Whether this thread is inside the MPI, which may implement one function by another. A call on another stack than that one is the program's own:
/// the MPI has let another user-level thread run.
#[inline]
pub(crate) fn nested() -> bool {
    current().1
}
