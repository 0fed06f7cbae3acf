//! The word: the differences between 64-bit and 32-bit values.
#![forbid(unsafe_code)]

use mpress_codec::CodecId;

/// A value of a message, as an unsigned integer: `u64` for doubles, `u32` for single floats.
///
/// Sealed, because each word has its own wire format and codec id.
pub trait Word: internal::Arithmetic {
    /// The codec id of the wire format for this word.
    const ID: CodecId;
    /// The name of the codec for this word.
    const NAME: &'static str;
    /// Bits of a word.
    const BITS: u32;
    /// The number of most significant bits that the hashes use: the sign and the exponent of a float (format, section 3).
    const TOP_BITS: u32;
    /// Bytes of a word.
    const WIDTH: usize = Self::BITS as usize / 8;
}

impl Word for u64 {
    const ID: CodecId = CodecId::FPC_F64;
    const NAME: &'static str = "fpc";
    const BITS: u32 = Self::BITS;
    const TOP_BITS: u32 = 12;
}

impl Word for u32 {
    const ID: CodecId = CodecId::FPC_F32;
    const NAME: &'static str = "fpc32";
    const BITS: u32 = Self::BITS;
    const TOP_BITS: u32 = 9;
}

pub(crate) mod internal {
    use core::fmt::Debug;
    use core::ops::BitXor;

    /// Operations on unsigned integers.
    pub trait Arithmetic: Copy + Ord + Debug + BitXor<Output = Self> {
        const ZERO: Self;
        /// The bytes of zero.
        const ZERO_BYTES: Self::Bytes;
        /// The little-endian bytes of a word.
        type Bytes: Copy + Debug;

        /// The whole words of `raw`, and the remaining bytes.
        fn split(raw: &[u8]) -> (&[Self::Bytes], &[u8]);
        /// The bytes of words.
        fn bytes(words: &[Self::Bytes]) -> &[u8];
        fn bytes_mut(words: &mut [Self::Bytes]) -> &mut [u8];
        fn from_bytes(bytes: Self::Bytes) -> Self;
        fn to_bytes(self) -> Self::Bytes;
        /// The word in the low bits of `bits`.
        fn low(bits: u64) -> Self;
        /// Writes these bytes to the front of a buffer, which must have room for them.
        fn put(bytes: Self::Bytes, buffer: &mut [u8]);
        fn plus(self, other: Self) -> Self;
        fn minus(self, other: Self) -> Self;
        /// The most significant `bits` bits, as a number.
        fn top(self, bits: u32) -> usize;
        /// The number of bytes up to the highest set bit.
        fn byte_len(self) -> u8;
    }
}
use internal::Arithmetic;

macro_rules! arithmetic {
    ($word:ty) => {
        impl Arithmetic for $word {
            const ZERO: Self = 0;
            const ZERO_BYTES: Self::Bytes = [0; size_of::<$word>()];
            type Bytes = [u8; size_of::<$word>()];

            #[inline(always)]
            fn split(raw: &[u8]) -> (&[Self::Bytes], &[u8]) {
                raw.as_chunks()
            }
            #[inline(always)]
            fn bytes(words: &[Self::Bytes]) -> &[u8] {
                words.as_flattened()
            }
            #[inline(always)]
            fn bytes_mut(words: &mut [Self::Bytes]) -> &mut [u8] {
                words.as_flattened_mut()
            }
            #[inline(always)]
            fn from_bytes(bytes: Self::Bytes) -> Self {
                Self::from_le_bytes(bytes)
            }
            #[inline(always)]
            fn to_bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
            #[inline(always)]
            fn low(bits: u64) -> Self {
                bits as Self
            }
            #[inline(always)]
            fn put(bytes: Self::Bytes, buffer: &mut [u8]) {
                if let Some(room) = buffer.first_chunk_mut() {
                    *room = bytes;
                }
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn top(self, bits: u32) -> usize {
                (self >> (<$word>::BITS - bits)) as usize
            }
            #[inline(always)]
            fn byte_len(self) -> u8 {
                (<$word>::BITS - self.leading_zeros()).div_ceil(8) as u8
            }
        }
    };
}

arithmetic!(u64);
arithmetic!(u32);
