//! A wire, read from the front.
#![forbid(unsafe_code)]

use mpress_codec::DecodeErrorKind::{self, Truncated};
use mpress_codec::{DecodeError, Full};

/// The rest of a wire.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(wire: &'a [u8]) -> Self {
        Self { rest: wire, len: wire.len() }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline(always)]
    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        let (byte, rest) = self.rest.split_first().ok_or_else(|| self.truncated())?;
        self.rest = rest;
        Ok(*byte)
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(n).ok_or_else(|| self.truncated())?;
        self.rest = rest;
        Ok(taken)
    }

    /// An error at the current position.
    #[cold]
    pub(crate) fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(kind, self.len - self.rest.len())
    }

    #[cold]
    fn truncated(&self) -> DecodeError {
        DecodeError::new(Truncated, self.len)
    }

    /// The error for an output whose room has been checked before.
    #[cold]
    pub(crate) fn full(&self, _: Full) -> DecodeError {
        self.error(DecodeErrorKind::Length)
    }
}
