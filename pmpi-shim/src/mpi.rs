//! The MPI's own functions, of the calls that are wrapped, in two ways:
//!
//! - [`real`]: what the MPI calls of itself meanwhile is passed straight on. For all that carries a frame: it must not be
//!   put into a frame again.
//! - [`open`]: what is called meanwhile is handled like any call. For completion calls, and for calls passed on as they
//!   came: there the MPI may call the program's error handlers, which may do what they like, even never come back. (An MPI
//!   that passes such a call on to another wrapped function has that passed on for the same reasons.)
//!
//! Both are made from `calls.txt` and `functions.txt`.

#![allow(non_snake_case, reason = "the names are those of MPI")]

use std::cell::Cell;

/// The MPI's own functions; calls of wrapped functions meanwhile are handled.
#[allow(unused_imports, reason = "not every call is made by the shim")]
pub(crate) mod open {
    include!(concat!(env!("OUT_DIR"), "/open.rs"));
}

/// The MPI's own functions; calls of wrapped functions meanwhile are the MPI's own, and passed on.
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

/// Whether this thread is inside the MPI: it implements one function by another.
pub(crate) fn nested() -> bool {
    NESTED.get()
}
