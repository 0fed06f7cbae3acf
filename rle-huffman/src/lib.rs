#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)] // allowed again only in `kernel`, for loads, stores and the calls that rely on a token

mod bits;
mod block;
mod decode;
mod encode;
mod entropy;
mod format;
mod kernel;
mod rle;
mod width;

pub use block::Code;
pub use decode::Decoder;
pub use encode::Encoder;
pub use entropy::{Huffman, ShannonFano};
pub use rle::{Rle, Symbol};
pub use width::Width;

// Everything that users need, so that they need no other crate.
#[cfg(feature = "std")]
pub use mpress_codec::io;
pub use mpress_codec::{
    Codec, CodecId, Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, Full, Out, Reset, decode_into,
    decode_into_uninit, encode_into, simd,
};
#[cfg(feature = "alloc")]
pub use mpress_codec::{Compress, Pod, codec_of, compress_with, decoded_len, decompress_with};

/// Encodes runs of symbols (codec 14).
pub type RleEncoder = Encoder<Rle>;
/// Decodes runs of symbols.
pub type RleDecoder = Decoder<Rle>;
/// Encodes with Huffman codes (codec 15).
pub type HuffmanEncoder = Encoder<Huffman>;
/// Decodes Huffman codes.
pub type HuffmanDecoder = Decoder<Huffman>;
/// Encodes with Shannon-Fano codes (codec 16).
pub type ShannonFanoEncoder = Encoder<ShannonFano>;
/// Decodes Shannon-Fano codes.
pub type ShannonFanoDecoder = Decoder<ShannonFano>;
