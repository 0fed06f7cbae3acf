//! Errors: small, `Copy`, without text of their own beyond `Display`.
#![forbid(unsafe_code)]

use core::fmt;

/// The output is too small. Raised before any byte is written and before any state changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodeError {
    /// Bytes of room that guarantee success: the codec's `max_encoded_len` (`usize::MAX` if that overflows).
    pub needed: usize,
    /// Bytes of room there were.
    pub available: usize,
}

impl EncodeError {
    /// An error that says how much room was needed and how much there was, in bytes.
    #[must_use]
    pub const fn new(needed: usize, available: usize) -> Self {
        Self { needed, available }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "output too small: {} bytes needed, {} available", self.needed, self.available)
    }
}

impl core::error::Error for EncodeError {}

/// What is wrong with a piece of wire data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The wire ends before the message does. Every proper prefix of valid wire data gives this.
    Truncated,
    /// The wire holds something no encoder writes.
    Corrupt,
    /// The wire does not hold exactly as many raw bytes as the output has room for.
    Length,
    /// A version, codec or mode that this build does not know.
    Unsupported,
    /// The wire continues a history that this decoder does not have; `reset` it, and the encoder.
    State,
    /// The decoder is at fault: it reported success without filling the output.
    Unfilled,
}

/// Wire data that cannot be decoded: what is wrong, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// What is wrong.
    pub kind: DecodeErrorKind,
    /// Offset into the wire, in bytes, at or shortly after the fault.
    pub offset: usize,
}

impl DecodeError {
    /// An error of this kind at this byte offset of the wire.
    #[must_use]
    pub const fn new(kind: DecodeErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DecodeErrorKind::Truncated => "wire data ends too early",
            DecodeErrorKind::Corrupt => "corrupt wire data",
            DecodeErrorKind::Length => "wire data and output differ in length",
            DecodeErrorKind::Unsupported => "unknown version, codec or mode",
            DecodeErrorKind::State => "wire data continues a history this decoder does not have",
            DecodeErrorKind::Unfilled => "the decoder reported success but did not fill the output",
        };
        write!(f, "{what} (at byte {})", self.offset)
    }
}

impl core::error::Error for DecodeError {}

/// [`Out`](crate::Out) has no room for what should be added. Nothing was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("output full")
    }
}

impl core::error::Error for Full {}

/// The state memory handed to a codec is smaller than it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryError {
    /// 64-bit words needed.
    pub needed: usize,
    /// 64-bit words given.
    pub available: usize,
}

impl MemoryError {
    /// An error that says how many 64-bit words were needed and given.
    #[must_use]
    pub const fn new(needed: usize, available: usize) -> Self {
        Self { needed, available }
    }
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state memory too small: {} words needed, {} given", self.needed, self.available)
    }
}

impl core::error::Error for MemoryError {}
