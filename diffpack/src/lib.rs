// Its first program needs `alloc`.
#![cfg_attr(any(feature = "alloc", not(doctest)), doc = include_str!("../README.md"))]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)] // allowed again only in `kernel`, for loads, stores and the calls that rely on a token

mod columns;
mod decode;
mod effort;
mod encode;
mod entries;
mod format;
mod kernel;
mod word;

pub use decode::Decoder;
pub use effort::Effort;
pub use encode::{Diffpack, Encoder};
pub use entries::Word;

// Everything that users need, so that they need no other crate.
#[cfg(feature = "std")]
pub use mpress_codec::io;
pub use mpress_codec::{
    Codec, CodecId, Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, EncodeErrorKind, Full, Out,
    Reset, decode_into, decode_into_uninit, encode_into, simd,
};
#[cfg(feature = "alloc")]
pub use mpress_codec::{Compress, Pod, codec_of, compress_with, decoded_len, decompress_with};

/// The static description of codec 3: words of 64 bits.
pub type Diffpack64 = Diffpack<u64>;
/// The static description of codec 4: words of 32 bits.
pub type Diffpack32 = Diffpack<u32>;
/// The static description of codec 5: words of 16 bits.
pub type Diffpack16 = Diffpack<u16>;
/// Encodes words of 64 bits.
pub type Encoder64 = Encoder<u64>;
/// Encodes words of 32 bits.
pub type Encoder32 = Encoder<u32>;
/// Encodes words of 16 bits.
pub type Encoder16 = Encoder<u16>;
/// Decodes words of 64 bits.
pub type Decoder64 = Decoder<u64>;
/// Decodes words of 32 bits.
pub type Decoder32 = Decoder<u32>;
/// Decodes words of 16 bits.
pub type Decoder16 = Decoder<u16>;
