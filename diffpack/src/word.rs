//! The word: the differences between elements of 64, 32 and 16 bits.
#![forbid(unsafe_code)]

use crate::format::{BLOCK, GROUP};
use crate::{Decoder, Encoder};
use mpress_codec::{CodecId, DecodeError, Full, Out, support};

/// An element of a message, as an unsigned integer: `u64` for doubles and 64-bit integers, `u32`, `u16`.
///
/// Sealed, because each word has its own wire format and codec id.
pub trait Word: support::Word + internal::Float + internal::Entries {
    /// The codec id of the wire format for this word.
    const ID: CodecId;
    /// The name of the codec for this word.
    const NAME: &'static str;
    /// Words of a group.
    const LANES: usize = GROUP / Self::WIDTH;
    /// Words of a full block.
    const BLOCK: usize = BLOCK / Self::WIDTH;
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
    use crate::{Decoder, Encoder};
    use mpress_codec::{DecodeError, Full, Out};

    /// The entries to encoder and decoder. These are not generic, so they are compiled in this crate, together with the kernels that they call, and
    /// not again in each crate that uses it.
    pub trait Entries: Sized {
        fn worthwhile(encoder: &Encoder<Self>, raw: &[u8]) -> bool;
        fn encode(encoder: &mut Encoder<Self>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full>;
        fn decode(decoder: &mut Decoder<Self>, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError>;
    }

    /// Operations on the bits of floats.
    pub trait Float: Sized {
        /// Conversion to fixed point (format, section 5).
        fn to_fixed(self, unit: u32) -> Self;
        fn to_float(self, unit: u32) -> Self;
        /// The exponent of a float, and the number of trailing zeros in its fraction with the bit that is not stored.
        fn exponent_and_zeros(self) -> (Self, Self);
    }
}

macro_rules! words {
    ($word:ty, $signed:ty) => {
        impl internal::Entries for $word {
            fn worthwhile(encoder: &Encoder<Self>, raw: &[u8]) -> bool {
                encoder.verdict(raw)
            }
            fn encode(encoder: &mut Encoder<Self>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
                encoder.message(raw, out)
            }
            fn decode(
                decoder: &mut Decoder<Self>,
                wire: &[u8],
                out: &mut Out<'_>,
            ) -> Result<(), DecodeError> {
                decoder.message(wire, out)
            }
        }

        impl internal::Float for $word {
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

words!(u64, i64);
words!(u32, i32);
words!(u16, i16);
