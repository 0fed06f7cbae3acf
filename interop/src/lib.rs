//! The C libraries with which streams are exchanged, each as two safe functions from buffer to buffer. The exchange itself is in `tests/`, one file
//! per codec.
//!
//! Without a library (`cargo xtask setup` installs all), its module is left out, and its tests report that they were skipped.
#![deny(unsafe_code)] // allowed again only in the files that call a C library

#[cfg(peer_aec)]
pub mod aec;
#[cfg(peer_lzo)]
pub mod lzo;
#[cfg(peer_lzo)]
pub mod lzo_streams;
