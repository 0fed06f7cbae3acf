//! All tests of the public interface except the golden vectors, in one program, because the kernels would be most of each test binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test reports by panicking")]

mod ccsds;
mod conformance;
mod corpus;
mod properties;
mod wire;

/// The header of a message of `len` bytes.
fn header(len: usize) -> Vec<u8> {
    mpress_codec::conformance::header(&[2], len)
}
