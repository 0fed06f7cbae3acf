#![doc = include_str!("../README.md")]
#![no_std]
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
