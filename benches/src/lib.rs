//! The common part of the benchmarks: messages to compress, codecs to compress them with, and the comparison of codecs. `README.md` describes how to
//! run them.
#![deny(unsafe_code)] // allowed again only in `peers/blosc.rs`, which calls a C library

pub mod cli;
pub mod codecs;
pub mod coder;
pub mod compare;
pub mod data;
pub mod holdout;
pub mod packing;
mod peers;

pub use mpress_corpus::{Result, aligned, element, files as corpus};
