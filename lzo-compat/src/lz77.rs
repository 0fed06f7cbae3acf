//! This project's LZ77 format: its description and how it is written. `docs/format/lz77.md` defines it.

mod read;
mod write;

use crate::decode::Decoder;
use crate::effort::Effort;
use crate::encode::Encoder;
use crate::format::{Sealed, Sequence, in_local};
use crate::parse;
use crate::positions::Positions;
use mpress_codec::{Codec, CodecId, DecodeError, Full, Out};

/// The static description of codec 18, whose wire format is `docs/format/lz77.md`, for [`Encoder`](crate::Encoder) and [`Decoder`](crate::Decoder).
#[derive(Clone, Copy, Debug)]
pub struct Lz77;

/// Byte 0 of the header (section 2).
const VERSION: u8 = 1;
/// Length of the header in bytes.
const HEADER: usize = 2;
/// Length in bytes of a token with its distance (section 3).
const HEAD: usize = 3;
/// The value of a half token that is followed by a length.
const MORE: usize = 15;
/// The shortest copy, encoded as a half token of 0.
const LEAST: usize = 4;
/// Bits of a length per byte (section 4).
const GROUP: u32 = 7;
/// The maximum number of bytes of a length: 49 bits.
const LONGEST: u32 = 7;

impl Codec for Lz77 {
    const ID: CodecId = CodecId::LZ77;
    const NAME: &'static str = "lz77";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;

    type Encoder = Encoder<Self>;
    type Decoder = Decoder<Self>;

    /// With [`Effort::Fast`].
    fn encoder() -> Self::Encoder {
        Encoder::new(Effort::default())
    }

    fn decoder() -> Self::Decoder {
        Decoder::new()
    }
}

impl Sealed for Lz77 {
    const WINDOW: usize = u16::MAX as usize;

    /// `raw_len` as literals: the header, a token with its distance, and the number of literals (format, section 5).
    fn bound(raw_len: usize) -> Option<usize> {
        if raw_len == 0 {
            return Some(HEADER);
        }
        raw_len.checked_add(HEADER + HEAD + write::more_len(raw_len))
    }

    #[inline(always)]
    fn pays(sequence: &Sequence<'_>) -> bool {
        // The length field of a copy is shorter than the copy, so only the length of many literals can take too much.
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

    fn encode(raw: &[u8], effort: Effort, positions: &mut Positions, out: &mut Out<'_>) -> Result<(), Full> {
        parse::message::<Self>(raw, effort, positions, out)
    }

    fn decode(wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        in_local(out, |out| read::message(wire, out))
    }
}
