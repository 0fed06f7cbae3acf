//! The measurements of each message, as CSV, for the design of strategies.

use super::measure::{Caches, Measured};
use serde::Serialize;
use std::io::Write;

/// A codec on a message.
#[derive(Serialize)]
struct Record<'a> {
    file: &'a str,
    /// The index of the message in its file, among the replayed messages.
    message: usize,
    bytes: usize,
    kind: &'a str,
    codec: &'a str,
    /// Bytes of the frame; empty if the message is sent raw.
    wire_bytes: Option<usize>,
    encode_hot_ns: u64,
    decode_hot_ns: u64,
    encode_cold_ns: u64,
    decode_cold_ns: u64,
}

/// Writes a line for each codec on each message.
///
/// # Errors
/// If `to` cannot be written.
pub(super) fn write(to: impl Write, files: &[Measured<'_>]) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    for file in files {
        for (codec, outcomes) in &file.codecs {
            for (message, (raw, outcome)) in file.messages.iter().zip(outcomes).enumerate() {
                let (hot, cold) = (outcome.coding(Caches::Hot), outcome.coding(Caches::Cold));
                writer.serialize(Record {
                    file: file.name,
                    message,
                    bytes: raw.len(),
                    kind: file.kind.name(),
                    codec: codec.name(),
                    wire_bytes: outcome.wire_len,
                    encode_hot_ns: hot.encode_ns as u64,
                    decode_hot_ns: hot.decode_ns as u64,
                    encode_cold_ns: cold.encode_ns as u64,
                    decode_cold_ns: cold.decode_ns as u64,
                })?;
            }
        }
    }
    Ok(writer.flush()?)
}
