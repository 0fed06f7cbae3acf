//! What the parsers and the two ends need of a wire format.

use mpress_codec::{Codec, DecodeError, Full, Out};

/// A format of copies and literals: [`Lz77`](crate::Lz77) or [`Lzo1x`](crate::Lzo1x).
pub trait Format: Codec + Sealed {}

impl<F: Codec + Sealed> Format for F {}

/// Literals, and a copy after them.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    /// The message from the first literal on.
    pub rest: &'a [u8],
    /// Number of literals.
    pub literals: usize,
    /// How many bytes before its first one the copy's source begins.
    pub distance: usize,
    /// Bytes of the copy.
    pub len: usize,
}

/// The part of a [`Format`] that no other crate can name, and so none can implement.
pub trait Sealed {
    /// The farthest distance of a copy, in bytes.
    const WINDOW: usize;

    /// Whether this sequence makes the wire no longer than literals in its place would. Only such sequences are written, and
    /// so the worst case is a message of literals.
    fn pays(sequence: &Sequence<'_>) -> bool;

    /// Writes what stands before the first sequence of a message of `raw_len` bytes.
    fn begin(raw_len: usize, out: &mut Out<'_>) -> Result<(), Full>;

    /// Writes a sequence, the first one of a message or another.
    fn sequence(sequence: &Sequence<'_>, first: bool, out: &mut Out<'_>) -> Result<(), Full>;

    /// Writes the literals after the last copy, and the end.
    fn finish(literals: &[u8], first: bool, out: &mut Out<'_>) -> Result<(), Full>;

    /// Decodes a message into all the room that `out` has left. On an error `out` may hold anything after what it held.
    fn decode(wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError>;
}
