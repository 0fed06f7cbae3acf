//! Message statistics: by element kind and codec, by destination and by length.

use crate::codecs::{self, Codec, RAW};
use crate::engine::Destination;
use mpress_codec::Kind;
use mpress_selector::SizeClass;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The number of counters for one sort of messages. The first four are the sender's, the others the receiver's.
const FIELDS: usize = 7;
const MESSAGES: usize = 0;
const RAW_BYTES: usize = 1;
const WIRE_BYTES: usize = 2;
const ENCODE_NS: usize = 3;
const DECODED: usize = 4;
const DECODED_BYTES: usize = 5;
const DECODE_NS: usize = 6;

/// The number of sorts of messages: a kind and codec for a destination, and a size class for a destination.
const BY_CODEC: usize = Kind::ALL.len() * codecs::COUNT * Destination::ALL.len();
const BY_SIZE: usize = SizeClass::COUNT * Destination::ALL.len();

const WORDS: usize = (BY_CODEC + BY_SIZE) * FIELDS;

/// Counters shared by all threads.
pub(crate) struct Counters {
    words: Box<[AtomicU64]>,
}

impl Default for Counters {
    fn default() -> Self {
        Self { words: (0..WORDS).map(|_| AtomicU64::new(0)).collect() }
    }
}

/// The index of the first counter of a kind and codec.
fn by_codec(kind: Kind, codec: Option<Codec>, to: Destination) -> usize {
    let row = codec.map_or(0, Codec::index);
    ((kind as usize * codecs::COUNT + row) * Destination::ALL.len() + to as usize) * FIELDS
}

/// The index of the first counter of a size class.
fn by_size(size: SizeClass, to: Destination) -> usize {
    (BY_CODEC + size.index() * Destination::ALL.len() + to as usize) * FIELDS
}

impl Counters {
    pub(crate) fn sent(
        &self,
        kind: Kind,
        codec: Option<Codec>,
        to: Destination,
        raw: usize,
        wire: usize,
        time: Duration,
    ) {
        for at in [by_codec(kind, codec, to), by_size(SizeClass::of(raw), to)] {
            self.words[at + MESSAGES].fetch_add(1, Relaxed);
            self.words[at + RAW_BYTES].fetch_add(raw as u64, Relaxed);
            self.words[at + WIRE_BYTES].fetch_add(wire as u64, Relaxed);
            if !time.is_zero() {
                self.words[at + ENCODE_NS].fetch_add(nanoseconds(time), Relaxed);
            }
        }
    }

    /// Adds received bytes, and the number of messages that begin with them. Their sender is unknown.
    pub(crate) fn received(
        &self,
        kind: Kind,
        codec: Option<Codec>,
        messages: u64,
        raw: usize,
        time: Duration,
    ) {
        let at = by_codec(kind, codec, Destination::OtherNode);
        self.words[at + DECODED].fetch_add(messages, Relaxed);
        self.words[at + DECODED_BYTES].fetch_add(raw as u64, Relaxed);
        self.words[at + DECODE_NS].fetch_add(nanoseconds(time), Relaxed);
    }

    /// The number of bytes saved by compression.
    pub(crate) fn saved(&self) -> u64 {
        let words = |field: usize| self.words.iter().skip(BY_CODEC * FIELDS + field).step_by(FIELDS);
        let sum = |field| words(field).map(|word| word.load(Relaxed)).sum::<u64>();
        sum(RAW_BYTES).saturating_sub(sum(WIRE_BYTES))
    }

    pub(crate) fn snapshot(&self) -> Stats {
        Stats { words: self.words.iter().map(|word| word.load(Relaxed)).collect() }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The counters at one moment, of one process or summed over several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    words: Vec<u64>,
}

/// The counters of one sort of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Messages sent.
    pub messages: u64,
    /// Their bytes before compression.
    pub raw_bytes: u64,
    /// Their bytes as sent, including the headers of frames.
    pub wire_bytes: u64,
    /// Nanoseconds spent encoding, including attempts whose messages were then sent raw.
    pub encode_ns: u64,
    /// Messages received in frames.
    pub decoded: u64,
    /// Their bytes after decompression.
    pub decoded_bytes: u64,
    /// Nanoseconds spent decoding.
    pub decode_ns: u64,
}

impl Line {
    /// Raw bytes divided by wire bytes; 1 if nothing was sent.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.wire_bytes == 0 { 1.0 } else { self.raw_bytes as f64 / self.wire_bytes as f64 }
    }

    fn of(words: &[u64]) -> Self {
        Self {
            messages: words[MESSAGES],
            raw_bytes: words[RAW_BYTES],
            wire_bytes: words[WIRE_BYTES],
            encode_ns: words[ENCODE_NS],
            decoded: words[DECODED],
            decoded_bytes: words[DECODED_BYTES],
            decode_ns: words[DECODE_NS],
        }
    }

    fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl std::ops::Add for Line {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            raw_bytes: self.raw_bytes + other.raw_bytes,
            wire_bytes: self.wire_bytes + other.wire_bytes,
            encode_ns: self.encode_ns + other.encode_ns,
            decoded: self.decoded + other.decoded,
            decoded_bytes: self.decoded_bytes + other.decoded_bytes,
            decode_ns: self.decode_ns + other.decode_ns,
        }
    }
}

impl std::iter::Sum for Line {
    fn sum<I: Iterator<Item = Self>>(lines: I) -> Self {
        lines.fold(Self::default(), |sum, line| sum + line)
    }
}

impl Stats {
    /// From the result of [`as_words`](Self::as_words), or a sum of such results.
    pub(crate) fn from_words(words: &[u64]) -> Self {
        Self { words: words.to_vec() }
    }

    /// The counters as a flat array, whose length is constant within a build.
    pub(crate) fn as_words(&self) -> &[u64] {
        &self.words
    }

    fn at(&self, at: usize) -> Line {
        Line::of(&self.words[at..at + FIELDS])
    }

    /// The lines by kind and codec, including `raw`, that are not all zero.
    pub fn lines(&self) -> impl Iterator<Item = (Kind, &'static str, Line)> + '_ {
        let rows = || std::iter::once(None).chain((1..codecs::COUNT).map(Codec::at));
        Kind::ALL
            .into_iter()
            .flat_map(move |kind| rows().map(move |codec| (kind, codec)))
            .map(|(kind, codec)| {
                let line = Destination::ALL.map(|to| self.at(by_codec(kind, codec, to))).into_iter().sum();
                (kind, codec.map_or(RAW, Codec::name), line)
            })
            .filter(|(_, _, line): &(_, _, Line)| !line.is_zero())
    }

    /// The messages sent to a destination, by length, shortest first; lines that are all zero are left out.
    pub fn sizes(&self, to: Destination) -> impl Iterator<Item = (SizeClass, Line)> + '_ {
        SizeClass::all()
            .map(move |size| (size, self.at(by_size(size, to))))
            .filter(|(_, line)| !line.is_zero())
    }

    /// Everything sent to a destination.
    #[must_use]
    pub fn sent_to(&self, to: Destination) -> Line {
        self.sizes(to).map(|(_, line)| line).sum()
    }

    /// The sum of all lines.
    #[must_use]
    pub fn total(&self) -> Line {
        self.lines().map(|(_, _, line)| line).sum()
    }
}
