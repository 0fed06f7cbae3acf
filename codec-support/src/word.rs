//! Words: unsigned integers of 8 to 64 bits, with all arithmetic that codecs do on them.
#![forbid(unsafe_code)]

use core::fmt::Debug;
use core::ops::{BitAnd, BitOr, BitXor, Shl, Shr};

/// A word of a message: [`u8`], [`u16`], [`u32`] or [`u64`]. Floats and signed integers are treated as their bit patterns. All arithmetic wraps.
pub trait Word:
    Copy
    + Ord
    + Debug
    + Default
    + Into<u64>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + Sealed
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The bytes of zero.
    const ZERO_BYTES: Self::Bytes;
    /// Bits of a word.
    const BITS: u32 = Self::WIDTH as u32 * 8;
    /// Bytes of a word.
    const WIDTH: usize = size_of::<Self>();
    /// Words in 64 bits.
    const PER_LANE: u32 = 64 / Self::BITS;
    /// The little-endian bytes of a word.
    type Bytes: Copy + Debug;

    /// The word with these bytes.
    fn from_bytes(bytes: Self::Bytes) -> Self;
    /// The bytes of the word.
    fn to_bytes(self) -> Self::Bytes;
    /// The whole words of `raw`, and the remaining bytes.
    fn split(raw: &[u8]) -> (&[Self::Bytes], &[u8]);
    /// The same, mutably.
    fn split_mut(raw: &mut [u8]) -> (&mut [Self::Bytes], &mut [u8]);
    /// The bytes of words.
    fn flat(words: &[Self::Bytes]) -> &[u8];
    /// The same, mutably.
    fn flat_mut(words: &mut [Self::Bytes]) -> &mut [u8];
    /// The word at byte `at`; 0 past the end.
    fn load(bytes: &[u8], at: usize) -> Self;
    /// Stores the word at byte `at`; does nothing past the end.
    fn store(self, bytes: &mut [u8], at: usize);
    /// The low bits of a number.
    fn of(number: usize) -> Self;
    /// The same, of any word.
    fn low(bits: u64) -> Self;
    /// The word as a number.
    #[inline(always)]
    fn to_u64(self) -> u64 {
        self.into()
    }
    /// The lowest byte.
    fn low_byte(self) -> u8;

    /// The union (bitwise OR).
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The difference.
    fn minus(self, other: Self) -> Self;
    /// The number if `condition` holds, otherwise 0; without a branch.
    fn only_if(self, condition: bool) -> Self;
    /// The number or its negative, whichever is smaller.
    fn magnitude(self) -> Self;
    /// Fills the word with its highest bit.
    fn sign(self) -> Self;
    /// Maps numbers near zero, positive or negative, to small ones: 0, -1, 1, -2... become 0, 1, 2, 3...
    fn zigzag(self) -> Self;
    /// The inverse of [`zigzag`](Word::zigzag).
    fn unzigzag(self) -> Self;
    /// Rotated left by `by` bits.
    fn rotated_left(self, by: u32) -> Self;
    /// Rotated right by `by` bits.
    fn rotated_right(self, by: u32) -> Self;
    /// Arithmetic right shift by `bits` modulo the word's bits.
    fn halved(self, bits: u32) -> Self;
    /// Left shift by `bits` modulo the word's bits.
    fn doubled(self, bits: u32) -> Self;
    /// The number of bits up to the highest set one.
    fn width(self) -> u32;
    /// The number of trailing zero bits.
    fn trailing(self) -> u32;
    /// The greatest word of this width.
    fn mask(width: u32) -> Self;
    /// The most significant `bits` bits (at least one), as a number.
    fn top(self, bits: u32) -> usize;
}

/// Prevents other implementations.
pub trait Sealed {}

macro_rules! words {
    ($($word:ty, $signed:ty;)*) => {$(
        impl Sealed for $word {}

        impl Word for $word {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const ZERO_BYTES: Self::Bytes = [0; size_of::<$word>()];
            type Bytes = [u8; size_of::<$word>()];

            #[inline(always)]
            fn from_bytes(bytes: Self::Bytes) -> Self {
                Self::from_le_bytes(bytes)
            }
            #[inline(always)]
            fn to_bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
            #[inline(always)]
            fn split(raw: &[u8]) -> (&[Self::Bytes], &[u8]) {
                raw.as_chunks()
            }
            #[inline(always)]
            fn split_mut(raw: &mut [u8]) -> (&mut [Self::Bytes], &mut [u8]) {
                raw.as_chunks_mut()
            }
            #[inline(always)]
            fn flat(words: &[Self::Bytes]) -> &[u8] {
                words.as_flattened()
            }
            #[inline(always)]
            fn flat_mut(words: &mut [Self::Bytes]) -> &mut [u8] {
                words.as_flattened_mut()
            }
            #[inline(always)]
            fn load(bytes: &[u8], at: usize) -> Self {
                bytes
                    .get(at..)
                    .and_then(|rest| rest.first_chunk())
                    .map_or(0, |word| Self::from_le_bytes(*word))
            }
            #[inline(always)]
            fn store(self, bytes: &mut [u8], at: usize) {
                if let Some(word) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
                    *word = self.to_le_bytes();
                }
            }
            #[inline(always)]
            fn of(number: usize) -> Self {
                number as Self
            }
            #[inline(always)]
            fn low(bits: u64) -> Self {
                bits as Self
            }
            #[inline(always)]
            fn low_byte(self) -> u8 {
                self as u8
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
            fn only_if(self, condition: bool) -> Self {
                self & Self::from(condition).wrapping_neg()
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                self.min(self.wrapping_neg())
            }
            #[inline(always)]
            fn sign(self) -> Self {
                (self as $signed >> (<$word>::BITS - 1)) as $word
            }
            #[inline(always)]
            fn zigzag(self) -> Self {
                self << 1 ^ self.sign()
            }
            #[inline(always)]
            fn unzigzag(self) -> Self {
                self >> 1 ^ (self & 1).wrapping_neg()
            }
            #[inline(always)]
            fn rotated_left(self, by: u32) -> Self {
                self.rotate_left(by)
            }
            #[inline(always)]
            fn rotated_right(self, by: u32) -> Self {
                self.rotate_right(by)
            }
            #[inline(always)]
            fn halved(self, bits: u32) -> Self {
                (self as $signed >> (bits % <$word>::BITS)) as $word
            }
            #[inline(always)]
            fn doubled(self, bits: u32) -> Self {
                self << (bits % <$word>::BITS)
            }
            #[inline(always)]
            fn width(self) -> u32 {
                <$word>::BITS - self.leading_zeros()
            }
            #[inline(always)]
            fn trailing(self) -> u32 {
                self.trailing_zeros()
            }
            #[inline(always)]
            fn mask(width: u32) -> Self {
                if width < <$word>::BITS { (1 << width) - 1 } else { Self::MAX }
            }
            #[inline(always)]
            fn top(self, bits: u32) -> usize {
                (self >> (<$word>::BITS - bits)) as usize
            }
        }
    )*};
}

words! {
    u8, i8;
    u16, i16;
    u32, i32;
    u64, i64;
}
