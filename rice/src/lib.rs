#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)] // allowed again only in `kernel`, for the calls that rely on a token

mod block;
pub mod ccsds;
mod decode;
mod encode;
mod entries;
mod format;
mod kernel;
mod mapping;
mod parameter;
mod rows;
mod unary;
mod word;

pub use decode::Decoder;
pub use encode::{Encoder, Rice};
pub use entries::Word;
pub use mapping::Mapping;

// Everything that users need, so that they need no other crate.
#[cfg(feature = "std")]
pub use mpress_codec::io;
pub use mpress_codec::{
    Codec, CodecId, Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, Full, Out, Reset, decode_into,
    decode_into_uninit, encode_into, simd,
};
#[cfg(feature = "alloc")]
pub use mpress_codec::{Compress, Pod, codec_of, compress_with, decoded_len, decompress_with};

/// The static description of codec 9: words of 8 bits.
pub type Rice8 = Rice<u8>;
/// The static description of codec 10: words of 16 bits.
pub type Rice16 = Rice<u16>;
/// The static description of codec 11: words of 32 bits.
pub type Rice32 = Rice<u32>;
/// The static description of codec 12: words of 64 bits.
pub type Rice64 = Rice<u64>;
/// Encodes words of 8 bits.
pub type Encoder8 = Encoder<u8>;
/// Encodes words of 16 bits.
pub type Encoder16 = Encoder<u16>;
/// Encodes words of 32 bits.
pub type Encoder32 = Encoder<u32>;
/// Encodes words of 64 bits.
pub type Encoder64 = Encoder<u64>;
/// Decodes words of 8 bits.
pub type Decoder8 = Decoder<u8>;
/// Decodes words of 16 bits.
pub type Decoder16 = Decoder<u16>;
/// Decodes words of 32 bits.
pub type Decoder32 = Decoder<u32>;
/// Decodes words of 64 bits.
pub type Decoder64 = Decoder<u64>;
