#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)] // allowed again only in `out`

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", feature = "conformance"))]
extern crate std;

#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod id;
#[cfg(feature = "std")]
pub mod io;
mod kind;
mod lend;
pub mod length;
#[cfg(feature = "alloc")]
mod message;
mod out;
pub mod simd;
mod traits;

pub use error::{DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind, Full, MemoryError};
pub use id::CodecId;
pub use kind::Kind;
pub use lend::{decode_into, decode_into_uninit, encode_into, encode_into_with, filled};
pub use out::{Out, Place};
pub use traits::{Codec, Decode, Encode, Reset};
#[cfg(feature = "alloc")]
pub use {
    bytemuck::Pod,
    message::{Compress, codec_of, compress_with, decoded_len, decompress_with},
};
