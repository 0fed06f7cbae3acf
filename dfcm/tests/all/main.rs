//! All tests of the public interface except the golden vectors, in one program, because the kernels would be most of each test
//! binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test reports by panicking")]

mod conformance;
mod corpus;
mod lanes;
mod lanes_model;
mod model;
mod properties;
mod sequences;
mod wire;

#[path = "../support/lanes.rs"]
mod support_lanes;
#[path = "../support/model.rs"]
mod support_model;
#[path = "../support/real.rs"]
mod support_real;

/// The header of a message of `len` bytes in interleaved lanes. The number of lanes exceeds the elements of a group by `more`.
fn lanes_header(more: usize, len: usize) -> Vec<u8> {
    mpress_codec::conformance::header(&[2, more as u8], len)
}
