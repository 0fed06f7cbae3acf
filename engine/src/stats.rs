//! Counters per element kind and codec.

use crate::codecs;
use mpress_codec::{CodecId, Kind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What is counted for one kind and codec. The first three and the encode time are the sender's, the decode time is the
/// receiver's.
const FIELDS: usize = 5;
const MESSAGES: usize = 0;
const RAW_BYTES: usize = 1;
const WIRE_BYTES: usize = 2;
const ENCODE_NS: usize = 3;
const DECODE_NS: usize = 4;

const CELLS: usize = Kind::ALL.len() * codecs::COUNT;

/// Counters that all threads add to.
pub(crate) struct Counters {
    words: [AtomicU64; CELLS * FIELDS],
}

impl Default for Counters {
    fn default() -> Self {
        Self { words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

fn cell(kind: Kind, codec: CodecId) -> usize {
    (kind as usize * codecs::COUNT + codecs::index(codec).unwrap_or(0)) * FIELDS
}

impl Counters {
    pub(crate) fn sent(&self, kind: Kind, codec: CodecId, raw: usize, wire: usize, time: Duration) {
        let at = cell(kind, codec);
        self.words[at + MESSAGES].fetch_add(1, Relaxed);
        self.words[at + RAW_BYTES].fetch_add(raw as u64, Relaxed);
        self.words[at + WIRE_BYTES].fetch_add(wire as u64, Relaxed);
        self.words[at + ENCODE_NS].fetch_add(nanoseconds(time), Relaxed);
    }

    pub(crate) fn received(&self, kind: Kind, codec: CodecId, time: Duration) {
        self.words[cell(kind, codec) + DECODE_NS].fetch_add(nanoseconds(time), Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Stats {
        Stats { words: self.words.iter().map(|word| word.load(Relaxed)).collect() }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Counters at one moment, of one process or summed over several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    words: Vec<u64>,
}

/// One line of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Messages sent in frames.
    pub messages: u64,
    /// Their bytes as the program gave them.
    pub raw_bytes: u64,
    /// Their bytes as they were sent, headers included.
    pub wire_bytes: u64,
    /// Nanoseconds spent encoding, trials that ended raw included.
    pub encode_ns: u64,
    /// Nanoseconds spent decoding.
    pub decode_ns: u64,
}

impl Line {
    /// Raw bytes over wire bytes; 1 where nothing was sent.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.wire_bytes == 0 { 1.0 } else { self.raw_bytes as f64 / self.wire_bytes as f64 }
    }

    fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.raw_bytes += other.raw_bytes;
        self.wire_bytes += other.wire_bytes;
        self.encode_ns += other.encode_ns;
        self.decode_ns += other.decode_ns;
    }
}

impl Stats {
    /// The counters as a flat array, to be summed over processes element by element. The same build always gives
    /// the same length.
    #[must_use]
    pub fn as_words(&self) -> &[u64] {
        &self.words
    }

    /// The same, to receive the sum.
    pub fn as_words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Kind by kind and codec by codec, the lines that are not all zero.
    pub fn lines(&self) -> impl Iterator<Item = (Kind, &'static str, Line)> + '_ {
        Kind::ALL
            .into_iter()
            .flat_map(|kind| codecs::names().map(move |name| (kind, name)))
            .zip(self.words.chunks_exact(FIELDS))
            .map(|((kind, name), w)| {
                let line = Line {
                    messages: w[MESSAGES],
                    raw_bytes: w[RAW_BYTES],
                    wire_bytes: w[WIRE_BYTES],
                    encode_ns: w[ENCODE_NS],
                    decode_ns: w[DECODE_NS],
                };
                (kind, name, line)
            })
            .filter(|(_, _, line)| *line != Line::default())
    }

    /// The sum of all lines.
    #[must_use]
    pub fn total(&self) -> Line {
        let mut total = Line::default();
        self.lines().for_each(|(_, _, line)| total.add(line));
        total
    }
}
