//! The messages: payloads from files, or of the lengths and kinds in a trace.

use super::Error;
use flate2::read::MultiGzDecoder;
use mpress::{Channel, FLOOR, Kind};
use mpress_corpus::files::{Entry, File, Piece};
use serde::Deserialize;
use std::fmt::Display;
use std::fs;
use std::io::Read;
use std::num::NonZeroI32;
use std::path::{Path, PathBuf};

/// Messages of one kind in the order in which they were sent or received.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) messages: Vec<Vec<u8>>,
    /// Where each goes; `None` if to several ranks, or if that is not known.
    pub(super) channels: Vec<Option<Channel>>,
}

/// A line of a trace: a receive call. Unneeded columns are left out.
#[derive(Deserialize)]
struct Call {
    count: usize,
    datatype: String,
}

/// The maximum number of bytes of a trace that are simulated.
const TRACE_BYTES: usize = 64 << 20;

/// Reads all messages of all paths.
pub(super) fn read(
    paths: &[PathBuf],
    payload: Option<&Path>,
    ranks_per_node: Option<NonZeroI32>,
) -> Result<Vec<Input>, Error> {
    let from_file = |file: &File| from_file(file, ranks_per_node);
    let mut inputs = Vec::new();
    for path in paths {
        let name = path.to_string_lossy();
        if path.is_dir() {
            inputs.extend(File::read_all(path).map_err(line)?.iter().map(from_file));
        } else if name.ends_with(".csv") || name.ends_with(".csv.gz") {
            inputs.extend(from_trace(path, payload)?);
        } else {
            inputs.push(from_file(&read_file(path)?));
        }
    }
    Ok(inputs)
}

fn read_file(path: &Path) -> Result<File, Error> {
    std::fs::metadata(path).map_err(|error| wrong(path, error))?;
    let file = File::read(path).map_err(line)?;
    file.ok_or_else(|| wrong(path, "not a file of messages (extension f64, i32, bin ...)"))
}

fn from_file(file: &File, ranks_per_node: Option<NonZeroI32>) -> Input {
    let is_on_the_way = |entry: &Entry| {
        let node = |rank: i32| ranks_per_node.map(|ranks| rank / ranks.get());
        // Messages to several ranks have no receiver.
        entry.dst < 0 || ranks_per_node.is_none() || node(entry.src) != node(entry.dst)
    };
    let messages = file.index.iter().zip(file.pieces(Piece::Message));
    let messages = messages.filter(|(entry, message)| message.len() >= FLOOR && is_on_the_way(entry));
    // The process that sends is rank 0 of the simulated job.
    let channel = |entry: &Entry| {
        let peer = u32::try_from(entry.dst).ok()?.checked_add(1)?;
        Some(Channel { peer, context: entry.src as u64, tag: entry.tag })
    };
    let messages = messages.map(|(entry, message)| (message.to_vec(), channel(entry)));
    let (messages, channels) = messages.unzip();
    Input { name: file.name.clone(), kind: file.element.kind(), messages, channels }
}

/// The messages of a trace by kind, filled with consecutive parts of the payload.
fn from_trace(path: &Path, payload: Option<&Path>) -> Result<Vec<Input>, Error> {
    let payload =
        payload.ok_or_else(|| wrong(path, "a trace has no payload; take one from a file with --payload"))?;
    let file = read_file(payload)?;
    let bytes = file.pieces(Piece::Bytes(usize::MAX)).concat();
    if bytes.is_empty() {
        return Err(wrong(payload, "no messages to fill a trace from"));
    }
    let packed = fs::File::open(path).map_err(|error| wrong(path, error))?;
    let reader: Box<dyn Read> = if path.extension().is_some_and(|extension| extension == "gz") {
        Box::new(MultiGzDecoder::new(packed))
    } else {
        Box::new(packed)
    };
    let mut source = bytes.iter().copied().cycle();
    let mut inputs: Vec<Input> = Vec::new();
    let mut total = 0;
    for call in csv::Reader::from_reader(reader).into_deserialize() {
        let call: Call = call.map_err(|error| wrong(path, error))?;
        let Some((kind, width)) = datatype(&call.datatype) else { continue };
        let len = call.count.saturating_mul(width);
        total += len;
        if total > TRACE_BYTES {
            break;
        }
        if len < FLOOR {
            continue;
        }
        let message = source.by_ref().take(len).collect();
        match inputs.iter_mut().find(|input| input.kind == kind) {
            Some(input) => {
                input.messages.push(message);
                input.channels.push(None);
            }
            None => {
                let name =
                    format!("{} {}", path.file_name().unwrap_or_default().to_string_lossy(), kind.name());
                inputs.push(Input { name, kind, messages: vec![message], channels: vec![None] });
            }
        }
    }
    if inputs.is_empty() {
        return Err(wrong(path, format!("no message of {FLOOR} bytes or more of a known datatype")));
    }
    Ok(inputs)
}

/// The kind and size of a datatype's elements, by its MPI name; elements of an unnamed type `derivedN` have N bytes.
pub(crate) fn datatype(name: &str) -> Option<(Kind, usize)> {
    if let Some(bytes) = name.strip_prefix("derived") {
        return Some((Kind::Other, bytes.parse().ok()?));
    }
    Some(match name.strip_prefix("MPI_")? {
        "DOUBLE" | "DOUBLE_PRECISION" | "REAL8" => (Kind::F64, 8),
        "DOUBLE_COMPLEX" | "C_DOUBLE_COMPLEX" | "COMPLEX16" => (Kind::F64, 16),
        "FLOAT" | "REAL" | "REAL4" => (Kind::F32, 4),
        "COMPLEX" | "C_FLOAT_COMPLEX" | "COMPLEX8" => (Kind::F32, 8),
        "INT" | "INTEGER" | "INTEGER4" | "INT32_T" | "UINT32_T" | "UNSIGNED" | "LOGICAL" => (Kind::Int32, 4),
        "LONG" | "LONG_LONG" | "LONG_LONG_INT" | "INT64_T" | "UINT64_T" | "UNSIGNED_LONG" | "INTEGER8" => {
            (Kind::Int64, 8)
        }
        "SHORT" | "INT16_T" | "UINT16_T" | "UNSIGNED_SHORT" | "INTEGER2" => (Kind::Int16, 2),
        "CHAR" | "CHARACTER" | "SIGNED_CHAR" | "UNSIGNED_CHAR" | "INT8_T" | "UINT8_T" => (Kind::Int8, 1),
        "BYTE" | "PACKED" => (Kind::Other, 1),
        _ => return None,
    })
}

fn line(error: impl Display) -> Error {
    Error::Input(error.to_string())
}

fn wrong(path: &Path, why: impl Display) -> Error {
    Error::Input(format!("{}: {why}", path.display()))
}
