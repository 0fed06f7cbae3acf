//! The words of a message: unsigned integers of 8, 16, 32 and 64 bits.
#![forbid(unsafe_code)]

use crate::block::Block;
use crate::mapping::Mapping;
use crate::{decode, encode, rows};
use mpress_codec::simd::Simd;
use mpress_codec::{CodecId, DecodeError, Full, Out, support};

/// A word of a message: [`u8`], [`u16`], [`u32`] or [`u64`]. Signed integers are treated as their bit patterns.
///
/// Sealed, because each word has its own wire format and codec id.
pub trait Word: support::Word + internal::Entries {
    /// The id of the codec for these words.
    const ID: CodecId;
    /// The name of that codec.
    const NAME: &'static str;
    /// Words of a row (format, section 6).
    const LANES: usize;

    /// Copies whole words, as many as both slices have room for.
    #[inline(always)]
    fn read(bytes: &[u8], words: &mut [Self]) {
        for (word, bytes) in words.iter_mut().zip(Self::split(bytes).0) {
            *word = Self::from_bytes(*bytes);
        }
    }
    /// Copies whole words, as many as both slices have room for.
    #[inline(always)]
    fn write(words: &[Self], bytes: &mut [u8]) {
        for (bytes, word) in Self::split_mut(bytes).0.iter_mut().zip(words) {
            *bytes = word.to_bytes();
        }
    }
    /// Packs the lowest `bits` bits of the words in `rows` rows.
    fn pack(words: &Block<Self>, rows: usize, bits: u32, packed: &mut Block<Self>);
    /// The inverse of [`pack`](Word::pack).
    fn unpack(packed: &rows::Packed<Self>, rows: usize, bits: u32, words: &mut Block<Self>);
}

pub(crate) mod internal {
    use super::{DecodeError, Full, Mapping, Out, Simd};

    /// The entries to encoder and decoder. These are not generic, so they are compiled in this crate, and not again in each crate that uses it.
    pub trait Entries: Sized {
        fn encode(simd: Simd, mapping: Option<Mapping>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full>;
        fn decode(simd: Simd, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError>;
    }
}

macro_rules! words {
    ($($word:ident, $lanes:literal, $id:ident, $name:literal;)*) => { $(
        impl internal::Entries for $word {
            fn encode(simd: Simd, mapping: Option<Mapping>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
                encode::message::<Self>(simd, mapping, raw, out)
            }
            fn decode(simd: Simd, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
                decode::message::<Self>(simd, wire, out)
            }
        }

        impl Word for $word {
            const ID: CodecId = CodecId::$id;
            const NAME: &'static str = $name;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn pack(words: &Block<Self>, rows: usize, bits: u32, packed: &mut Block<Self>) {
                rows::pack::<Self, $lanes>(words, rows, bits, packed);
            }
            #[inline(always)]
            fn unpack(packed: &rows::Packed<Self>, rows: usize, bits: u32, words: &mut Block<Self>) {
                rows::unpack::<Self, $lanes>(packed, rows, bits, words);
            }
        }
    )* };
}

words! {
    u8, 32, RICE_8, "rice8";
    u16, 16, RICE_16, "rice16";
    u32, 8, RICE_32, "rice32";
    u64, 4, RICE_64, "rice64";
}
