//! Handles of the MPI as keys of maps: they are addresses in one MPI, and numbers in the other.

use std::collections::HashMap;
use std::ffi::c_int;
use std::hash::{BuildHasherDefault, Hasher};

/// A handle as a key.
pub(crate) trait Handle: Copy {
    fn key(self) -> usize;
}

impl<T> Handle for *mut T {
    fn key(self) -> usize {
        self.addr()
    }
}

impl Handle for c_int {
    fn key(self) -> usize {
        // A bijection between the two; negative handles keep apart from each other.
        self as usize
    }
}

/// What is known of handles, by their keys. They come from the MPI, so nobody chooses them to collide; and they are looked up in every
/// call, where the hash of the standard library takes longer than all the rest.
pub(crate) type HandleMap<T> = HashMap<usize, T, BuildHasherDefault<KeyHasher>>;

/// The hash of a key: all bits of the product count, since addresses end in zeros and numbers begin with them.
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
