//! The LZ77 format of this project: its facts, and what an encoder writes. `docs/format/lz77.md` defines it.

mod read;
mod write;

use crate::format::{Sealed, Sequence};
use mpress_codec::{Codec, CodecId, DecodeError, Full, Out};

/// The facts of codec 18, whose wire is `docs/format/lz77.md`; with it [`Encoder`](crate::Encoder) and
/// [`Decoder`](crate::Decoder) write and read that.
#[derive(Clone, Copy, Debug)]
pub struct Lz77;

/// Byte 0 of the header (section 2).
const VERSION: u8 = 1;
/// Bytes of the header.
const HEADER: usize = 2;
/// Bytes of a token with its distance (section 3).
const HEAD: usize = 3;
/// The half of a token that says that a length follows.
const MORE: usize = 15;
/// The shortest copy, which half a token of 0 stands for.
const LEAST: usize = 4;
/// Bits of a length in one byte (section 4).
const GROUP: u32 = 7;
/// The most bytes of a length: 49 bits.
const LONGEST: u32 = 7;

impl Codec for Lz77 {
    const ID: CodecId = CodecId::LZ77;
    const NAME: &'static str = "lz77";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;

    /// `raw_len` as literals: the header, a token with its distance, and their number (format, section 5).
    fn max_encoded_len(raw_len: usize) -> Option<usize> {
        if raw_len == 0 {
            return Some(HEADER);
        }
        raw_len.checked_add(HEADER + HEAD + write::more_len(raw_len))
    }
}

impl Sealed for Lz77 {
    const WINDOW: usize = u16::MAX as usize;

    #[inline(always)]
    fn pays(sequence: &Sequence<'_>) -> bool {
        // The length of a copy takes less than the copy; so only that of many literals can be too long.
        sequence.literals < MORE
            || HEAD + write::more_len(sequence.literals) + write::more_len(sequence.len - LEAST)
                <= sequence.len
    }

    fn begin(raw_len: usize, out: &mut Out<'_>) -> Result<(), Full> {
        out.extend_from_slice(&[VERSION, (raw_len % 8) as u8])
    }

    #[inline(always)]
    fn sequence(sequence: &Sequence<'_>, _first: bool, out: &mut Out<'_>) -> Result<(), Full> {
        write::sequence(sequence.rest, sequence.literals, sequence.distance, sequence.len - LEAST, out)
    }

    fn finish(literals: &[u8], _first: bool, out: &mut Out<'_>) -> Result<(), Full> {
        match literals.len() {
            0 => Ok(()),
            n => write::sequence(literals, n, 0, 0, out),
        }
    }

    #[inline(always)]
    fn decode(wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        read::message(wire, out)
    }
}
