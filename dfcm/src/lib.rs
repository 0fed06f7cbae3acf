#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)] // allowed again only in `lanes::kernel`, for loads, stores and calls that rely on a token

mod bits;
mod decode;
mod encode;
mod entries;
mod format;
mod history;
mod kernel;
pub mod lanes;
mod lines;
mod predictor;
mod table;
mod word;

pub use decode::Decoder;
pub use encode::{Dfcm, Encoder};
pub use entries::Word;
pub use lines::Lines;

// Everything that users need, so that they need no other crate.
#[cfg(feature = "std")]
pub use mpress_codec::io;
pub use mpress_codec::{
    Codec, CodecId, Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, Full, MemoryError, Out, Reset,
    decode_into, decode_into_uninit, encode_into, simd,
};
#[cfg(feature = "alloc")]
pub use mpress_codec::{Compress, Pod, codec_of, compress_with, decoded_len, decompress_with};

/// The static description of codec 1: elements of 64 bits.
pub type Dfcm64 = Dfcm<u64>;
/// The static description of codec 2: elements of 32 bits.
pub type Dfcm32 = Dfcm<u32>;
/// Encodes 64-bit elements.
pub type Encoder64<M> = Encoder<u64, M>;
/// Encodes 32-bit elements.
pub type Encoder32<M> = Encoder<u32, M>;
/// Decodes 64-bit elements.
pub type Decoder64<M> = Decoder<u64, M>;
/// Decodes 32-bit elements.
pub type Decoder32<M> = Decoder<u32, M>;
