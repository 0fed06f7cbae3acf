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
use crate::stack::{self, Earlier};
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
        if is_inside(index) { self.mpi.get() } else { self.handler.get() }
    }
}

/// A call that goes through a tool. It lies on the stack of its thread, so that a later call finds out whether
/// this one is around it, or was left by a jump of the program's error handler.
struct Inside {
    /// [`LIVE`].
    live: Cell<u64>,
    outer: Option<Last>,
}

/// The index of a call, and where it is.
type Last = (usize, *const Inside);

/// Any number that a stack is unlikely to have by chance.
const LIVE: u64 = 0x5e1b_70d4_93ac_f826;

thread_local! {
    /// The call that this thread has made last through a tool, unless that has returned.
    static INSIDE: Cell<Option<Last>> = const { Cell::new(None) };
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(self.outer);
    }
}

/// Makes the call with this index through a tool.
pub(crate) fn inside<R>(index: usize, call: impl FnOnce() -> R) -> R {
    let this = Inside { live: Cell::new(LIVE), outer: last() };
    INSIDE.set(Some((index, &raw const this)));
    call()
}

/// Whether this thread is inside a tool with this call.
fn is_inside(index: usize) -> bool {
    last().is_some_and(|(last, _)| last == index)
}

/// The call that this thread has made last through a tool, if it may be under way.
fn last() -> Option<Last> {
    let (index, call) = INSIDE.get()?;
    let is_under_way = match stack::earlier(call.addr(), stack::here()) {
        // The stack may have grown again since the call was left.
        Earlier::Around => {
            // SAFETY: what is above this place on the stack of its thread can be read.
            unsafe { (&raw const (*call).live).cast::<u64>().read_volatile() == LIVE }
        }
        Earlier::Over => false,
        // On the stack of a user-level thread. If the tool's own calls came to the shim, they would never end.
        Earlier::Unknown => true,
    };
    if !is_under_way {
        INSIDE.set(None);
    }
    is_under_way.then_some((index, call))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// Makes a call lower on the stack.
    #[inline(never)]
    fn below<R>(call: impl FnOnce() -> R) -> R {
        let mut room = [0_u8; 4096];
        black_box(&mut room);
        let result = call();
        black_box(&mut room);
        result
    }

    #[test]
    fn a_call_is_inside_those_around_it() {
        assert!(!is_inside(3));
        below(|| {
            inside(3, || {
                assert!(below(|| below(|| is_inside(3) && !is_inside(4))));
                below(|| inside(4, || assert!(below(|| below(|| is_inside(4) && !is_inside(3))))));
                assert!(below(|| below(|| is_inside(3))));
            });
        });
        assert!(!is_inside(3));
    }

    #[test]
    fn a_call_that_was_left_is_around_no_later_one() {
        let left = below(|| below(|| below(|| inside(3, || INSIDE.get()))));
        assert!(left.is_some());
        // As after a jump.
        INSIDE.set(left);
        assert!(!is_inside(3));
        INSIDE.set(left);
        inside(4, || assert!(below(|| below(|| is_inside(4)))));
        assert!(!is_inside(3) && INSIDE.get().is_none());
    }
}
