//! For tests and benchmarks: descriptions of datatypes as data, random ones, and the answers of MPIs about them.
//!
//! An MPI takes part as a small C program (`peer/peer.c`), compiled with its `mpicc` and run as a single process. It builds each type with the MPI's
//! own constructors and answers with size, bounds, packed bytes and times.
#![allow(clippy::expect_used, clippy::panic, reason = "a test suite reports by panicking")]

mod process;
mod random;
mod recipe;

pub use process::{Answer, Peer, Times, memory};
pub use random::{Random, random};
pub use recipe::{NAMED, Recipe};
