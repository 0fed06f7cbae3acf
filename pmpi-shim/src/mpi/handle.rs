//! Handles of the MPI as keys of maps: in some MPIs they are addresses, in others integers.
//!
//! A handle is ours, or the program has given it to an MPI function, and so vouches for it. It is passed on
//! unchanged, so functions that take one are safe.

use std::collections::HashMap;
use std::ffi::c_int;
use std::hash::{BuildHasherDefault, Hasher};

/// A handle as a key.
pub(crate) trait Handle: Copy {
    fn key(self) -> usize;

    /// The handle with this key.
    fn from_key(key: usize) -> Self;
}

impl<T> Handle for *mut T {
    fn key(self) -> usize {
        self.expose_provenance()
    }

    fn from_key(key: usize) -> Self {
        std::ptr::with_exposed_provenance_mut(key)
    }
}

impl Handle for c_int {
    fn key(self) -> usize {
        // Injective: distinct handles, negative ones included, stay distinct.
        self as usize
    }

    fn from_key(key: usize) -> Self {
        key as Self
    }
}

/// A map by handle. Handles come from the MPI, so they cannot be chosen to collide. They are looked up in
/// every call, where the standard library's hash would take longer than all the rest.
pub(crate) type HandleMap<T> = HashMap<usize, T, BuildHasherDefault<KeyHasher>>;

/// The hash of a key, from all bits of the product, since addresses end in zeros and integers begin with
/// them.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, key: u64) {
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15; // 2^64 divided by the golden ratio
        let product = u128::from(self.0 ^ key) * ODD;
        self.0 = (product ^ (product >> 64)) as u64;
    }

    fn write_usize(&mut self, key: usize) {
        self.write_u64(key as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
