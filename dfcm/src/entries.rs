//! The elements that the codecs are for, and the entry points of encoders and decoders.
#![forbid(unsafe_code)]

use crate::predictor::{Context, Predictor};
use crate::{kernel, lanes, table};
use mpress_codec::simd::Simd;
use mpress_codec::{CodecId, DecodeError, Full, Out};
use mpress_codec_support::Word as _;

/// An element of a message, as an unsigned integer: `u64` for doubles, `u32` for single floats.
///
/// Sealed, because each word has its own wire format and codec id.
pub trait Word: internal::Entries + 'static {
    /// The codec id of the wire format for this word.
    const ID: CodecId;
    /// The name of the codec for this word.
    const NAME: &'static str;
    /// The codec id of the wire format for this word in interleaved lanes.
    const LANES_ID: CodecId;
    /// The name of the codec for this word in interleaved lanes.
    const LANES_NAME: &'static str;
}

mod internal {
    use super::{Context, DecodeError, Full, Out, Simd};

    /// The entry points. They are not generic, so they are compiled in this crate, and not again in each crate that uses it.
    pub trait Entries: Copy {
        /// The context before the first element.
        const START: Context<Self>;

        /// Appends the blocks of the whole elements of `raw`, predicted with this table, starting from this context. Returns the context after
        /// them.
        fn encode(
            simd: Simd,
            table: &mut [u64],
            context: Context<Self>,
            raw: &[u8],
            out: &mut Out<'_>,
        ) -> Result<Context<Self>, Full>;
        /// Appends `elements` elements, from the blocks that start at a byte of a wire. Returns the context after them and the offset where the
        /// blocks end.
        fn decode(
            simd: Simd,
            table: &mut [u64],
            context: Context<Self>,
            wire_from: (&[u8], usize),
            elements: usize,
            out: &mut Out<'_>,
        ) -> Result<(Context<Self>, usize), DecodeError>;
        /// The pages of the first `words` words of a table that the elements in `raw` write to, starting from this context.
        fn pages(words: usize, context: Context<Self>, raw: &[u8]) -> u128;
        /// Encodes a message in interleaved lanes.
        fn encode_lanes(simd: Simd, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full>;
        fn decode_lanes(simd: Simd, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError>;
    }
}

macro_rules! words {
    ($($word:ident, $id:ident, $name:literal, $lanes_id:ident, $lanes_name:literal;)*) => { $(
        impl Word for $word {
            const ID: CodecId = CodecId::$id;
            const NAME: &'static str = $name;
            const LANES_ID: CodecId = CodecId::$lanes_id;
            const LANES_NAME: &'static str = $lanes_name;
        }

        impl internal::Entries for $word {
            const START: Context<Self> = Context::START;

            fn encode(
                simd: Simd,
                table: &mut [u64],
                context: Context<Self>,
                raw: &[u8],
                out: &mut Out<'_>,
            ) -> Result<Context<Self>, Full> {
                kernel::encode(simd, Predictor::resume(table, context), Self::split(raw).0, out)
            }
            fn decode(
                simd: Simd,
                table: &mut [u64],
                context: Context<Self>,
                (wire, at): (&[u8], usize),
                elements: usize,
                out: &mut Out<'_>,
            ) -> Result<(Context<Self>, usize), DecodeError> {
                kernel::decode(simd, Predictor::resume(table, context), wire, at, elements, out)
            }
            fn pages(words: usize, context: Context<Self>, raw: &[u8]) -> u128 {
                table::pages(words, context, Self::split(raw).0)
            }
            fn encode_lanes(simd: Simd, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
                lanes::encode::<Self>(simd, raw, out)
            }
            fn decode_lanes(simd: Simd, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
                lanes::decode::<Self>(simd, wire, out)
            }
        }
    )* };
}

words! {
    u64, DFCM_F64, "dfcm", DFCM_LANES_F64, "dfcm-lanes";
    u32, DFCM_F32, "dfcm32", DFCM_LANES_F32, "dfcm32-lanes";
}
