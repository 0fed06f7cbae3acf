//! `Out`: the output buffer, which only ever grows by initialised bytes.
//!
//! This is the one module of the crate with unsafe code. Its invariant: the first `len` bytes of `buf` are
//! initialised, and `len <= buf.len()`. No method writes an uninitialised byte, so a buffer that came in
//! initialised stays so ([`Out::from_slice`] rests on that).
#![allow(unsafe_code)]

use crate::Full;
use core::mem::MaybeUninit;

/// A buffer of possibly uninitialised bytes, filled from the front.
///
/// Receive buffers handed over by C may be uninitialised; so may a reused scratch buffer. `Out` keeps count of
/// what has been written, and hands out only that.
#[derive(Debug)]
pub struct Out<'a> {
    buf: &'a mut [MaybeUninit<u8>],
    len: usize,
}

impl<'a> Out<'a> {
    /// An empty output over `buf`.
    #[must_use]
    pub fn new(buf: &'a mut [MaybeUninit<u8>]) -> Self {
        Self { buf, len: 0 }
    }

    /// An empty output over initialised bytes, which will be overwritten.
    #[must_use]
    pub fn from_slice(buf: &'a mut [u8]) -> Self {
        let len = buf.len();
        let ptr = buf.as_mut_ptr().cast::<MaybeUninit<u8>>();
        // SAFETY: `ptr` and `len` are those of an exclusive slice borrowed for 'a, and `MaybeUninit<u8>` has the
        // layout of `u8`. By the module's invariant nothing uninitialised is ever written through it, so the
        // lender finds initialised bytes again.
        Self { buf: unsafe { core::slice::from_raw_parts_mut(ptr, len) }, len: 0 }
    }

    /// Bytes written so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing has been written yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of room left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.buf.len() - self.len
    }

    /// What has been written so far.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are initialised (module invariant).
        unsafe { core::slice::from_raw_parts(self.buf.as_ptr().cast::<u8>(), self.len) }
    }

    /// What has been written, to be changed in place.
    #[must_use]
    pub fn written_mut(&mut self) -> &mut [u8] {
        // SAFETY: the first `len` bytes are initialised (module invariant); the borrow is exclusive.
        unsafe { core::slice::from_raw_parts_mut(self.buf.as_mut_ptr().cast::<u8>(), self.len) }
    }

    /// Takes back everything past the first `len` bytes; does nothing where there are fewer.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Adds `bytes`.
    ///
    /// # Errors
    /// [`Full`] if there is less room than that; nothing is added then.
    #[inline]
    pub fn extend_from_slice(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let end = self.len + self.spare(bytes.len())?.write_copy_of_slice(bytes).len();
        self.len = end;
        Ok(())
    }

    /// Adds `n` zero bytes, for a decoder that works in place, and gives all that has been written.
    ///
    /// # Errors
    /// [`Full`] if there is less room than that; nothing is added then.
    #[inline]
    pub fn extend_zeroed(&mut self, n: usize) -> Result<&mut [u8], Full> {
        self.spare(n)?.fill(MaybeUninit::new(0));
        self.len += n;
        Ok(self.written_mut())
    }

    /// Stores all of `bytes` at the end but adds only the first `keep` (at most `N`) of them, so that a
    /// bit packer can store whole words at a fixed cost and advance by a part. Where fewer than `N` bytes of
    /// room are left, only the kept ones are stored.
    ///
    /// # Errors
    /// [`Full`] if there is no room for the kept bytes; nothing is added then.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, bytes: &[u8; N], keep: usize) -> Result<(), Full> {
        let keep = keep.min(N);
        match self.buf[self.len..].first_chunk_mut::<N>() {
            Some(chunk) => {
                *chunk = bytes.map(MaybeUninit::new);
                self.len += keep;
                Ok(())
            }
            None => self.extend_from_slice(&bytes[..keep]),
        }
    }

    /// The next `n` bytes of room.
    #[inline]
    fn spare(&mut self, n: usize) -> Result<&mut [MaybeUninit<u8>], Full> {
        self.buf[self.len..].get_mut(..n).ok_or(Full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_by_what_is_written_and_refuses_more() {
        let mut buf = [MaybeUninit::uninit(); 5];
        let mut out = Out::new(&mut buf);
        assert!(out.is_empty());
        assert_eq!(out.extend_from_slice(b"abc"), Ok(()));
        assert_eq!(out.extend_from_slice(b"def"), Err(Full));
        assert_eq!((out.written(), out.remaining()), (&b"abc"[..], 2));
        out.truncate(9);
        assert_eq!(out.len(), 3);
        out.truncate(1);
        assert_eq!(out.written(), b"a");
        out.written_mut()[0] = b'x';
        assert_eq!(out.written(), b"x");
        assert_eq!(out.extend_zeroed(5), Err(Full));
        out.extend_zeroed(2).unwrap()[1] = b'y';
        assert_eq!((out.written(), out.remaining()), (&b"xy\0"[..], 2));
    }

    #[test]
    fn store_keeps_a_part_and_respects_the_end() {
        let mut bytes = [0xee; 6];
        let mut out = Out::from_slice(&mut bytes);
        assert_eq!(out.store(b"abcd", 1), Ok(()));
        assert_eq!(out.store(b"efgh", 2), Ok(()));
        assert_eq!(out.written(), b"aef");
        assert_eq!(out.store(b"ijkl", 2), Ok(()), "no room for four, but for the kept two");
        assert_eq!(out.store(b"mnop", 2), Err(Full));
        assert_eq!(out.store(b"q", 99), Ok(()), "never keeps more than it stored");
        assert_eq!(out.written(), b"aefijq");
        assert_eq!(&bytes, b"aefijq");
    }
}
