//! The word: the differences between elements of 64, 32 and 16 bits.
#![forbid(unsafe_code)]

use crate::format::{BLOCK, GROUP};
use mpress_codec::CodecId;

/// An element of a message, as an unsigned integer: `u64` for doubles and 64-bit integers, `u32`, `u16`.
///
/// Sealed, because each word has its own wire format and codec id.
pub trait Word: internal::Arithmetic + internal::Kernels {
    /// The codec id of the wire format for this word.
    const ID: CodecId;
    /// The name of the codec for this word.
    const NAME: &'static str;
    /// Bits of a word.
    const BITS: u32 = Self::WIDTH as u32 * 8;
    /// Bytes of a word.
    const WIDTH: usize = size_of::<Self>();
    /// Words of a group.
    const LANES: usize = GROUP / Self::WIDTH;
    /// Words of a full block.
    const BLOCK: usize = BLOCK / Self::WIDTH;
    /// Words in 64 bits.
    const PER_LANE: u32 = 64 / Self::BITS;
    /// Fraction bits of a float of this width; 0 where the format has no fixed-point domain.
    const FRACTION: u32;
    /// Exponent bits of a float of this width.
    const EXPONENT: u32 = if Self::FRACTION == 0 { 0 } else { Self::BITS - 1 - Self::FRACTION };
}

impl Word for u64 {
    const ID: CodecId = CodecId::DIFFPACK_64;
    const NAME: &'static str = "diffpack";
    const FRACTION: u32 = 52;
}

impl Word for u32 {
    const ID: CodecId = CodecId::DIFFPACK_32;
    const NAME: &'static str = "diffpack32";
    const FRACTION: u32 = 23;
}

impl Word for u16 {
    const ID: CodecId = CodecId::DIFFPACK_16;
    const NAME: &'static str = "diffpack16";
    const FRACTION: u32 = 0;
}

pub(crate) mod internal {
    use crate::block::Bytes;
    use crate::kernel::Kernel;
    use core::fmt::Debug;

    /// The kernels besides the scalar one.
    pub trait Kernels: Sized {
        #[cfg(target_arch = "x86_64")]
        type Avx2: Kernel<Self>;
        #[cfg(target_arch = "x86_64")]
        type Avx512: Kernel<Self>;
    }

    /// Operations on unsigned integers. All arithmetic wraps.
    pub trait Arithmetic: Copy + Ord + Debug + Default + 'static {
        const ZERO: Self;
        /// The little-endian bytes of a word.
        type Bytes: Copy;

        fn from_bytes(bytes: Self::Bytes) -> Self;
        fn to_bytes(self) -> Self::Bytes;
        /// The whole words of `raw`, and the remaining bytes.
        fn split(raw: &[u8]) -> (&[Self::Bytes], &[u8]);
        fn split_mut(raw: &mut [u8]) -> (&mut [Self::Bytes], &mut [u8]);
        fn words(block: &Bytes) -> &[Self::Bytes];
        fn words_mut(block: &mut Bytes) -> &mut [Self::Bytes];
        /// The word at byte `at`; 0 past the end.
        fn load(bytes: &[u8], at: usize) -> Self;
        /// Stores the word at byte `at`; does nothing past the end.
        fn store(self, bytes: &mut [u8], at: usize);

        fn plus(self, other: Self) -> Self;
        fn minus(self, other: Self) -> Self;
        fn zigzag(self) -> Self;
        fn unzigzag(self) -> Self;
        /// Rotates left (`left`) or right by one, or not at all.
        fn rotated_left(self, by: u32) -> Self;
        fn rotated_right(self, by: u32) -> Self;
        /// Arithmetic right shift.
        fn halved(self, bits: u32) -> Self;
        fn doubled(self, bits: u32) -> Self;
        /// The number of bits up to the highest set one.
        fn width(self) -> u32;
        fn or(self, other: Self) -> Self;
        fn trailing(self) -> u32;
        /// Conversion to fixed point (format, section 5).
        fn to_fixed(self, unit: u32) -> Self;
        fn to_float(self, unit: u32) -> Self;
        /// The exponent of a float and the number of trailing zeros in its fraction; `None` if the exponent is the least or the greatest one: for
        /// zeros, denormals, infinities and NaNs.
        fn exponent_and_zeros(self) -> Option<(u32, u32)>;
        fn to_u64(self) -> u64;
        /// The greatest word of this width.
        fn mask(width: u32) -> Self;
        /// A word from a small number.
        fn of(number: usize) -> Self;
    }
}

