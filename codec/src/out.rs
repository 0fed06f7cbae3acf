//! `Out`: the output buffer, which only grows by initialised bytes.
//!
//! This is the only module of the crate with unsafe code. Its invariant: the first `len` bytes of `buf` are initialised, and `len <= buf.len()`. No
//! method writes an uninitialised byte, so a buffer that was initialised at first remains so ([`Out::from_slice`] relies on that).
#![allow(unsafe_code)]

use crate::{EncodeError, Full};
use core::mem::MaybeUninit;

/// A buffer of possibly uninitialised bytes, filled from the front.
///
/// Receive buffers passed by C may be uninitialised, and so may reused scratch buffers. `Out` tracks what has been written and exposes only that.
#[derive(Debug)]
pub struct Out<'a> {
    buf: &'a mut [MaybeUninit<u8>],
    len: usize,
}

/// The address and length of the memory of an [`Out`].
///
/// While the memory is lent, safe code cannot create a second `Out` over it. So an `Out` with the same place is the one that was lent, unless its
/// length is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    start: *const MaybeUninit<u8>,
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
        // SAFETY: `ptr` and `len` are those of an exclusive slice borrowed for 'a, and `MaybeUninit<u8>` has the layout of `u8`. By the module's
        // invariant nothing uninitialised is ever written through it, so the lender's bytes are still initialised afterwards.
        Self { buf: unsafe { core::slice::from_raw_parts_mut(ptr, len) }, len: 0 }
    }

    /// The memory that this writes to. Safe code can replace a lent `Out` by another one; a lender can use this to verify that it got its own back.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { start: self.buf.as_ptr(), len: self.buf.len() }
    }

    /// The number of bytes written so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing has been written yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of bytes of room left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.buf.len() - self.len
    }

    /// The bytes written so far.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are initialised (module invariant).
        unsafe { core::slice::from_raw_parts(self.buf.as_ptr().cast::<u8>(), self.len) }
    }

    /// The bytes written so far, mutably.
    #[must_use]
    pub fn written_mut(&mut self) -> &mut [u8] {
        // SAFETY: the first `len` bytes are initialised (module invariant); the borrow is exclusive.
        unsafe { core::slice::from_raw_parts_mut(self.buf.as_mut_ptr().cast::<u8>(), self.len) }
    }

    /// The bytes written so far, with the lifetime of the borrow of the memory.
    #[must_use]
    pub fn into_written(self) -> &'a mut [u8] {
        let written = &mut self.buf[..self.len];
        // SAFETY: the first `len` bytes are initialised (module invariant); the exclusive borrow for 'a is passed on.
        unsafe { core::slice::from_raw_parts_mut(written.as_mut_ptr().cast::<u8>(), written.len()) }
    }

    /// Removes everything past the first `len` bytes; does nothing if there are fewer.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Checks the room first: calls `write` if there is room for `most` bytes. Lack of room is then the only possible error, as
    /// [`Encode::encode`](crate::Encode::encode) requires. `write` must not write more. `None` means more than any buffer has. An encoder that keeps
    /// no state from message to message calls [`attempt`](Self::attempt) instead.
    ///
    /// # Errors
    /// If there is less room.
    #[inline]
    pub fn within(
        &mut self,
        most: Option<usize>,
        write: impl FnOnce(&mut Self) -> Result<(), Full>,
    ) -> Result<(), EncodeError> {
        let needed = most.unwrap_or(usize::MAX);
        let error = EncodeError::new(needed, self.remaining());
        if needed > self.remaining() {
            return Err(error);
        }
        write(self).map_err(|_| error)
    }

    /// Writes a message whose wire takes at most `most` bytes, and succeeds wherever the wire fits; `None` means more than any buffer has. For
    /// encoders that a failed attempt leaves unchanged; others need [`within`](Self::within).
    ///
    /// # Errors
    /// If `write` finds no room. What it wrote is removed.
    #[inline]
    pub fn attempt(
        &mut self,
        most: Option<usize>,
        write: impl FnOnce(&mut Self) -> Result<(), Full>,
    ) -> Result<(), EncodeError> {
        let error = EncodeError::new(most.unwrap_or(usize::MAX), self.remaining());
        self.all_or_nothing(write).map_err(|Full| error)
    }

    /// Writes all or nothing: removes what `write` wrote before an error, as [`Decode::decode`](crate::Decode::decode) requires.
    ///
    /// # Errors
    /// The errors of `write`.
    #[inline]
    pub fn all_or_nothing<E>(&mut self, write: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        let start = self.len();
        let result = write(self);
        if result.is_err() {
            self.truncate(start);
        }
        result
    }

    /// Adds `bytes`.
    ///
    /// # Errors
    /// [`Full`] if there is less room; nothing is added then.
    #[inline]
    pub fn extend_from_slice(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let end = self.len + self.spare(bytes.len())?.write_copy_of_slice(bytes).len();
        self.len = end;
        Ok(())
    }

    /// Adds `n` zero bytes, for a decoder that works in place, and returns all bytes written so far.
    ///
    /// # Errors
    /// [`Full`] if there is less room; nothing is added then.
    #[inline]
    pub fn extend_zeroed(&mut self, n: usize) -> Result<&mut [u8], Full> {
        self.spare(n)?.fill(MaybeUninit::new(0));
        self.len += n;
        Ok(self.written_mut())
    }

    /// Stores all of `bytes` at the end but adds only the first `keep` (at most `N`) of them, so that a bit packer can store whole words at a fixed
    /// cost and advance by part of a word. With fewer than `N` bytes of room, stores only the kept ones.
    ///
    /// # Errors
    /// [`Full`] if there is no room for the kept bytes; nothing is added then.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, bytes: &[u8; N], keep: usize) -> Result<(), Full> {
        let keep = keep.min(N);
        match self.buf[self.len..].first_chunk_mut::<N>() {
            Some(chunk) => {
                // Not `map`: without optimisation across crates, it makes a call for each byte.
                chunk.write_copy_of_slice(bytes);
                self.len += keep;
                Ok(())
            }
            None => self.extend_from_slice(&bytes[..keep]),
        }
    }

    /// Adds `len` bytes, each a copy of the byte `distance` bytes before it, as in LZ77. If `len` exceeds `distance`, bytes repeat. Copies whole
    /// vectors; bytes stored past the added ones are not part of the output.
    ///
    /// # Errors
    /// [`Full`] if there is less room; nothing is added then. Nothing is added either if `distance` is 0 or exceeds the number of bytes written; the
    /// caller must check this first.
    #[inline(always)]
    pub fn extend_from_within(&mut self, distance: usize, len: usize) -> Result<(), Full> {
        // The most frequent case: short copies, not too near and not at the end.
        if len <= 2 * VECTOR
            && (VECTOR..=self.len).contains(&distance)
            && self.buf.len() - self.len >= 2 * VECTOR
        {
            // SAFETY: `VECTOR <= distance <= self.len`, and after `self.len` there are two vectors of room.
            unsafe {
                copy_vector(self.buf, self.len - distance, self.len);
                copy_vector(self.buf, self.len + VECTOR - distance, self.len + VECTOR);
            }
            self.len += len;
            return Ok(());
        }
        self.len = repeat(self.buf, self.len, distance, len)?;
        Ok(())
    }

    /// The memory that this writes to: [`len`](Self::len) + [`remaining`](Self::remaining) bytes. Kernels write to it directly and then call
    /// [`assume_written`](Self::assume_written). Only initialised bytes may be written through it: the memory may be a slice of the caller's
    /// ([`from_slice`](Self::from_slice)), and what was written before stays [`written`](Self::written).
    #[must_use]
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut MaybeUninit<u8> {
        self.buf.as_mut_ptr()
    }

    /// Adds the next `n` bytes of room, which have been written through [`as_mut_ptr`](Self::as_mut_ptr).
    ///
    /// # Safety
    /// There is room for `n` bytes, and all of them are initialised.
    #[inline]
    pub unsafe fn assume_written(&mut self, n: usize) {
        debug_assert!(n <= self.remaining());
        self.len += n;
    }

    /// The next `n` bytes of room.
    #[inline]
    fn spare(&mut self, n: usize) -> Result<&mut [MaybeUninit<u8>], Full> {
        self.buf[self.len..].get_mut(..n).ok_or(Full)
    }
}

