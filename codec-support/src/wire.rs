//! A wire, read from its front.
#![forbid(unsafe_code)]

use mpress_codec::DecodeErrorKind::{self, Corrupt, Length, Truncated};
use mpress_codec::{DecodeError, Full, Out, length};

/// Appends a header: `bytes`, then `raw_len`, the length of the message.
///
/// # Errors
/// [`Full`] if there is no room for it.
#[inline]
pub fn put_header(bytes: &[u8], raw_len: usize, out: &mut Out<'_>) -> Result<(), Full> {
    let (len, used) = length::to_wire(raw_len);
    out.extend_from_slice(bytes)?;
    out.store(&len, used)
}

/// A wire and the current read position. Small, so that it can be kept in registers and copied to remember a place.
#[derive(Clone, Copy, Debug)]
pub struct Wire<'a> {
    /// All of the wire.
    pub bytes: &'a [u8],
    /// The position, in bytes. Not past the end.
    pub at: usize,
}

impl<'a> Wire<'a> {
    /// A wire at its front.
    #[must_use]
    #[inline(always)]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The part not read yet.
    #[must_use]
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Reads a byte.
    ///
    /// # Errors
    /// [`Truncated`] at the end; likewise for the methods below.
    #[inline(always)]
    pub fn byte(&mut self) -> Result<u8, DecodeError> {
        let byte = *self.bytes.get(self.at).ok_or(self.truncated())?;
        self.at += 1;
        Ok(byte)
    }

    /// Reads `len` bytes.
    #[inline(always)]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let rest = self.bytes.get(self.at..).and_then(|rest| rest.get(..len));
        let taken = rest.ok_or(self.truncated())?;
        self.at += len;
        Ok(taken)
    }

    /// Reads `N` bytes.
    #[inline(always)]
    pub fn take_array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let rest = self.bytes.get(self.at..).and_then(<[_]>::first_chunk);
        let taken = rest.ok_or(self.truncated())?;
        self.at += N;
        Ok(*taken)
    }

    /// Reads a number of `len` bytes, fewer than 8.
    #[inline(always)]
    pub fn take_number(&mut self, len: usize) -> Result<u64, DecodeError> {
        let rest = self.rest();
        let taken = self.take(len)?;
        // Load eight bytes: copying fewer into a `u64` takes longer than the work on them.
        let number = match rest.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => taken.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        };
        Ok(number & !(u64::MAX << (8 * len)))
    }

    /// Reads the length of a message, which must be `raw_len`, the length of the output in bytes.
    ///
    /// # Errors
    /// As for [`length::read`]; [`Length`] if the length differs.
    #[inline]
    pub fn message_len(&mut self, raw_len: usize) -> Result<(), DecodeError> {
        let (len, end) = length::read(self.bytes, self.at)?;
        if len != raw_len as u64 {
            return Err(self.error(Length));
        }
        self.at = end;
        Ok(())
    }

    /// Ends the message: no bytes may be left.
    ///
    /// # Errors
    /// [`Length`] if any bytes are left.
    #[inline(always)]
    pub fn finish(&self) -> Result<(), DecodeError> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.error(Length)) }
    }

    /// An error at the current position.
    #[must_use]
    #[inline(always)]
    pub fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(kind, self.at)
    }

    /// The error for something at the current position that no encoder writes.
    #[must_use]
    #[inline(always)]
    pub fn corrupt(&self) -> DecodeError {
        self.error(Corrupt)
    }

    /// The error for a wire that ends too early.
    #[must_use]
    #[inline(always)]
    pub fn truncated(&self) -> DecodeError {
        DecodeError::new(Truncated, self.bytes.len())
    }

    /// The error for an output without room for the message read so far.
    #[must_use]
    #[inline(always)]
    pub fn full(&self, _: Full) -> DecodeError {
        self.error(Length)
    }
}
