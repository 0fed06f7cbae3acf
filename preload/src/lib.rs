//! The preload library: what `LD_PRELOAD` names, in the program and in all its children.
//!
//! It exports `MPI_X` and `PMPI_X` for each call of the shims' list (`pmpi-shim/src/calls.txt`), and is linked to no MPI. Each of these
//! functions is a jump through a slot. The first call of any finds out which MPI the process has loaded, loads the shim for its ABI,
//! which lies beside this library, and fills the slots: with the shim's functions or, where there is no shim for it,
//! with the MPI's own. A process that calls no MPI loads nothing and notices nothing. `docs/shim.md` has the rules, also for other
//! PMPI tools.
//!
//! `calls` are the exported functions; `resolve` fills their slots, by `loaded` (which MPI there is), `known` (whether all of its calls
//! are), `beside` (where the shim is), `tools` (who else wraps a call) and `withdraw` (which names are taken back); `elf` reads what
//! libraries define and use; `say` is the one line that this library may print.

mod beside;
mod calls;
mod elf;
mod known;
mod loaded;
mod ranks;
mod resolve;
mod say;
mod tools;
mod withdraw;

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The shim's answer to [`mpress_shim_is_active`], once there is a shim.
static IS_ACTIVE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Whether the shim compresses in this process, for layers that compress of themselves.
#[unsafe(no_mangle)]
extern "C" fn mpress_shim_is_active() -> c_int {
    let address = IS_ACTIVE.load(Ordering::Acquire);
    if address.is_null() {
        return 0;
    }
    // SAFETY: `resolve` stores the shim's function of this name here, which has this type, and the shim stays loaded.
    let is_active = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(address) };
    is_active()
}
