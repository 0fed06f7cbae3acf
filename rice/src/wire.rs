//! Reads a wire from its front.
#![forbid(unsafe_code)]

use mpress_codec::DecodeError;
use mpress_codec::DecodeErrorKind::{self, Corrupt, Truncated};

/// A wire and the current read position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Wire<'a> {
    #[inline(always)]
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let rest = self.bytes.get(self.at..).and_then(|rest| rest.get(..len));
        let taken = rest.ok_or(DecodeError::new(Truncated, self.bytes.len()))?;
        self.at += len;
        Ok(taken)
    }

    #[inline(always)]
    pub(crate) fn take_array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let rest = self.bytes.get(self.at..).and_then(<[_]>::first_chunk);
        let taken = rest.ok_or(DecodeError::new(Truncated, self.bytes.len()))?;
        self.at += N;
        Ok(*taken)
    }

    /// An error at the current position.
    pub(crate) fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(kind, self.at)
    }

    /// The error for something at the current position that no encoder writes.
    pub(crate) fn corrupt(&self) -> DecodeError {
        self.error(Corrupt)
    }
}
