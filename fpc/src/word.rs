//! The word: the differences between 64-bit and 32-bit values.
#![forbid(unsafe_code)]

use crate::decode::Decoder;
use crate::encode::Encoder;
use mpress_codec::{CodecId, DecodeError, Full, Out, support};

/// A value of a message, as an unsigned integer: `u64` for doubles, `u32` for single floats.
///
/// Sealed, because each word has its own wire format and codec id.
pub trait Word: support::Word + internal::Entries {
    /// The codec id of the wire format for this word.
    const ID: CodecId;
    /// The name of the codec for this word.
    const NAME: &'static str;
    /// The number of most significant bits that the hashes use: the sign and the exponent of a float (format, section 3).
    const TOP_BITS: u32;

    /// The number of bytes up to the highest set bit.
    #[doc(hidden)]
    #[inline(always)]
    fn byte_len(self) -> u8 {
        self.width().div_ceil(8) as u8
    }
}

impl Word for u64 {
    const ID: CodecId = CodecId::FPC_F64;
    const NAME: &'static str = "fpc";
    const TOP_BITS: u32 = 12;
}

impl Word for u32 {
    const ID: CodecId = CodecId::FPC_F32;
    const NAME: &'static str = "fpc32";
    const TOP_BITS: u32 = 9;
}

pub(crate) mod internal {
    use super::{DecodeError, Decoder, Encoder, Full, Out, Word};

    /// The entries to encoder and decoder. These are not generic, so they are compiled in this crate, and not again in each crate that uses it.
    pub trait Entries: Sized {
        fn encode(encoder: &mut Encoder<Self>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full>
        where
            Self: Word;
        fn decode(decoder: &mut Decoder<Self>, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError>
        where
            Self: Word;
    }
}

macro_rules! entries {
    ($($word:ty),*) => { $(
        impl internal::Entries for $word {
            fn encode(encoder: &mut Encoder<Self>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
                encoder.message(raw, out)
            }
            fn decode(decoder: &mut Decoder<Self>, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
                decoder.message(wire, out)
            }
        }
    )* };
}

entries!(u64, u32);
