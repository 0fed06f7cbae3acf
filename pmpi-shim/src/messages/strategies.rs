//! Strategies of single communicators.
//!
//! MPIs drop hints that they do not know, so the strategy is kept as an attribute of the communicator. Like hints it is inherited by a
//! duplicate (MPI 4.0, section 7.4.2).

use crate::mpi::sys::*;
use mpress::Strategy;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The strategies of communicators.
pub(crate) struct Strategies {
    keyval: c_int,
    /// Whether any communicator has one, since a lookup takes time.
    any: AtomicBool,
}

impl Strategies {
    pub(crate) fn new() -> Result<Self, c_int> {
        let mut keyval = KEYVAL_INVALID;
        // SAFETY: callbacks of the right type, and a valid output pointer.
        unsafe {
            ok(PMPI_Comm_create_keyval(Some(copied), Some(forgotten), &raw mut keyval, ptr::null_mut()))?;
        }
        Ok(Self { keyval, any: AtomicBool::new(false) })
    }

    /// Frees the key; attributes keep it alive.
    pub(crate) fn free(&self) {
        let mut keyval = self.keyval;
        // SAFETY: our own key.
        unsafe { PMPI_Comm_free_keyval(&raw mut keyval) };
    }

    /// The strategy of a communicator, if it has its own.
    pub(crate) fn of(&self, comm: MPI_Comm) -> Option<Strategy> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        let (mut value, mut found) = (ptr::null_mut::<c_void>(), 0);
        // SAFETY: our key, the caller's communicator, valid output pointers.
        let code = unsafe { PMPI_Comm_get_attr(comm, self.keyval, (&raw mut value).cast(), &raw mut found) };
        if code != SUCCESS || found == 0 {
            return None;
        }
        // SAFETY: only `set` stores under our key, a leaked box that lives as long as the attribute.
        unsafe { value.cast::<Strategy>().as_ref().copied() }
    }

    pub(crate) fn set(&self, comm: MPI_Comm, strategy: Strategy) {
        let value = Box::into_raw(Box::new(strategy));
        // SAFETY: our key; the attribute owns the box, and `forgotten` frees it.
        unsafe {
            if PMPI_Comm_set_attr(comm, self.keyval, value.cast()) == SUCCESS {
                self.any.store(true, Ordering::Relaxed);
            } else {
                drop(Box::from_raw(value));
            }
        }
    }
}

unsafe extern "C" fn copied(
    _: MPI_Comm,
    _: c_int,
    _: *mut c_void,
    value: *mut c_void,
    copy: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: a box that `set` or this function has stored; MPI passes valid pointers for the copy and the flag.
    unsafe {
        let strategy = *value.cast::<Strategy>();
        *copy.cast::<*mut Strategy>() = Box::into_raw(Box::new(strategy));
        *flag = 1;
    }
    SUCCESS
}

unsafe extern "C" fn forgotten(_: MPI_Comm, _: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: a box that `set` or `copied` has stored, freed once.
    drop(unsafe { Box::from_raw(value.cast::<Strategy>()) });
    SUCCESS
}
