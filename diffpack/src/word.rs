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
