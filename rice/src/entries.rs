//! The words that the codec is for, and the entry points of encoder and decoder.
#![forbid(unsafe_code)]

use crate::mapping::Mapping;
use crate::{decode, encode};
use mpress_codec::simd::Simd;
use mpress_codec::{CodecId, DecodeError, Full, Out};

/// A word of a message: [`u8`], [`u16`], [`u32`] or [`u64`]. Signed integers are treated as their bit patterns.
///
/// Sealed, because each word has its own wire format and codec id.
pub trait Word: internal::Entries + 'static {
    /// The id of the codec for these words.
    const ID: CodecId;
    /// The name of that codec.
    const NAME: &'static str;
}

mod internal {
    use super::{DecodeError, Full, Mapping, Out, Simd};

    /// The entry points. They are not generic, so they are compiled in this crate, and not again in each crate that uses
    /// it.
    pub trait Entries: Sized {
        fn encode(simd: Simd, mapping: Option<Mapping>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full>;
        fn decode(simd: Simd, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError>;
    }
}

macro_rules! words {
    ($($word:ident, $id:ident, $name:literal;)*) => { $(
        impl Word for $word {
            const ID: CodecId = CodecId::$id;
            const NAME: &'static str = $name;
        }

        impl internal::Entries for $word {
            fn encode(simd: Simd, mapping: Option<Mapping>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
                encode::message::<Self>(simd, mapping, raw, out)
            }
            fn decode(simd: Simd, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
                decode::message::<Self>(simd, wire, out)
            }
        }
    )* };
}

words! {
    u8, RICE_8, "rice8";
    u16, RICE_16, "rice16";
    u32, RICE_32, "rice32";
    u64, RICE_64, "rice64";
}
