//! Run lengths: the static description of the code, and the symbols of its runs (`docs/format/rle.md`).
#![forbid(unsafe_code)]

mod choose;
mod decode;
mod encode;
mod runs;

use crate::block::private::Plane;
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::kernel::Kernel;
use crate::width::Width;
use mpress_codec::simd::Simd;
use mpress_codec::{Codec, CodecId, DecodeError, Full, Out};
use mpress_codec_support::Wire;

/// Runs of equal symbols of 1, 2, 4 or 8 bytes; other symbols are literals (PRAcTICaL-MPI names run lengths in section 4).
#[derive(Clone, Copy, Debug)]
pub struct Rle;

/// The symbols whose runs an encoder looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Symbol {
    /// The symbols whose runs save most in some samples of the message. In planes: bytes.
    Auto,
    /// Symbols of this width.
    Of(Width),
}

impl Codec for Rle {
    const ID: CodecId = CodecId::RLE;
    const NAME: &'static str = "rle";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;

    type Encoder = Encoder<Self>;
    type Decoder = Decoder<Self>;

    /// With [`Symbol::Auto`], without planes: [`Width::One`].
    fn encoder() -> Self::Encoder {
        Encoder::<Self>::new(Symbol::Auto, Width::One)
    }

    fn decoder() -> Self::Decoder {
        Decoder::new()
    }
}

impl Plane for Rle {
    type Setting = Symbol;
    type Sender = Width;
    type Receiver = Width;

    const RECEIVER: Width = Width::One;

    fn begin(symbol: Symbol, planes: Width, raw: &[u8]) -> (Width, u8) {
        let width = match (symbol, planes) {
            (Symbol::Of(width), _) => width,
            (Symbol::Auto, Width::One) => choose::width(raw),
            (Symbol::Auto, _) => Width::One,
        };
        (width, width.log2())
    }

    #[inline(always)]
    fn encode<K: Kernel>(symbol: Width, kernel: K, plane: &[u8], out: &mut Out<'_>) -> Result<bool, Full> {
        match symbol {
            Width::One => encode::plane::<1, K>(kernel, plane, out),
            Width::Two => encode::plane::<2, K>(kernel, plane, out),
            Width::Four => encode::plane::<4, K>(kernel, plane, out),
            Width::Eight => encode::plane::<8, K>(kernel, plane, out),
        }
    }

    fn open(symbol: &mut Width, bits: u8) -> Option<()> {
        *symbol = Width::from_log2(bits);
        (bits < 4).then_some(())
    }

    #[inline(always)]
    fn decode<K: Kernel>(
        symbol: &mut Width,
        _kernel: K,
        wire: &mut Wire<'_>,
        plane: &mut [u8],
    ) -> Result<(), DecodeError> {
        match symbol {
            Width::One => decode::plane::<1>(wire, plane),
            Width::Two => decode::plane::<2>(wire, plane),
            Width::Four => decode::plane::<4>(wire, plane),
            Width::Eight => decode::plane::<8>(wire, plane),
        }
    }
}

impl Encoder<Rle> {
    /// An encoder of runs of these symbols, in byte planes of elements of width `planes`. [`Width::One`] leaves the message
    /// unchanged.
    #[must_use]
    pub fn new(symbol: Symbol, planes: Width) -> Self {
        Self::with_setting(symbol, planes, Simd::detect())
    }
}
