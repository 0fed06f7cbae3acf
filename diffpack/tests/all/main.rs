//! All tests of the public interface except the golden vectors, in one program: most of each test binary would be the kernels.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test reports by panicking")]

mod conformance;
mod corpus;
mod dense;
mod properties;
mod records;
mod tiers;
mod wire;
