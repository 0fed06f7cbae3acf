//! All tests of the public interface except the golden vectors, in one program, because the kernels would be most of each test binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test reports by panicking")]

mod conformance;
mod corpus;
mod properties;
mod tiers;
mod wire;

#[path = "../support/settings.rs"]
mod support_settings;

/// The header of a message of `len` bytes; `flags` are planes and setting.
fn header(flags: u8, len: usize) -> Vec<u8> {
    mpress_codec::conformance::header(&[2, flags], len)
}
