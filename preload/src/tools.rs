//! Other tools that wrap MPI calls, preloaded or linked after this library. (A tool before this library calls
//! it like a program.)
//!
//! A tool that follows the standard defines `MPI_X` and calls `PMPI_X`, which is this library's. So `MPI_X`
//! goes to the tool, with the program's own arguments, and `PMPI_X` to the shim. A tool that gets the MPI's
//! function by other means would bypass the shim, and its receives would not decode: in this case the shim
//! comes first, and calls the MPI through the tool.

use crate::calls::{Call, Slot};
use crate::elf;
use crate::loaded::{self, Mpi};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// The tool that wraps a call after this library, with the address of its `MPI_X`.
#[derive(Clone, Copy)]
pub(crate) enum Tool {
    None,
    /// It calls `PMPI_X`.
    Standard(*mut c_void),
    /// It calls the MPI directly.
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

/// The path of a call to the MPI through a tool that calls the MPI directly ([`Tool::Direct`]).
///
/// Such a tool may call this library's `PMPI_X`: that call goes to the MPI, to avoid an infinite recursion.
pub(crate) struct Detour {
    entry_there: Slot,
    entry_back: Slot,
    tool: Slot,
    handler: Slot,
    mpi: Slot,
}

impl Detour {
    /// A detour that is not yet set up, with the two functions that implement it.
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

    /// Sets the path from the shim's handler through the tool's `MPI_X` to the MPI's `PMPI_X`.
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

    /// The function that `PMPI_X` leads to while there is a detour.
    pub(crate) fn entry_back(&self) -> *mut c_void {
        self.entry_back.get()
    }

    /// The target of `entry_there`.
    pub(crate) fn there(&self) -> *mut c_void {
        self.tool.get()
    }

    /// The target of `entry_back` for the call with this index.
    pub(crate) fn back(&self, index: usize) -> *mut c_void {
        if INSIDE.get() == Some(index) { self.mpi.get() } else { self.handler.get() }
    }
}

thread_local! {
    /// The call for which this thread is inside a tool.
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
