#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)] // allowed again only for loads and stores, for entries, and for what is written into an `Out`
#![allow(
    missing_docs,
    reason = "for the codecs of mpress alone; most functions are instructions by their names"
)]

#[cfg(target_arch = "x86_64")]
#[doc(hidden)] // most of it are instructions
pub mod avx2;
#[cfg(target_arch = "x86_64")]
#[doc(hidden)]
pub mod avx512;
mod entry;
pub mod pack;
mod wire;
mod word;

#[cfg(target_arch = "x86_64")]
pub use entry::{Avx2, Avx512};
pub use entry::{Task, code, prefetch, run};
#[doc(hidden)]
pub use mpress_codec::simd::Simd;
pub use wire::{Wire, put_header};
pub use word::Word;
