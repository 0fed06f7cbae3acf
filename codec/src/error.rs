//! Errors: small, `Copy`, with no text except `Display`.
#![forbid(unsafe_code)]

use core::fmt;

/// Why a message cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EncodeErrorKind {
    /// The output is too small.
    Room,
    /// The reference is not as long as the message. Only codecs that take one give this error.
    Reference,
}

/// The output is too small, or the reference differs in length from the message. The output has no more bytes than before, and the encoder is
/// unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodeError {
    /// What is wrong.
    pub kind: EncodeErrorKind,
    /// The room in bytes that guarantees success: the codec's `max_encoded_len` (`usize::MAX` if that overflows). For a reference, the length of the
    /// message.
    pub needed: usize,
    /// The room that was available, in bytes. For a reference, its length.
    pub available: usize,
}

impl EncodeError {
    /// A room error, with the needed and the available room in bytes.
    #[must_use]
    pub const fn new(needed: usize, available: usize) -> Self {
        Self { kind: EncodeErrorKind::Room, needed, available }
    }

    /// A reference error, with the lengths of the reference and of the message in bytes.
    #[must_use]
    pub const fn reference(len: usize, raw_len: usize) -> Self {
        Self { kind: EncodeErrorKind::Reference, needed: raw_len, available: len }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, available, .. } = self;
        match self.kind {
            EncodeErrorKind::Room => {
                write!(f, "output too small: {needed} bytes needed, {available} available")
            }
            EncodeErrorKind::Reference => {
                write!(f, "the reference has {available} bytes, the message {needed}")
            }
        }
    }
}

impl core::error::Error for EncodeError {}

/// What is wrong with wire data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The wire ends before the message does. Every proper prefix of valid wire data gives this error.
    Truncated,
    /// The wire contains something that no encoder writes.
    Corrupt,
    /// The number of raw bytes in the wire differs from the room in the output.
    Length,
    /// A version, codec or mode that this build does not know.
    Unsupported,
    /// The wire continues a history that this decoder does not have; reset it and the encoder.
    State,
    /// The reference is not as long as the output. Only codecs that take one give this error.
    Reference,
    /// The decoder is faulty: it reported success without filling the output.
    Unfilled,
    /// The message is longer than the caller allows, or memory for it is not available.
    TooLong,
}

/// An error in wire data: its kind and position.
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
            DecodeErrorKind::Reference => "the reference is not as long as the output",
            DecodeErrorKind::Unfilled => "the decoder reported success but did not fill the output",
            DecodeErrorKind::TooLong => "the message is longer than allowed, or than there is memory for",
        };
        write!(f, "{what} (at byte {})", self.offset)
    }
}

impl core::error::Error for DecodeError {}

/// [`Out`](crate::Out) has no room for the bytes to be added. Nothing was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("output full")
    }
}

impl core::error::Error for Full {}

/// The memory given to a codec for its state is too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryError {
    /// 64-bit words needed.
    pub needed: usize,
    /// 64-bit words given.
    pub available: usize,
}

impl MemoryError {
    /// An error with the needed and the given number of 64-bit words.
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
