#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)] // allowed again only in `kernel`

mod block;
mod classes;
mod decode;
mod encode;
mod entries;
mod format;
mod kernel;
mod predictor;
pub mod stream;
mod word;

pub use decode::Decoder;
pub use encode::{Encoder, Fpc};
pub use entries::Word;

// Everything that users need, so that they need no other crate.
#[cfg(feature = "std")]
pub use mpress_codec::io;
pub use mpress_codec::{
    Codec, CodecId, Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, Full, MemoryError, Out, Reset,
    decode_into, decode_into_uninit, encode_into, simd,
};
#[cfg(feature = "alloc")]
pub use mpress_codec::{Compress, Pod, codec_of, compress_with, decoded_len, decompress_with};

/// The static description of codec 6: messages of 64-bit values.
pub type Fpc64 = Fpc<u64>;
/// The static description of codec 7: messages of 32-bit values.
pub type Fpc32 = Fpc<u32>;
/// Encodes 64-bit values.
pub type Encoder64 = Encoder<u64>;
/// Encodes 32-bit values.
pub type Encoder32 = Encoder<u32>;
/// Decodes 64-bit values.
pub type Decoder64 = Decoder<u64>;
/// Decodes 32-bit values.
pub type Decoder32 = Decoder<u32>;
