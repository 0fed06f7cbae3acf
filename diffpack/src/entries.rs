//! The elements that the codec is for, and the entry points of encoder and decoder.
#![forbid(unsafe_code)]

use crate::{Decoder, Encoder};
use mpress_codec::{CodecId, DecodeError, Full, Out};

/// An element of a message, as an unsigned integer: `u64` for doubles and 64-bit integers, `u32`, `u16`.
///
/// Sealed, because each word has its own wire format and codec id.
pub trait Word: internal::Entries + 'static {
    /// The codec id of the wire format for this word.
    const ID: CodecId;
    /// The name of the codec for this word.
    const NAME: &'static str;
}

mod internal {
    use super::{DecodeError, Decoder, Encoder, Full, Out};

    /// The entry points. They are not generic, so they and the kernels that they call are compiled in this crate, and not again in each
    /// crate that uses it.
    pub trait Entries: Sized {
        fn worthwhile(encoder: &Encoder<Self>, raw: &[u8]) -> bool;
        fn encode(
            encoder: &mut Encoder<Self>,
            raw: &[u8],
            reference: &[u8],
            out: &mut Out<'_>,
        ) -> Result<(), Full>;
        fn decode(
            decoder: &mut Decoder<Self>,
            wire: &[u8],
            reference: Option<&[u8]>,
            out: &mut Out<'_>,
        ) -> Result<(), DecodeError>;
    }
}

macro_rules! words {
    ($($word:ident, $id:ident, $name:literal;)*) => { $(
        impl Word for $word {
            const ID: CodecId = CodecId::$id;
            const NAME: &'static str = $name;
        }

        impl internal::Entries for $word {
            fn worthwhile(encoder: &Encoder<Self>, raw: &[u8]) -> bool {
                encoder.verdict(raw)
            }
            fn encode(encoder: &mut Encoder<Self>, raw: &[u8], reference: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
                encoder.message(raw, reference, out)
            }
            fn decode(decoder: &mut Decoder<Self>, wire: &[u8], reference: Option<&[u8]>, out: &mut Out<'_>) -> Result<(), DecodeError> {
                decoder.message(wire, reference, out)
            }
        }
    )* };
}

words! {
    u64, DIFFPACK_64, "diffpack";
    u32, DIFFPACK_32, "diffpack32";
    u16, DIFFPACK_16, "diffpack16";
}
