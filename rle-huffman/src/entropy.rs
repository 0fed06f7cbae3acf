//! What the two entropy codes share, and how each finds its code lengths (`docs/format/huffman.md`).
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

use crate::block::private::{Entries, Plane};
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::kernel::Kernel;
use crate::width::Width;
pub(crate) use canonical::Codes;
use mpress_codec::simd::Simd;
use mpress_codec::{Codec, CodecId, DecodeError, Full, Out};
use mpress_codec_support::Wire;
use ranking::Ranking;

/// The code length of each symbol in bits; 0 for symbols that do not occur.
pub(crate) type Lengths = [u8; 256];

/// Huffman codes of bytes of at most 11 bits, which are optimal under that limit (Huffman, *A method for the construction of minimum-redundancy
/// codes*, Proc. IRE 1952; Larmore and Hirschberg, *A fast algorithm for optimal length-limited Huffman codes*, JACM 1990).
#[derive(Clone, Copy, Debug)]
pub struct Huffman;

/// Shannon-Fano codes of bytes of at most 11 bits (Fano, *The transmission of information*, 1949; named in section 4 of the PRAcTICaL-MPI paper).
#[derive(Clone, Copy, Debug)]
pub struct ShannonFano;

/// How a code finds its code lengths.
pub trait Lengthen: Codec + Entries<Plane = Entropy> + Copy + core::fmt::Debug {
    /// The code lengths of at least two symbols, in the order of the ranking. They belong to a complete code: the sum of 2^-length is 1.
    fn lengths(ranking: &Ranking) -> Lengths;
}

/// What the entropy codes share.
#[derive(Clone, Copy, Debug)]
pub struct Entropy;

impl Lengthen for Huffman {
    fn lengths(ranking: &Ranking) -> Lengths {
        huffman::lengths(ranking)
    }
}

impl Lengthen for ShannonFano {
    fn lengths(ranking: &Ranking) -> Lengths {
        shannon_fano::lengths(ranking)
    }
}

impl Codec for Huffman {
    const ID: CodecId = CodecId::HUFFMAN;
    const NAME: &'static str = "huffman";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;

    type Encoder = Encoder<Self>;
    type Decoder = Decoder<Self>;

    /// For bytes, without planes: [`Width::One`].
    fn encoder() -> Self::Encoder {
        Encoder::<Self>::new(Width::One)
    }

    fn decoder() -> Self::Decoder {
        Decoder::new()
    }
}

impl Codec for ShannonFano {
    const ID: CodecId = CodecId::SHANNON_FANO;
    const NAME: &'static str = "shannon-fano";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;

    type Encoder = Encoder<Self>;
    type Decoder = Decoder<Self>;

    /// For bytes, without planes: [`Width::One`].
    fn encoder() -> Self::Encoder {
        Encoder::<Self>::new(Width::One)
    }

    fn decoder() -> Self::Decoder {
        Decoder::new()
    }
}

impl Plane for Entropy {
    /// How to find the code lengths.
    type Setting = fn(&Ranking) -> Lengths;
    type Sender = Self::Setting;
    type Receiver = plane::Tables;

    const RECEIVER: Self::Receiver = plane::Tables::EMPTY;

    fn begin(lengths: Self::Setting, _planes: Width, _raw: &[u8]) -> (Self::Sender, u8) {
        (lengths, 0)
    }

    #[inline(always)]
    fn encode<K: Kernel>(
        lengths: Self::Sender,
        kernel: K,
        plane: &[u8],
        out: &mut Out<'_>,
    ) -> Result<bool, Full> {
        plane::encode(lengths, kernel, plane, out)
    }

    fn open(_receiver: &mut Self::Receiver, bits: u8) -> Option<()> {
        (bits == 0).then_some(())
    }

    #[inline(always)]
    fn decode<K: Kernel>(
        tables: &mut Self::Receiver,
        _kernel: K,
        wire: &mut Wire<'_>,
        plane: &mut [u8],
    ) -> Result<(), DecodeError> {
        tables.decode(wire, plane)
    }
}

impl<C: Lengthen> Encoder<C> {
    /// An encoder that splits elements of this width into byte planes, each with its own code. [`Width::One`] treats the message as bytes.
    #[must_use]
    pub fn new(planes: Width) -> Self {
        Self::with_setting(C::lengths, planes, Simd::detect())
    }
}