/// The number of bytes that a copy moves at once: a vector that every x86-64 and aarch64 has.
const VECTOR: usize = 16;

/// Copies the `VECTOR` bytes at `from` to `to`. This only copies bytes within `buf`, so a buffer without uninitialised bytes remains so.
///
/// # Safety
/// `from + VECTOR <= to`, and `to + VECTOR <= buf.len()`.
#[inline(always)]
unsafe fn copy_vector(buf: &mut [MaybeUninit<u8>], from: usize, to: usize) {
    debug_assert!(from + VECTOR <= to && to + VECTOR <= buf.len());
    let buf = buf.as_mut_ptr();
    // SAFETY: the caller guarantees that both ranges lie in `buf` and that the first one ends before the second one begins.
    unsafe { core::ptr::copy_nonoverlapping(buf.add(from), buf.add(to), VECTOR) };
}

/// The general case of [`Out::extend_from_within`]: the first `at` bytes of `buf` are initialised; returns how many are afterwards. Takes the parts
/// of an `Out` separately, so that the `Out` can be kept in registers.
#[inline(never)]
fn repeat(buf: &mut [MaybeUninit<u8>], mut at: usize, distance: usize, len: usize) -> Result<usize, Full> {
    let end = at.checked_add(len).filter(|end| *end <= buf.len()).ok_or(Full)?;
    if distance == 0 || distance > at {
        return Err(Full);
    }
    // A whole vector can be stored below this offset.
    let wild = buf.len().saturating_sub(VECTOR - 1).min(end);
    let mut period = distance;
    if distance < 8 && end - at >= 8 && at + 32 <= buf.len() {
        // Bytes that repeat within a word: fill a word with the pattern and store it four times. A multiplication by ones that are `distance` bytes
        // apart repeats the lowest `distance` bytes.
        let mut pattern = [MaybeUninit::new(0); 8];
        pattern[..distance].copy_from_slice(&buf[at - distance..at]);
        (distance..8).for_each(|i| pattern[i] = pattern[i - distance]);
        let stride = 8 - 8 % distance;
        for i in 0..4 {
            buf[at + i * stride..][..8].copy_from_slice(&pattern);
        }
        at += 4 * stride;
        period = 4 * stride;
    }
    // Bytes that repeat within a vector: each copy doubles their number.
    while period < VECTOR && at + period <= wild {
        buf.copy_within(at - period..at, at);
        at += period;
        period *= 2;
    }
    if period >= VECTOR {
        while at < wild {
            // SAFETY: `VECTOR <= period <= at`, and `at + VECTOR <= buf.len()` as `at < wild`.
            unsafe { copy_vector(buf, at - period, at) };
            at += VECTOR;
        }
    }
    while at < end {
        buf[at] = buf[at - period];
        at += 1;
    }
    Ok(end)
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
    fn a_place_tells_one_output_from_another() {
        let (mut one, mut other) = ([0; 8], [0; 8]);
        let mut out = Out::from_slice(&mut one);
        let place = out.place();
        out.extend_from_slice(b"abc").unwrap();
        assert_eq!(out.place(), place, "however much is written");
        let lent = core::mem::replace(&mut out, Out::from_slice(&mut other));
        assert_ne!(out.place(), place);
        assert_eq!(lent.place(), place);
        assert_eq!(lent.into_written(), b"abc");
        assert_ne!(Out::from_slice(&mut one[..7]).place(), place);
        assert_ne!(Out::from_slice(&mut one[1..]).place(), place);
    }

    #[test]
    fn a_message_is_written_whole_or_not_at_all() {
        let mut bytes = [0xee; 4];
        let mut out = Out::from_slice(&mut bytes);
        let write = |out: &mut Out<'_>| out.extend_from_slice(b"abc");
        assert_eq!(out.within(Some(5), write), Err(EncodeError::new(5, 4)));
        assert_eq!(out.within(None, write), Err(EncodeError::new(usize::MAX, 4)));
        assert!(out.is_empty());
        let longer = |out: &mut Out<'_>| {
            write(out)?;
            write(out)
        };
        assert_eq!(out.attempt(Some(9), longer), Err(EncodeError::new(9, 4)));
        assert!(out.is_empty());
        assert_eq!(out.attempt(Some(9), write), Ok(()), "there is room for the three");
        out.truncate(0);
        assert_eq!(out.within(Some(4), write), Ok(()));
        let twice = |out: &mut Out<'_>| {
            out.extend_from_slice(b"d")?;
            out.extend_from_slice(b"e")
        };
        assert_eq!(out.all_or_nothing(twice), Err(Full));
        assert_eq!(out.written(), b"abc");
        assert_eq!(out.all_or_nothing(|out| out.extend_from_slice(b"d")), Ok(()));
        assert_eq!(out.written(), b"abcd");
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
    /// The result of `extend_from_within`, computed byte by byte.
    fn model(bytes: &mut Vec<u8>, distance: usize, len: usize) {
        (0..len).for_each(|_| bytes.push(bytes[bytes.len() - distance]));
    }

    #[test]
    fn a_copy_repeats_what_stands_before_it() {
        let lead: Vec<u8> = (1..=70).collect();
        for distance in 1..=lead.len() {
            for len in 0..=90 {
                // No room after the copy, a little, and enough for every code path.
                for room in [0, 1, 15, 16, 31, 32, 100] {
                    let mut expected = lead.clone();
                    model(&mut expected, distance, len);
                    let mut buf = vec![MaybeUninit::uninit(); expected.len() + room];
                    let mut out = Out::new(&mut buf);
                    out.extend_from_slice(&lead).unwrap();
                    assert_eq!(out.extend_from_within(distance, len), Ok(()));
                    assert_eq!(out.written(), expected, "distance {distance}, len {len}, room {room}");
                    assert_eq!(out.remaining(), room);
                }
            }
        }
    }

    #[test]
    fn a_long_copy_fills_the_room_to_the_last_byte() {
        for distance in 1..=40 {
            let mut expected: Vec<u8> = (1..=40).collect();
            let mut buf = vec![0xee; 5000];
            let mut out = Out::from_slice(&mut buf);
            out.extend_from_slice(&expected).unwrap();
            model(&mut expected, distance, 4960);
            assert_eq!(out.extend_from_within(distance, 4960), Ok(()));
            assert_eq!(buf, expected, "distance {distance}");
        }
    }

    #[test]
    fn a_copy_that_cannot_be_adds_nothing() {
        let mut buf = [0xee; 60];
        let mut out = Out::from_slice(&mut buf);
        out.extend_from_slice(&[7; 20]).unwrap();
        for (distance, len) in
            [(1, 41), (20, usize::MAX), (20, 41), (0, 1), (0, 32), (21, 1), (21, 32), (usize::MAX, 9)]
        {
            assert_eq!(out.extend_from_within(distance, len), Err(Full), "distance {distance}, len {len}");
            assert_eq!(out.written(), [7; 20]);
        }
        assert_eq!(out.extend_from_within(20, 40), Ok(()));
    }

    extern crate std;
    use std::vec;
    use std::vec::Vec;
}
