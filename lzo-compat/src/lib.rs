#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod bytes;
mod decode;
mod effort;
mod encode;
mod format;
mod lz77;
mod lzo;
mod parse;
mod positions;

pub use decode::Decoder;
pub use effort::Effort;
pub use encode::Encoder;
pub use format::Format;
pub use lz77::Lz77;
pub use lzo::Lzo1x;

// Everything that users need, so that they need no other crate.
#[cfg(feature = "std")]
pub use mpress_codec::io;
pub use mpress_codec::{
    Codec, CodecId, Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, Full, Out, Reset, decode_into,
    decode_into_uninit, encode_into,
};
#[cfg(feature = "alloc")]
pub use mpress_codec::{Compress, Pod, codec_of, compress_with, decoded_len, decompress_with};
