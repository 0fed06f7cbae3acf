#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)] // allowed again only in `out`, and for loads, stores and entries in `support`

#[cfg(feature = "alloc")]
extern crate alloc;
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
#[cfg(feature = "alloc")]
mod prefixed;
pub mod simd;
#[doc(hidden)]
pub mod support;
mod traits;

pub use error::{DecodeError, DecodeErrorKind, EncodeError, Full, MemoryError};
pub use id::CodecId;
pub use kind::Kind;
pub use lend::{decode_into, decode_into_uninit, encode_into};
pub use out::{Out, Place};
#[cfg(feature = "alloc")]
pub use prefixed::{Check, decode_to_vec, encode_to_vec};
pub use traits::{Codec, Decode, Encode, Reset};
