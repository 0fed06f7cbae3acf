//! What the benchmarks share: messages to compress and codecs to compress them with. `README.md` says how to run
//! them.
#![forbid(unsafe_code)]

pub mod codecs;
pub mod corpus;
pub mod data;
