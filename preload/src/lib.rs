//! The preload library: the one in `LD_PRELOAD`, loaded into the program and all its children.
//!
//! It exports `MPI_X` and `PMPI_X` for each call of the shims' list (`pmpi-shim/src/calls.txt`), and is
//! linked to no MPI. Each of these functions is a jump through a slot. The first call of any of them finds
//! out which MPI the process has loaded, loads the shim for its ABI from the folder of this library, and
//! fills the slots: with the shim's functions or, if there is no shim for it, with the MPI's own. In a
//! process that calls no MPI function, it loads nothing and has no effect. `docs/shim.md` has the rules, also
//! for other PMPI tools.
//!
//! `calls` contains the exported functions; `resolve` fills their slots with the help of `loaded` (which MPI
//! is loaded), `known` (whether all of its calls are known), `beside` (the path of the shim), `tools` (other
//! wrappers of a call) and `withdraw` (which names are withdrawn); `elf` reads the symbols that libraries
//! define and use; `stack`, a file of the shim, compares the places of calls; `say` prints the only line that
//! this library may print.

mod beside;
mod calls;
mod elf;
mod known;
mod loaded;
mod ranks;
mod resolve;
mod say;
#[path = "../../pmpi-shim/src/mpi/stack.rs"]
mod stack;
mod tools;
mod withdraw;

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The address of the shim's `is_active`, which answers [`mpress_shim_is_active`], once a shim is loaded.
static IS_ACTIVE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Whether the shim compresses in this process; for layers that compress by themselves.
#[unsafe(no_mangle)]
extern "C" fn mpress_shim_is_active() -> c_int {
    let address = IS_ACTIVE.load(Ordering::Acquire);
    if address.is_null() {
        return 0;
    }
    // SAFETY: `resolve` stores the shim's function of this name here, which has this type, and the shim stays
    // loaded.
    let is_active = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(address) };
    is_active()
}
