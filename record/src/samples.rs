//! Samples of the messages of a rank, in bounded memory.
//!
//! Messages are grouped by kind and length (powers of two). In each group, every window of [`WINDOW`] consecutive messages gets a number ([`draw`]),
//! and the messages with the lowest numbers are kept. If there is no room for another message, the group that takes the most room drops its message
//! with the highest number. So each group's sample is spread evenly over the whole run, groups share the room as evenly as they can use it, and the
//! longer a program runs, the fewer messages are copied.

use crate::files::{self, Run};
use mpress_codec::Kind;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The number of consecutive messages of a group that are usually kept or dropped together, so that consecutive messages of the program stay
/// together.
const WINDOW: u64 = 8;

/// The metadata of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The element kind.
    pub kind: Kind,
    /// Its length in bytes.
    pub len: usize,
    /// The sender's rank in the world.
    pub src: i32,
    /// The receiver's rank in the world; -1 for collectives without one.
    pub dst: i32,
    /// Its tag; -1 for collectives without one.
    pub tag: i32,
    /// The MPI call, such as `isend`.
    pub call: &'static str,
}

/// Totals of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The number of messages offered.
    pub seen: u64,
    /// Their bytes.
    pub seen_bytes: u64,
    /// The number of messages kept.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Samples while they are taken.
pub struct Samples {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    groups: BTreeMap<Group, Sampled>,
    /// The total bytes of the messages kept.
    bytes: usize,
    seen: u64,
    seen_bytes: u64,
    /// Out of memory: nothing more is kept.
    is_full: bool,
}

/// The kind, and the power of two of the length.
type Group = (Kind, u32);

/// The number drawn for the window, and the number of the message in its group.
type Lot = (u64, u64);

struct Sampled {
    /// The number of messages of the group so far.
    seen: u64,
    bytes: usize,
    /// Messages with this number or a higher one are not kept, because one of them was dropped.
    below: Lot,
    kept: BTreeMap<Lot, Sample>,
}

impl Default for Sampled {
    fn default() -> Self {
        Self { seen: 0, bytes: 0, below: (u64::MAX, u64::MAX), kept: BTreeMap::new() }
    }
}

struct Sample {
    /// The number of the message in the whole run.
    order: u64,
    message: Message,
    bytes: Vec<u8>,
}

impl Samples {
    /// Samples that take at most `limit` bytes of memory, plus some metadata for each.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, state: Mutex::default() }
    }

    /// Creates the folder, and removes the files of an earlier run with the same name.
    ///
    /// # Errors
    /// If that fails; as a line for the user.
    pub fn prepare(folder: &Path, run: &Run) -> Result<(), String> {
        files::make_folder(folder)?;
        for extension in EXTENSIONS {
            for path in [run.file(folder, extension), run.file(folder, &index(extension))] {
                files::remove(&path).map_err(files::at(&path))?;
            }
        }
        Ok(())
    }

    /// Offers a message. If it is kept, `fill` gets a buffer of its length for its bytes and returns whether it could fill it.
    pub fn offer(&self, message: &Message, fill: impl FnOnce(&mut [u8]) -> bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let order = state.seen;
        state.seen += 1;
        state.seen_bytes += message.len as u64;
        let group = (message.kind, message.len.max(1).ilog2());
        let sampled = state.groups.entry(group).or_default();
        let lot = (draw(sampled.seen / WINDOW), sampled.seen);
        sampled.seen += 1;
        if state.is_full || !state.make_room(group, lot, message.len, self.limit) {
            return;
        }
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(message.len).is_err() {
            state.is_full = true;
            return;
        }
        bytes.resize(message.len, 0);
        if fill(&mut bytes) {
            state.keep(group, lot, Sample { order, message: *message, bytes });
        }
    }

    /// The totals so far.
    #[must_use]
    pub fn kept(&self) -> Kept {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let messages = state.groups.values().map(|sampled| sampled.kept.len() as u64).sum();
        Kept { seen: state.seen, seen_bytes: state.seen_bytes, messages, bytes: state.bytes as u64 }
    }

    /// Writes the messages kept, in one file with an index for each element kind, and frees the memory.
    ///
    /// # Errors
    /// If a file cannot be written, in which case it does not exist; as a line for the user.
    pub fn write(&self, folder: &Path, run: &Run) -> Result<(), String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = std::mem::take(&mut state.groups);
        state.bytes = 0;
        let mut by_extension: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
        for ((kind, _), sampled) in groups {
            by_extension.entry(extension(kind)).or_default().extend(sampled.kept.into_values());
        }
        for (extension, mut samples) in by_extension {
            if samples.is_empty() {
                continue;
            }
            samples.sort_unstable_by_key(|sample| sample.order);
            let (path, index) = (run.file(folder, extension), run.file(folder, &index(extension)));
            write(&path, &index, &samples).map_err(files::at(&path))?;
        }
        Ok(())
    }
}

