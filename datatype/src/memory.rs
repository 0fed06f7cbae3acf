//! The memory that is copied from and to: an address 0, and how far the memory reaches below and above it.
//!
//! Kernels copy between two of these, and check before anything is copied that all of it lies inside.
#![allow(unsafe_code)]

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

/// Memory to read: the buffer that a datatype's elements lie in, or a part of a packed stream.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    origin: *const u8,
    low: isize,
    high: isize,
    lent: PhantomData<&'a [u8]>,
}

/// Memory to write.
#[derive(Debug)]
pub struct Target<'a> {
    origin: *mut u8,
    low: isize,
    high: isize,
    lent: PhantomData<&'a mut [u8]>,
}

impl<'a> Source<'a> {
    /// Bytes whose address 0, the one that is given to MPI's calls, is byte `origin`.
    #[must_use]
    pub fn new(bytes: &'a [u8], origin: usize) -> Self {
        let (low, high) = ends(bytes.len(), origin);
        Self { origin: bytes.as_ptr().wrapping_add(origin), low, high, lent: PhantomData }
    }

    /// Memory that a program handed over, where bytes between the elements may be anything, and may change.
    ///
    /// # Safety
    /// For 'a, all bytes of the elements that are packed from here (of a packed stream: all of it) must be readable and initialised, and
    /// must not change. They lie in `reach`, in bytes from `origin`, and that range is no longer than `isize::MAX`.
    #[must_use]
    pub unsafe fn from_raw(origin: *const u8, reach: Range<isize>) -> Self {
        Self { origin, low: reach.start, high: reach.end, lent: PhantomData }
    }

    /// Where the bytes from `low` up to `high` begin, if they lie in this memory.
    pub(crate) fn get(&self, low: isize, high: isize, at: isize) -> Option<*const u8> {
        inside(low, high, self.low, self.high).then(|| self.origin.wrapping_offset(at))
    }
}

impl<'a> Target<'a> {
    /// Bytes whose address 0, the one that is given to MPI's calls, is byte `origin`.
    #[must_use]
    pub fn new(bytes: &'a mut [u8], origin: usize) -> Self {
        let (low, high) = ends(bytes.len(), origin);
        Self { origin: bytes.as_mut_ptr().wrapping_add(origin), low, high, lent: PhantomData }
    }

    /// Room for a part of a packed stream. What has been packed into it is initialised afterwards.
    #[must_use]
    pub fn uninit(bytes: &'a mut [MaybeUninit<u8>]) -> Self {
        let (low, high) = ends(bytes.len(), 0);
        Self { origin: bytes.as_mut_ptr().cast(), low, high, lent: PhantomData }
    }

    /// Memory that a program handed over, where others may use the bytes between the elements.
    ///
    /// # Safety
    /// For 'a, all bytes of the elements that are unpacked to here (of a packed stream: all of it) must be writable, and nothing else may
    /// use them. They lie in `reach`, in bytes from `origin`, and that range is no longer than `isize::MAX`.
    #[must_use]
    pub unsafe fn from_raw(origin: *mut u8, reach: Range<isize>) -> Self {
        Self { origin, low: reach.start, high: reach.end, lent: PhantomData }
    }

    /// Where the byte at `at` is, if those from `low` up to `high` lie in this memory.
    pub(crate) fn get(&self, low: isize, high: isize, at: isize) -> Option<*mut u8> {
        inside(low, high, self.low, self.high).then(|| self.origin.wrapping_offset(at))
    }
}

/// The ends of a slice of this length, from its byte `origin`. Where that is no address, nothing lies inside.
fn ends(len: usize, origin: usize) -> (isize, isize) {
    match (isize::try_from(len), isize::try_from(origin)) {
        (Ok(len), Ok(origin)) => (-origin, len.saturating_sub(origin)),
        _ => (0, 0),
    }
}

fn inside(low: isize, high: isize, start: isize, end: isize) -> bool {
    start <= low && low <= high && high <= end
}
