#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)] // allowed again only in `out`, the one audited module

#[cfg(feature = "conformance")]
extern crate std;

#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
pub mod frame;
mod id;
mod kind;
mod lend;
mod out;
pub mod simd;
mod traits;

pub use error::{DecodeError, DecodeErrorKind, EncodeError, Full, MemoryError};
pub use id::CodecId;
pub use kind::Kind;
pub use lend::{decode_into, encode_into};
pub use out::{Out, Place};
pub use traits::{Codec, Decode, Encode};
