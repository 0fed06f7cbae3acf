//! Handles of the MPI as keys of maps: in some MPIs they are addresses, in others integers.
//!
//! A handle is ours, or the program has given it to an MPI function, and so vouches for it. It is passed on unchanged, so functions that take one are
//! safe.

use std::ffi::c_int;

/// A handle as a key.
pub(crate) trait Handle: Copy {
    fn key(self) -> usize;

    /// The handle with this key.
    ///
    /// # Safety
    /// The key must be that of a handle.
    unsafe fn from_key(key: usize) -> Self;
}

impl<T> Handle for *mut T {
    fn key(self) -> usize {
        self.expose_provenance()
    }

    unsafe fn from_key(key: usize) -> Self {
        std::ptr::with_exposed_provenance_mut(key)
    }
}

impl Handle for c_int {
    fn key(self) -> usize {
        // Injective: distinct handles, negative ones included, stay distinct.
        self as usize
    }

    unsafe fn from_key(key: usize) -> Self {
        key as Self
    }
}

/// A map by handle. Handles come from the MPI, so they cannot be chosen to collide. They are looked up in every call, where the standard library's
/// hash would take longer than all the rest.
pub(crate) type HandleMap<T> = rustc_hash::FxHashMap<usize, T>;
