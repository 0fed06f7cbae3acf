//! The adaptive entropy coder of CCSDS 121.0-B-3, *Lossless Data Compression*: streams compatible with other implementations (libaec, SZIP), and a
//! frame codec whose wire includes the parameters of its stream.
//!
//! Samples of 1 to 32 bits are predicted from their neighbours. Blocks of 8 to 64 samples are coded with the best of several options: Rice codes with
//! every parameter, the second extension for very small residuals, runs of zero blocks, and no compression.

mod bits;
mod codec;
mod decode;
mod encode;
mod option;
mod parameters;
mod predictor;
mod sample;

pub use codec::{Ccsds121, Decoder, Encoder};
pub use decode::decode_stream;
pub use encode::{StreamError, encode_stream};
pub use parameters::Parameters;
