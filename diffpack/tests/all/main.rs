//! All tests of the public interface except the golden vectors, in one program, because the kernels would be most of each test
//! binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test reports by panicking")]

mod conformance;
mod corpus;
mod mixed;
mod properties;
mod records;
mod references;
mod tiers;
mod wire;

/// In a header: the message consists of records.
const RECORDS: u8 = 1;

/// The header of a message of `len` bytes.
fn header(flags: u8, len: usize) -> Vec<u8> {
    mpress_codec::conformance::header(&[1 << 4 | flags], len)
}
