//! What the benchmarks share: messages to compress, codecs to compress them with, and the comparison of the two.
//! `README.md` says how to run them.
#![deny(unsafe_code)] // allowed again only in the files of `peers` that call a C library

pub mod aligned;
pub mod cli;
pub mod codecs;
pub mod coder;
pub mod compare;
pub mod corpus;
pub mod data;
pub mod element;
pub mod holdout;
mod peers;

/// What a benchmark can fail with is a line for its user.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
