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
                // Shift counts have the word's width, as shifts of vectors need.
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

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use mpress_codec::conformance::random_bytes;

    /// Section 5 of the format, for floats of `e` exponent and `f` fraction bits, with numbers of any size.
    fn fixed(word: u64, unit: u32, (e, f): (u32, u32)) -> i128 {
        let exponent = i64::try_from(word >> f & ((1 << e) - 1)).unwrap();
        let fraction = i128::from(word & ((1 << f) - 1) | 1 << f);
        let shift = exponent - i64::from(unit);
        let size = match shift {
            _ if exponent == 0 => 0,
            0.. => fraction.checked_shl(shift as u32).filter(|_| shift < 64).unwrap_or(0),
            _ => fraction >> (-shift).min(100),
        };
        if word >> (e + f) & 1 == 1 { -size } else { size }
    }

    fn float(value: i128, unit: u32, (e, f): (u32, u32)) -> u64 {
        if value == 0 {
            return 0;
        }
        let size = value.unsigned_abs();
        let top = size.ilog2();
        let fraction = if top > f { size >> (top - f) } else { size << (f - top) };
        let exponent = (i64::from(unit) + i64::from(top) - i64::from(f)).rem_euclid(1 << e);
        u64::from(value < 0) << (e + f) | (exponent.unsigned_abs()) << f | (fraction as u64 & ((1 << f) - 1))
    }

    fn as_the_page_says<W: Word>(to_signed: fn(u64) -> i128) {
        let (e, f) = (W::EXPONENT, W::FRACTION);
        let (top, one) = (1_u64 << (e + f), 1_u64 << f);
        let mask = W::mask(W::BITS).to_u64();
        let special =
            [0, 1, one, one - 1, top, top | 1, top | one, mask, mask >> 1, mask & !(one - 1), top - one];
        let random = random_bytes(5, 4000)
            .as_chunks()
            .0
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes))
            .collect::<std::vec::Vec<_>>();
        let greatest = (1_u32 << e) - 1;
        let middle = greatest / 2;
        let units =
            [0, 1, middle - f, middle - 1, middle, middle + 9, middle + W::BITS, greatest - 1, greatest];
        for word in special.into_iter().chain(random).map(|word| word & mask) {
            // Random exponents are seldom near a unit.
            for (unit, word) in units
                .into_iter()
                .flat_map(|unit| [(unit, word), (unit, word & (one - 1) | top & word | u64::from(unit) << f)])
            {
                let same = fixed(word, unit, (e, f)) as u64 & mask;
                assert_eq!(W::of(word as usize).to_fixed(unit).to_u64(), same, "{word:x} to fixed, {unit}");
                let same = float(to_signed(word), unit, (e, f));
                assert_eq!(W::of(word as usize).to_float(unit).to_u64(), same, "{word:x} to float, {unit}");
            }
        }
    }

    #[test]
    fn fixed_point_is_as_the_page_says() {
        as_the_page_says::<u64>(|word| word.cast_signed().into());
        as_the_page_says::<u32>(|word| (word as u32).cast_signed().into());
    }
}
