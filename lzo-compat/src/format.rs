//! The interface of a wire format to the parsers, the encoder and the decoder.

use crate::effort::Effort;
use crate::positions::Positions;
use core::mem;
use mpress_codec::{Codec, DecodeError, Full, Out};

/// A format of copies and literals: [`Lz77`](crate::Lz77) or [`Lzo1x`](crate::Lzo1x).
pub trait Format: Codec + Sealed {}

impl<F: Codec + Sealed> Format for F {}

/// Literals followed by a copy.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    /// The message from the first literal on.
    pub rest: &'a [u8],
    /// The number of literals.
    pub literals: usize,
    /// The distance from the copy's source to its first byte, in bytes.
    pub distance: usize,
    /// The length of the copy in bytes.
    pub len: usize,
}

/// The part of a [`Format`] that other crates cannot name, and so cannot implement.
pub trait Sealed {
    /// The maximum distance of a copy in bytes.
    const WINDOW: usize;

    /// The maximum wire length of `raw_len` raw bytes in bytes; `None` if it overflows.
    fn bound(raw_len: usize) -> Option<usize>;

    /// Whether the wire with this sequence is no longer than with literals instead. Only such sequences are written, so the worst case is a message
    /// of literals.
    fn pays(sequence: &Sequence<'_>) -> bool;

    /// Writes the bytes before the first sequence of a message of `raw_len` bytes.
    fn begin(raw_len: usize, out: &mut Out<'_>) -> Result<(), Full>;

    /// Writes a sequence. `first`: it is the message's first.
    fn sequence(sequence: &Sequence<'_>, first: bool, out: &mut Out<'_>) -> Result<(), Full>;

    /// Writes the literals after the last copy, and the end of the stream.
    fn finish(literals: &[u8], first: bool, out: &mut Out<'_>) -> Result<(), Full>;

    /// Encodes a message. Like [`decode`](Self::decode), it is not generic, so it is compiled in this crate, and not again in each crate that uses
    /// it.
    fn encode(raw: &[u8], effort: Effort, positions: &mut Positions, out: &mut Out<'_>) -> Result<(), Full>;

    /// Decodes a message into all the remaining room of `out`. After an error the bytes that `out` gained are unspecified.
    fn decode(wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError>;
}

/// Runs `work` with a local output, which can be kept in registers.
#[inline(always)]
pub(crate) fn in_local<'b, R>(out: &mut Out<'b>, work: impl FnOnce(&mut Out<'b>) -> R) -> R {
    let mut local = mem::replace(out, Out::new(&mut []));
    let result = work(&mut local);
    *out = local;
    result
}
