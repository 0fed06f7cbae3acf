//! The words of a message: unsigned integers of 8, 16, 32 and 64 bits.
#![forbid(unsafe_code)]

use crate::block::Block;
use crate::rows;

/// A word, with the operations that this crate needs.
pub(crate) trait Word: mpress_codec_support::Word {
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

macro_rules! words {
    ($($word:ident, $lanes:literal;)*) => { $(
        impl Word for $word {
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
    u8, 32;
    u16, 16;
    u32, 8;
    u64, 4;
}
