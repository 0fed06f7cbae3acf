//! The LZO1X stream: its description and how it is written. `docs/format/lzo.md` describes it.

mod read;
mod write;

use crate::decode::Decoder;
use crate::effort::Effort;
use crate::encode::Encoder;
use crate::format::{Sealed, Sequence, in_local};
use crate::parse;
use crate::positions::Positions;
use mpress_codec::{Codec, CodecId, DecodeError, Full, Out};

/// The static description of codec 17, an LZO1X stream as in liblzo2 (`docs/format/lzo.md`), for [`Encoder`](crate::Encoder) and
/// [`Decoder`](crate::Decoder).
#[derive(Clone, Copy, Debug)]
pub struct Lzo1x;

/// The end mark (section 5).
const END: [u8; 3] = [0x11, 0, 0];
/// A first byte above this gives the number of literals that follow, plus this (section 4).
const FIRST: usize = 17;
/// The maximum number of literals that a first byte can give.
const MOST_FIRST: usize = 255 - FIRST;
/// The maximum number of literals that a copy instruction can carry (section 2).
const FEW: usize = 3;
/// The difference between a run's length and the length in its instruction.
const RUN: usize = 3;
/// The maximum length in the first byte of a run.
const RUN_MASK: usize = 15;
/// The maximum distance of copies with the patterns `1LLDDDSS` and `01LDDDSS`.
const NEAR: usize = 2048;
/// The maximum length of these copies.
const NEAR_LEN: usize = 8;
/// The maximum distance of copies with the pattern `001LLLLL`; those with the pattern `0001ELLL` have greater ones.
const MIDDLE: usize = 16384;
/// The difference between the length of these two copies and the length in their instructions.
const COPY: usize = 2;
/// The maximum length in the first byte of a `001` copy.
const MIDDLE_MASK: usize = 31;
/// The maximum length in the first byte of a `0001` copy.
const FAR_MASK: usize = 7;

impl Codec for Lzo1x {
    const ID: CodecId = CodecId::LZO1X;
    const NAME: &'static str = "lzo1x";
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

impl Sealed for Lzo1x {
    /// Twice `MIDDLE`, plus the range of 14 bits.
    const WINDOW: usize = 3 * MIDDLE - 1;

    /// `raw_len` as literals: the number of literals and the end mark (format, section 6).
    fn bound(raw_len: usize) -> Option<usize> {
        let head = match raw_len {
            0 => 0,
            1..=MOST_FIRST => 1,
            _ => write::run_head(raw_len),
        };
        raw_len.checked_add(head + END.len())
    }

    /// Compared with a single run of literals, the extra cost is the head of the second run. After a short run, every copy saves enough to pay for
    /// it; after a long run, the copy itself must save two bytes (format, section 6).
    #[inline(always)]
    fn pays(sequence: &Sequence<'_>) -> bool {
        sequence.literals <= write::RUN_END
            || write::copy_len(sequence.distance, sequence.len) + 2 <= sequence.len
    }

    fn begin(_raw_len: usize, _out: &mut Out<'_>) -> Result<(), Full> {
        Ok(())
    }

    #[inline(always)]
    fn sequence(sequence: &Sequence<'_>, first: bool, out: &mut Out<'_>) -> Result<(), Full> {
        write::run(sequence.rest, sequence.literals, first, out)?;
        write::copy(sequence.distance, sequence.len, out)
    }

    fn finish(literals: &[u8], first: bool, out: &mut Out<'_>) -> Result<(), Full> {
        write::run(literals, literals.len(), first, out)?;
        out.extend_from_slice(&END)
    }

    fn encode(raw: &[u8], effort: Effort, positions: &mut Positions, out: &mut Out<'_>) -> Result<(), Full> {
        parse::message::<Self>(raw, effort, positions, out)
    }

    fn decode(wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        in_local(out, |out| read::message(wire, out))
    }
}
