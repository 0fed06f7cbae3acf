//! The C libraries that streams are exchanged with, each as two safe functions: a buffer in, a buffer out. The exchange itself is
//! in `tests/`, a file for each codec.
//!
//! A library that is not installed (`cargo xtask setup` installs all) leaves its module out, and its tests say that they were
//! skipped.
#![deny(unsafe_code)] // allowed again only in the files that call a C library

#[cfg(peer_aec)]
pub mod aec;
#[cfg(peer_lzo)]
pub mod lzo;
#[cfg(peer_lzo)]
pub mod lzo_streams;