impl State {
    /// Makes room for a message of this length. Returns whether it is to be kept.
    fn make_room(&mut self, group: Group, lot: Lot, len: usize, limit: usize) -> bool {
        let below = self.groups.get(&group).map_or(lot, |sampled| sampled.below);
        if len > limit || lot >= below {
            return false;
        }
        while self.bytes + len > limit {
            // Includes the new message.
            let size =
                |(name, sampled): (&Group, &Sampled)| sampled.bytes + if *name == group { len } else { 0 };
            let Some(largest) = self.groups.iter().max_by_key(|(name, sampled)| size((name, sampled))) else {
                return false;
            };
            let name = *largest.0;
            let highest = largest.1.kept.last_key_value().map(|(lot, _)| *lot);
            let Some(sampled) = self.groups.get_mut(&name) else { return false };
            match highest {
                Some(highest) if name != group || highest > lot => {
                    sampled.below = highest;
                    if let Some(given_up) = sampled.kept.remove(&highest) {
                        sampled.bytes -= given_up.bytes.len();
                        self.bytes -= given_up.bytes.len();
                    }
                }
                _ => {
                    sampled.below = lot;
                    return false;
                }
            }
        }
        true
    }

    fn keep(&mut self, group: Group, lot: Lot, sample: Sample) {
        let sampled = self.groups.entry(group).or_default();
        self.bytes += sample.bytes.len();
        sampled.bytes += sample.bytes.len();
        sampled.kept.insert(lot, sample);
    }
}

/// The fractional parts of the multiples of the golden ratio, as 64-bit numbers. Those below any bound are spread evenly over the run and follow no
/// period of the program; all are different, because the factor is odd.
fn draw(window: u64) -> u64 {
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15; // its fractional part
    (window + 1).wrapping_mul(GOLDEN_RATIO)
}

/// All extensions of message files.
const EXTENSIONS: [&str; 6] = ["f64", "f32", "i64", "i32", "i16", "bin"];

/// The extension of message files of this kind.
fn extension(kind: Kind) -> &'static str {
    match kind {
        Kind::F64 => "f64",
        Kind::F32 => "f32",
        Kind::Int64 => "i64",
        Kind::Int32 => "i32",
        Kind::Int16 => "i16",
        Kind::Int8 | Kind::Other => "bin",
    }
}

/// The extension of the index of files with this extension.
fn index(extension: &str) -> String {
    format!("{extension}.idx")
}

/// Writes a file of messages and its index: both or neither.
fn write(path: &Path, index: &Path, samples: &[Sample]) -> io::Result<()> {
    let unfinished = path.with_added_extension("part");
    let result = write_both(&unfinished, index, samples).and_then(|()| std::fs::rename(&unfinished, path));
    if result.is_err() {
        for path in [unfinished.as_path(), index] {
            let _gone: io::Result<()> = files::remove(path);
        }
    }
    result
}

fn write_both(path: &Path, index: &Path, samples: &[Sample]) -> io::Result<()> {
    let mut file = files::create(path)?;
    let mut lines = "offset,bytes,src,dst,tag,call\n".to_owned();
    let mut offset = 0;
    for Sample { message: Message { src, dst, tag, call, .. }, bytes, .. } in samples {
        file.write_all(bytes)?;
        let len = bytes.len();
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "{offset},{len},{src},{dst},{tag},{call}");
        offset += len;
    }
    files::create(index)?.write_all(lines.as_bytes())
}