macro_rules! arithmetic {
    ($word:ty, $signed:ty) => {
        impl internal::Kernels for $word {
            #[cfg(target_arch = "x86_64")]
            type Avx2 = crate::kernel::Avx2;
            #[cfg(target_arch = "x86_64")]
            type Avx512 = crate::kernel::Avx512;
        }

        impl internal::Arithmetic for $word {
            const ZERO: Self = 0;
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
            fn words(block: &[u8; BLOCK]) -> &[Self::Bytes] {
                block.as_chunks().0
            }
            #[inline(always)]
            fn words_mut(block: &mut [u8; BLOCK]) -> &mut [Self::Bytes] {
                block.as_chunks_mut().0
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
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn zigzag(self) -> Self {
                self << 1 ^ (self as $signed >> (<$word>::BITS - 1)) as $word
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
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn trailing(self) -> u32 {
                self.trailing_zeros()
            }
            #[inline(always)]
            fn to_fixed(self, unit: u32) -> Self {
                const F: u32 = <$word as Word>::FRACTION;
                let exponent = (self >> F) as u32 & ((1 << <$word as Word>::EXPONENT) - 1);
                let fraction = self & ((1 << F) - 1) | 1 << F;
                let left = exponent.wrapping_sub(unit);
                let right = unit.wrapping_sub(exponent);
                // Only one direction applies: the other shift count is out of range and gives 0.
                let up = if left < <$word>::BITS { fraction << left } else { 0 };
                let down = if right < <$word>::BITS && right != 0 { fraction >> right } else { 0 };
                let size = if exponent == 0 { 0 } else { up | down };
                let sign = (self as $signed >> (<$word>::BITS - 1)) as $word;
                (size ^ sign).wrapping_sub(sign)
            }
            #[inline(always)]
            fn to_float(self, unit: u32) -> Self {
                const F: u32 = <$word as Word>::FRACTION;
                const TOP: u32 = <$word>::BITS - 1;
                let sign = (self as $signed >> TOP) as $word;
                let size = (self ^ sign).wrapping_sub(sign);
                let zeros = size.leading_zeros();
                let fraction = (size << (zeros & TOP)) >> (TOP - F) & ((1 << F) - 1);
                let exponent =
                    unit.wrapping_add(TOP - F).wrapping_sub(zeros) & ((1 << <$word as Word>::EXPONENT) - 1);
                let float = sign << TOP | (exponent as $word) << F | fraction;
                if size == 0 { 0 } else { float }
            }
            #[inline(always)]
            fn exponent_and_zeros(self) -> Option<(u32, u32)> {
                const F: u32 = <$word as Word>::FRACTION;
                const TOP_EXPONENT: u32 = (1 << <$word as Word>::EXPONENT) - 1;
                let exponent = (self >> F) as u32 & TOP_EXPONENT;
                let fraction = self & ((1 << F) - 1) | 1 << F;
                (exponent != 0 && exponent != TOP_EXPONENT).then_some((exponent, fraction.trailing_zeros()))
            }
            #[inline(always)]
            fn to_u64(self) -> u64 {
                self.into()
            }
            #[inline(always)]
            fn mask(width: u32) -> Self {
                if width < <$word>::BITS { (1 << width) - 1 } else { Self::MAX }
            }
            #[inline(always)]
            fn of(number: usize) -> Self {
                number as Self
            }
        }
    };
}

arithmetic!(u64, i64);
arithmetic!(u32, i32);
arithmetic!(u16, i16);
