//! The memory of a copy's source and target: an address 0, and the range around it.
//!
//! Kernels copy between two of these, and check first that the whole copy lies inside.
#![allow(unsafe_code)]

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

/// Memory to read: the buffer with a datatype's elements, or a part of a packed stream.
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
    /// A buffer whose address 0, as passed to MPI calls, is byte `origin`.
    #[must_use]
    pub fn new(bytes: &'a [u8], origin: usize) -> Self {
        let (low, high) = ends(bytes.len(), origin);
        Self { origin: bytes.as_ptr().wrapping_add(origin), low, high, lent: PhantomData }
    }

    /// Memory of the program, in which the bytes between the elements may be uninitialised and may change.
    ///
    /// # Safety
    /// For 'a, all bytes of the elements that are packed from here (of a packed stream: all of it) must be readable and initialised, and must not
    /// change. They lie in `reach`, in bytes relative to `origin`, and that range is no longer than `isize::MAX`.
    #[must_use]
    pub unsafe fn from_raw(origin: *const u8, reach: Range<isize>) -> Self {
        Self { origin, low: reach.start, high: reach.end, lent: PhantomData }
    }

    /// The address of the byte at `at`, if the bytes from `low` up to `high` lie in this memory.
    pub(crate) fn get(&self, low: isize, high: isize, at: isize) -> Option<*const u8> {
        inside(low, high, self.low, self.high).then(|| self.origin.wrapping_offset(at))
    }
}

impl<'a> Target<'a> {
    /// A buffer whose address 0, as passed to MPI calls, is byte `origin`.
    #[must_use]
    pub fn new(bytes: &'a mut [u8], origin: usize) -> Self {
        let (low, high) = ends(bytes.len(), origin);
        Self { origin: bytes.as_mut_ptr().wrapping_add(origin), low, high, lent: PhantomData }
    }

    /// Space for a part of a packed stream. The bytes packed into it are initialised afterwards.
    #[must_use]
    pub fn uninit(bytes: &'a mut [MaybeUninit<u8>]) -> Self {
        let (low, high) = ends(bytes.len(), 0);
        Self { origin: bytes.as_mut_ptr().cast(), low, high, lent: PhantomData }
    }

    /// Memory of the program, in which the bytes between the elements may be in use elsewhere.
    ///
    /// # Safety
    /// For 'a, all bytes of the elements that are unpacked to here (of a packed stream: all of it) must be writable, and nothing else may use them.
    /// They lie in `reach`, in bytes relative to `origin`, and that range is no longer than `isize::MAX`.
    #[must_use]
    pub unsafe fn from_raw(origin: *mut u8, reach: Range<isize>) -> Self {
        Self { origin, low: reach.start, high: reach.end, lent: PhantomData }
    }

    /// The address of the byte at `at`, if the bytes from `low` up to `high` lie in this memory.
    pub(crate) fn get(&self, low: isize, high: isize, at: isize) -> Option<*mut u8> {
        inside(low, high, self.low, self.high).then(|| self.origin.wrapping_offset(at))
    }
}

/// The ends of a slice of length `len`, relative to its byte `origin`. An empty range if they do not fit into an address.
fn ends(len: usize, origin: usize) -> (isize, isize) {
    match (isize::try_from(len), isize::try_from(origin)) {
        (Ok(len), Ok(origin)) => (-origin, len.saturating_sub(origin)),
        _ => (0, 0),
    }
}

fn inside(low: isize, high: isize, start: isize, end: isize) -> bool {
    start <= low && low <= high && high <= end
}
