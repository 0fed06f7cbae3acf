//! All tests of the crate's interface but the golden vectors, in one program: what the kernels are compiled to is most of each.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test reports by panicking")]

mod ccsds;
mod conformance;
mod corpus;
mod properties;
mod wire;
