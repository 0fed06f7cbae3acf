//! The LZO1X stream: its facts, and what an encoder writes. `docs/format/lzo.md` describes it.

mod read;
mod write;

use crate::format::{Sealed, Sequence};
use mpress_codec::{Codec, CodecId, DecodeError, Full, Out};

/// The facts of codec 17, an LZO1X stream (`docs/format/lzo.md`); with it [`Encoder`](crate::Encoder) and
/// [`Decoder`](crate::Decoder) write and read what liblzo2 does.
#[derive(Clone, Copy, Debug)]
pub struct Lzo1x;

/// The end mark (section 5).
const END: [u8; 3] = [0x11, 0, 0];
/// A first byte above this says how many literals follow: that many more (section 4).
const FIRST: usize = 17;
/// The most literals that a first byte can say.
const MOST_FIRST: usize = 255 - FIRST;
/// The most literals that travel with the copy before them (section 2).
const FEW: usize = 3;
/// What a run's length is above the length that its instruction says.
const RUN: usize = 3;
/// The greatest length in the first byte of a run.
const RUN_MASK: usize = 15;
/// The farthest distance of the copies with the patterns `1LLDDDSS` and `01LDDDSS`.
const NEAR: usize = 2048;
/// The longest of them.
const NEAR_LEN: usize = 8;
/// The farthest distance of the copies with the pattern `001LLLLL`; those with the pattern `0001ELLL` begin after it.
const MIDDLE: usize = 16384;
/// What the lengths of these two are above the length that their instructions say.
const COPY: usize = 2;
/// The greatest length in the first byte of a `001` copy.
const MIDDLE_MASK: usize = 31;
/// The greatest length in the first byte of a `0001` copy.
const FAR_MASK: usize = 7;

impl Codec for Lzo1x {
    const ID: CodecId = CodecId::LZO1X;
    const NAME: &'static str = "lzo1x";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;

    /// `raw_len` as literals: their number and the end mark (format, section 6).
    fn max_encoded_len(raw_len: usize) -> Option<usize> {
        let head = match raw_len {
            0 => 0,
            1..=MOST_FIRST => 1,
            _ => write::run_head(raw_len),
        };
        raw_len.checked_add(head + END.len())
    }
}

impl Sealed for Lzo1x {
    /// Twice `MIDDLE`, and what 14 bits add.
    const WINDOW: usize = 3 * MIDDLE - 1;

    /// What costs more than one run of all literals are the second run's first bytes. After a short run every copy wins
    /// enough for its head; after a long one it must win two bytes itself (format, section 6).
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

    #[inline(always)]
    fn decode(wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        read::message(wire, out)
    }
}
