//! The MPI's own functions for the wrapped calls, in two forms:
//!
//! - [`real`]: wrapped functions called by the MPI meanwhile are passed straight on. For everything that carries a frame: it must not be
//!   put into a frame again.
//! - [`open`]: wrapped functions called meanwhile are handled as usual. For completion calls, and for calls passed on unchanged: there the
//!   MPI may call the program's error handlers, which may make any calls, or never return. (If an MPI implements such a call by another
//!   wrapped function, that is passed on for the same reasons.)
//!
//! Both are generated from `calls.txt` and `functions.txt`.

#![allow(non_snake_case, reason = "the names are those of MPI")]

use std::cell::Cell;

/// The MPI's own functions; wrapped functions called meanwhile are handled.
#[allow(unused_imports, reason = "not every call is made by the shim")]
pub(crate) mod open {
    include!(concat!(env!("OUT_DIR"), "/open.rs"));
}

/// The MPI's own functions; wrapped functions called meanwhile are the MPI's own calls, and passed on.
#[allow(clippy::too_many_arguments, reason = "MPI's own lists")]
#[allow(dead_code, reason = "not every call is made by the shim")]
pub(crate) mod real {
    use super::Depth;
    use crate::sys::*;
    use std::ffi::{c_char, c_int, c_void};

    include!(concat!(env!("OUT_DIR"), "/real.rs"));
}

thread_local! {
    static NESTED: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as inside the MPI, until dropped.
pub(crate) struct Depth {
    before: bool,
}

impl Depth {
    pub(crate) fn enter() -> Self {
        Self { before: NESTED.replace(true) }
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        NESTED.set(self.before);
    }
}

/// Whether this thread is inside the MPI, which may implement one function by another.
pub(crate) fn nested() -> bool {
    NESTED.get()
}
