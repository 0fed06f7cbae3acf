//! Other tools that wrap MPI calls, preloaded or linked after this library. (What comes before it calls it like a program.)
//!
//! A tool of the standard's kind defines `MPI_X` and calls `PMPI_X`, which is ours. So `MPI_X` goes to the tool, with the program's own
//! arguments, and `PMPI_X` to the shim. A tool that gets hold of the MPI's function by other means would go past the shim, and
//! a receive of its would not decode: there the shim comes first, and calls the MPI by way of the tool.

use crate::calls::{Call, Slot};
use crate::elf;
use crate::loaded::{self, Mpi};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// Who wraps a call after us, by the address of its `MPI_X`.
#[derive(Clone, Copy)]
pub(crate) enum Tool {
    None,
    /// It calls `PMPI_X`.
    Standard(*mut c_void),
    /// It goes to the MPI directly.
    Direct(*mut c_void),
}

/// The tool that wraps this call.
pub(crate) fn after_this(call: &Call, mpi: &Mpi) -> Tool {
    let next = loaded::next(call.mpi_name);
    if next.is_null() || next == mpi.own(call.mpi_name) {
        Tool::None
    } else if elf::imports(next, call.pmpi_name) {
        Tool::Standard(next)
    } else {
        Tool::Direct(next)
    }
}

/// The way of a call to the MPI through a tool of the second kind.
///
/// What such a tool calls may come back to our `PMPI_X`: then it goes to the MPI, or this would never end.
pub(crate) struct Detour {
    entry_there: Slot,
    entry_back: Slot,
    tool: Slot,
    handler: Slot,
    mpi: Slot,
}

impl Detour {
    /// A detour that leads nowhere yet, by the two functions that go it.
    pub(crate) const fn new(there: *mut c_void, back: *mut c_void) -> Self {
        let nowhere = ptr::null_mut();
        Self {
            entry_there: Slot::new(there),
            entry_back: Slot::new(back),
            tool: Slot::new(nowhere),
            handler: Slot::new(nowhere),
            mpi: Slot::new(nowhere),
        }
    }

    /// Has it lead from the shim's handler over the tool's `MPI_X` to the MPI's `PMPI_X`.
    pub(crate) fn lead(&self, tool: *mut c_void, handler: *mut c_void, mpi: *mut c_void) {
        self.handler.set(handler);
        self.mpi.set(mpi);
        self.tool.set(tool);
    }

    pub(crate) fn is_led(&self) -> bool {
        !self.tool.get().is_null()
    }

    /// The function to call instead of the MPI's.
    pub(crate) fn entry_there(&self) -> *mut c_void {
        self.entry_there.get()
    }

    /// The function that is `PMPI_X` meanwhile.
    pub(crate) fn entry_back(&self) -> *mut c_void {
        self.entry_back.get()
    }

    /// Where `entry_there` goes.
    pub(crate) fn there(&self) -> *mut c_void {
        self.tool.get()
    }

    /// Where `entry_back` goes, of the call with this index.
    pub(crate) fn back(&self, index: usize) -> *mut c_void {
        if INSIDE.get() == Some(index) { self.mpi.get() } else { self.handler.get() }
    }
}

thread_local! {
    /// The call that this thread has in a tool.
    static INSIDE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Marks this thread as inside a tool with a call, until dropped.
pub(crate) struct Inside {
    before: Option<usize>,
}

impl Inside {
    pub(crate) fn enter(index: usize) -> Self {
        Self { before: INSIDE.replace(Some(index)) }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(self.before);
    }
}
