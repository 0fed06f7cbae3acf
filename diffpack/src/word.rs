//! The word: what differs between elements of 64, 32 and 16 bits.
#![forbid(unsafe_code)]

use crate::format::{BLOCK, GROUP};

/// An element, with the operations that this crate needs.
pub trait Word: mpress_codec_support::Word {
    /// Words of a group.
    const LANES: usize = GROUP / Self::WIDTH;
    /// Words of a full block.
    const BLOCK: usize = BLOCK / Self::WIDTH;
    /// Fraction bits of a float of this width; 0 where the format has no fixed-point domain.
    const FRACTION: u32;
    /// Exponent bits of a float of this width.
    const EXPONENT: u32 = if Self::FRACTION == 0 { 0 } else { Self::BITS - 1 - Self::FRACTION };

    /// Conversion to fixed point (format, section 5).
    fn to_fixed(self, unit: u32) -> Self;
    fn to_float(self, unit: u32) -> Self;
    /// The exponent of a float, and the number of trailing zeros in its fraction with the bit that is not stored.
    fn exponent_and_zeros(self) -> (Self, Self);
}

macro_rules! words {
    ($word:ty, $signed:ty, $fraction:literal) => {
        impl Word for $word {
            const FRACTION: u32 = $fraction;

            #[inline(always)]
            fn to_fixed(self, unit: u32) -> Self {
                const F: u32 = <$word as Word>::FRACTION;
                const BITS: $word = <$word>::BITS as $word;
                let exponent = self >> F & ((1 << <$word as Word>::EXPONENT) - 1);
                let fraction = self & ((1 << F) - 1) | 1 << F;
                // Counts are words, as vectors need them.
                let left = exponent.wrapping_sub(unit as $word);
                let right = (unit as $word).wrapping_sub(exponent);
                // Only one direction applies, unless both counts are 0: the other one is out of range and gives 0.
                let up = if left < BITS { fraction << left } else { 0 };
                let down = if right < BITS { fraction >> right } else { 0 };
                let size = if exponent == 0 { 0 } else { up | down };
                let sign = (self as $signed >> (<$word>::BITS - 1)) as $word;
                (size ^ sign).wrapping_sub(sign)
            }
            #[inline(always)]
            fn to_float(self, unit: u32) -> Self {
                const F: u32 = <$word as Word>::FRACTION;
                const TOP: $word = <$word>::BITS as $word - 1;
                let sign = (self as $signed >> TOP) as $word;
                let size = (self ^ sign).wrapping_sub(sign);
                let zeros = size.leading_zeros() as $word;
                let fraction = (size << (zeros & TOP)) >> (TOP - F as $word) & ((1 << F) - 1);
                let exponent = (unit as $word).wrapping_add(TOP - F as $word).wrapping_sub(zeros)
                    & ((1 << <$word as Word>::EXPONENT) - 1);
                let float = sign << TOP | exponent << F | fraction;
                if size == 0 { 0 } else { float }
            }
            #[inline(always)]
            fn exponent_and_zeros(self) -> (Self, Self) {
                const F: u32 = <$word as Word>::FRACTION;
                let exponent = self >> F & ((1 << <$word as Word>::EXPONENT) - 1);
                let fraction = self & ((1 << F) - 1) | 1 << F;
                (exponent, fraction.trailing_zeros() as $word)
            }
        }
    };
}

words!(u64, i64, 52);
words!(u32, i32, 23);
words!(u16, i16, 0);
