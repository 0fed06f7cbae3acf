//! Files of recorded MPI messages: consecutive payloads, and an index next to them; and the caches as messages meet them. For the benchmarks, for
//! `mpress replay` and for tests.
#![forbid(unsafe_code)]

pub mod aligned;
pub mod cold;
pub mod element;
pub mod files;
pub mod shared;

/// The error of reading or writing is a line for the user.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
