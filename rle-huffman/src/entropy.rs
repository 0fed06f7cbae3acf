//! The two entropy codes: what they have in common, and how each finds its code lengths (`docs/format/huffman.md`).
#![forbid(unsafe_code)]

mod canonical;
mod histogram;
mod huffman;
mod lengths;
mod lookup;
mod plane;
mod ranking;
mod shannon_fano;
mod streams;

use crate::block::{max_encoded_len, private::Plane};
use crate::encode::Encoder;
use crate::kernel::Kernel;
use crate::reader::Reader;
use crate::width::Width;
pub(crate) use canonical::Codes;
use mpress_codec::simd::Level;
use mpress_codec::{Codec, CodecId, DecodeError, Full, Out};
use ranking::Ranking;

/// The length in bits of the code of each symbol, 0 of those that do not occur.
pub(crate) type Lengths = [u8; 256];

/// Huffman codes of bytes, none longer than 11 bits, and the shortest there are under that limit (Huffman, *A method for the
/// construction of minimum-redundancy codes*, Proc. IRE 1952; Larmore and Hirschberg, *A fast algorithm for optimal
/// length-limited Huffman codes*, JACM 1990).
#[derive(Clone, Copy, Debug)]
pub struct Huffman;

/// Shannon-Fano codes of bytes, none longer than 11 bits (Fano, *The transmission of information*, 1949; the paper of
/// PRAcTICaL-MPI names them in section 4).
#[derive(Clone, Copy, Debug)]
pub struct ShannonFano;

/// How a code finds its lengths.
pub trait Lengthen: Codec + Copy + core::fmt::Debug {
    /// The code length of each of at least two symbols, in the order of the ranking. The lengths are those of a complete
    /// code: the sum of 2^-length is 1.
    fn lengths(ranking: &Ranking) -> Lengths;
}

impl Lengthen for Huffman {
    #[inline(always)]
    fn lengths(ranking: &Ranking) -> Lengths {
        huffman::lengths(ranking)
    }
}

impl Lengthen for ShannonFano {
    #[inline(always)]
    fn lengths(ranking: &Ranking) -> Lengths {
        shannon_fano::lengths(ranking)
    }
}

impl Codec for Huffman {
    const ID: CodecId = CodecId::HUFFMAN;
    const NAME: &'static str = "huffman";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;

    fn max_encoded_len(raw_len: usize) -> Option<usize> {
        max_encoded_len(raw_len)
    }
}

impl Codec for ShannonFano {
    const ID: CodecId = CodecId::SHANNON_FANO;
    const NAME: &'static str = "shannon-fano";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;

    fn max_encoded_len(raw_len: usize) -> Option<usize> {
        max_encoded_len(raw_len)
    }
}

impl<C: Lengthen> Plane for C {
    type Setting = ();
    type Sender = ();
    type Receiver = plane::Tables;

    const RECEIVER: Self::Receiver = plane::Tables::EMPTY;

    fn begin((): (), _planes: Width, _raw: &[u8]) -> ((), u8) {
        ((), 0)
    }

    #[inline(always)]
    fn encode<K: Kernel>((): (), kernel: K, plane: &[u8], out: &mut Out<'_>) -> Result<bool, Full> {
        plane::encode::<C, K>(kernel, plane, out)
    }

    fn open(_receiver: &mut Self::Receiver, bits: u8) -> Option<()> {
        (bits == 0).then_some(())
    }

    #[inline(always)]
    fn decode<K: Kernel>(
        tables: &mut Self::Receiver,
        _kernel: K,
        wire: &mut Reader<'_>,
        plane: &mut [u8],
    ) -> Result<(), DecodeError> {
        tables.decode(wire, plane)
    }
}

impl<C: Lengthen> Encoder<C> {
    /// An encoder that deals the bytes of elements of this width to planes, each with a code of its own. [`Width::One`] takes
    /// the message as bytes.
    #[must_use]
    pub fn new(planes: Width) -> Self {
        Self::with_setting((), planes, Level::detect())
    }
}
