//! The values that the codec is for, and the entry points of encoder and decoder.
#![forbid(unsafe_code)]

use crate::{decode, encode};
use mpress_codec::simd::Simd;
use mpress_codec::{CodecId, DecodeError, Full, Out};

/// A value of a message, as an unsigned integer: `u64` for doubles, `u32` for single floats.
///
/// Sealed, because each word has its own wire format and codec id.
pub trait Word: internal::Entries + 'static {
    /// The codec id of the wire format for this word.
    const ID: CodecId;
    /// The name of the codec for this word.
    const NAME: &'static str;
}

mod internal {
    use super::{DecodeError, Full, Out, Simd};
    use core::fmt::Debug;

    /// The entry points. They are not generic, so they are compiled in this crate, and not again in each crate that uses
    /// it.
    pub trait Entries: Sized {
        /// Predictors and buffers of an encoder, and of a decoder.
        type Encoding: Clone + Debug;
        type Decoding: Clone + Debug;

        fn encoding() -> Self::Encoding;
        fn decoding() -> Self::Decoding;
        fn encode(
            encoding: &mut Self::Encoding,
            simd: Simd,
            raw: &[u8],
            out: &mut Out<'_>,
        ) -> Result<(), Full>;
        fn decode(
            decoding: &mut Self::Decoding,
            simd: Simd,
            wire: &[u8],
            out: &mut Out<'_>,
        ) -> Result<(), DecodeError>;
    }
}

macro_rules! words {
    ($($word:ident, $id:ident, $name:literal;)*) => { $(
        impl Word for $word {
            const ID: CodecId = CodecId::$id;
            const NAME: &'static str = $name;
        }

        impl internal::Entries for $word {
            type Encoding = encode::State<Self>;
            type Decoding = decode::State<Self>;

            fn encoding() -> Self::Encoding {
                encode::State::new()
            }
            fn decoding() -> Self::Decoding {
                decode::State::new()
            }
            fn encode(
                encoding: &mut Self::Encoding,
                simd: Simd,
                raw: &[u8],
                out: &mut Out<'_>,
            ) -> Result<(), Full> {
                encoding.message(simd, raw, out)
            }
            fn decode(
                decoding: &mut Self::Decoding,
                simd: Simd,
                wire: &[u8],
                out: &mut Out<'_>,
            ) -> Result<(), DecodeError> {
                decoding.message(simd, wire, out)
            }
        }
    )* };
}

words! {
    u64, FPC_F64, "fpc";
    u32, FPC_F32, "fpc32";
}
