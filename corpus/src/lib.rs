//! Files of recorded MPI messages: payloads one after the other, and an index beside them. For the benchmarks and for
//! `mpress replay`.
#![forbid(unsafe_code)]

pub mod aligned;
pub mod element;
pub mod files;

/// What reading or writing can fail with is a line for the user.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
