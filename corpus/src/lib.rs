//! Files of recorded MPI messages: consecutive payloads, with an index next to them; and cold caches, as messages meet them. For the benchmarks,
//! `mpress replay` and tests.
#![forbid(unsafe_code)]

pub mod aligned;
pub mod cold;
pub mod element;
pub mod files;
pub mod shared;

/// The error of reading or writing is a line for the user.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
