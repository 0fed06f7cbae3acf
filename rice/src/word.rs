//! The words of a message: unsigned integers of 8, 16, 32 and 64 bits.
#![forbid(unsafe_code)]

use crate::block::Block;
use crate::rows;
use core::fmt::Debug;
use core::ops::{BitAnd, BitOr, BitXor, Shl, Shr};
use mpress_codec::CodecId;

/// A word of a message: [`u8`], [`u16`], [`u32`] or [`u64`]. Signed integers are treated as their bit patterns.
pub trait Word:
    Copy
    + Default
    + Debug
    + Ord
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + sealed::Sealed
    + 'static
{
    /// The id of the codec for these words.
    const ID: CodecId;
    /// The name of that codec.
    const NAME: &'static str;
    /// Bits of a word.
    const BITS: u32;
    /// Bytes of a word.
    const WIDTH: usize = Self::BITS as usize / 8;
    /// Words of a row (format, section 6).
    const LANES: usize;

    /// `value` as a word, truncated if it does not fit.
    fn of(value: u8) -> Self;
    /// The lowest byte.
    fn low_byte(self) -> u8;
    /// The number of bits up to the highest set one.
    fn width(self) -> u32;
    /// The sum modulo 2^BITS.
    fn add(self, other: Self) -> Self;
    /// The difference modulo 2^BITS.
    fn sub(self, other: Self) -> Self;
    /// Fills the word with its highest bit.
    fn sign(self) -> Self;
    /// Copies whole words, as many as both slices have room for.
    fn read(bytes: &[u8], words: &mut [Self]);
    /// Copies whole words, as many as both slices have room for.
    fn write(words: &[Self], bytes: &mut [u8]);
    /// Packs the lowest `bits` bits of the words in `rows` rows.
    fn pack(words: &Block<Self>, rows: usize, bits: u32, packed: &mut Block<Self>);
    /// The inverse of [`pack`](Word::pack).
    fn unpack(packed: &rows::Packed<Self>, rows: usize, bits: u32, words: &mut Block<Self>);

    /// Maps small values of either sign to small values: 0, -1, 1, -2... become 0, 1, 2, 3...
    #[inline(always)]
    fn zigzag(self) -> Self {
        (self << 1) ^ self.sign()
    }

    /// The inverse of [`zigzag`](Word::zigzag).
    #[inline(always)]
    fn unzigzag(self) -> Self {
        (self >> 1) ^ Self::of(0).sub(self & Self::of(1))
    }
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! words {
    ($($word:ident, $signed:ident, $lanes:literal, $id:ident, $name:literal;)*) => { $(
        impl sealed::Sealed for $word {}

        impl Word for $word {
            const ID: CodecId = CodecId::$id;
            const NAME: &'static str = $name;
            const BITS: u32 = $word::BITS;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn of(value: u8) -> Self {
                Self::from(value)
            }
            #[inline(always)]
            fn low_byte(self) -> u8 {
                self as u8
            }
            #[inline(always)]
            fn width(self) -> u32 {
                $word::BITS - self.leading_zeros()
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn sign(self) -> Self {
                (self as $signed >> ($word::BITS - 1)) as $word
            }
            #[inline(always)]
            fn read(bytes: &[u8], words: &mut [Self]) {
                for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
                    *word = Self::from_le_bytes(*bytes);
                }
            }
            #[inline(always)]
            fn write(words: &[Self], bytes: &mut [u8]) {
                for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
                    *bytes = word.to_le_bytes();
                }
            }
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
    u8, i8, 32, RICE_8, "rice8";
    u16, i16, 16, RICE_16, "rice16";
    u32, i32, 8, RICE_32, "rice32";
    u64, i64, 4, RICE_64, "rice64";
}
