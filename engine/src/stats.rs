//! Message statistics: by element kind and codec, by destination and by length.

mod reason;

pub use reason::RawReason;

use crate::codecs::Table;
use crate::engine::Destination;
use mpress_codec::Kind;
use mpress_selector::{Offer, SizeClass};
use std::sync::Arc;
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

/// The number of sorts of messages: a size class for a destination, and for each row of the table a kind for a destination.
const BY_SIZE: usize = SizeClass::COUNT * Destination::ALL.len();
const BY_KIND: usize = Kind::ALL.len() * Destination::ALL.len();

/// Counters shared by all threads.
pub(crate) struct Counters {
    table: Arc<Table>,
    words: Box<[AtomicU64]>,
}

/// The number of counters for the codecs of a table.
pub(crate) fn words(table: &Table) -> usize {
    let rows = table.len() + RawReason::ALL.len() - 1;
    // The last ones are for messages that refer to earlier ones.
    (BY_SIZE + rows * BY_KIND + 1) * FIELDS
}

/// The index of the first counter of a size class.
fn by_size(size: SizeClass, to: Destination) -> usize {
    (size.index() * Destination::ALL.len() + to as usize) * FIELDS
}

/// The row of messages that are sent raw for this reason. The first is that of raw messages in the table, which also has those received; the others
/// follow the table's `rows`.
fn raw_row(rows: usize, reason: RawReason) -> usize {
    match reason as usize {
        0 => 0,
        other => rows + other - 1,
    }
}

/// The index of the first counter of a row and a kind.
fn by_row(kind: Kind, row: usize, to: Destination) -> usize {
    (BY_SIZE + row * BY_KIND + kind as usize * Destination::ALL.len() + to as usize) * FIELDS
}

impl Counters {
    /// Counters for the codecs of this table, all zero.
    pub(crate) fn of(table: Arc<Table>) -> Self {
        let words = (0..words(&table)).map(|_| AtomicU64::new(0)).collect();
        Self { table, words }
    }

    /// Counts a sent message, with its codec or the reason why it has none.
    pub(crate) fn sent(
        &self,
        kind: Kind,
        codec: Result<Offer, RawReason>,
        to: Destination,
        raw: usize,
        wire: usize,
        time: Duration,
    ) {
        let row = codec.map_or_else(|reason| raw_row(self.table.len(), reason), usize::from);
        for at in [by_row(kind, row, to), by_size(SizeClass::of(raw), to)] {
            self.words[at + MESSAGES].fetch_add(1, Relaxed);
            self.words[at + RAW_BYTES].fetch_add(raw as u64, Relaxed);
            self.words[at + WIRE_BYTES].fetch_add(wire as u64, Relaxed);
            if !time.is_zero() {
                self.words[at + ENCODE_NS].fetch_add(nanoseconds(time), Relaxed);
            }
        }
    }

    /// Counts a sent message that referred to an earlier one.
    pub(crate) fn referred(&self, raw: usize, wire: usize) {
        let at = self.words.len() - FIELDS;
        self.words[at + MESSAGES].fetch_add(1, Relaxed);
        self.words[at + RAW_BYTES].fetch_add(raw as u64, Relaxed);
        self.words[at + WIRE_BYTES].fetch_add(wire as u64, Relaxed);
    }

    /// Adds received bytes, and the number of messages that begin with them. Their sender is unknown.
    pub(crate) fn received(
        &self,
        kind: Kind,
        codec: Option<Offer>,
        messages: u64,
        raw: usize,
        time: Duration,
    ) {
        let at = by_row(kind, usize::from(codec.unwrap_or(0)), Destination::OtherNode);
        self.words[at + DECODED].fetch_add(messages, Relaxed);
        self.words[at + DECODED_BYTES].fetch_add(raw as u64, Relaxed);
        self.words[at + DECODE_NS].fetch_add(nanoseconds(time), Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Stats {
        let words = self.words.iter().map(|word| word.load(Relaxed)).collect();
        Stats { table: Arc::clone(&self.table), words }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The counters at one moment, of one process or summed over several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    table: Arc<Table>,
    words: Vec<u64>,
}

/// The counters of one sort of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Messages sent.
    pub messages: u64,
    /// Their bytes before compression.
    pub raw_bytes: u64,
    /// Their bytes as sent, including the headers of frames. With the strategy `measure`, which sends them raw, the bytes that `adaptive` would
    /// have sent.
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
    /// The same counters with other values: those of [`as_words`](Self::as_words) of another process, or a sum.
    pub(crate) fn with_words(self, words: &[u64]) -> Self {
        Self { words: words.to_vec(), ..self }
    }

    /// The counters as a flat array, whose length is the same for all processes with the same codecs.
    pub(crate) fn as_words(&self) -> &[u64] {
        &self.words
    }

    fn at(&self, at: usize) -> Line {
        Line::of(&self.words[at..at + FIELDS])
    }

    /// A row and kind, for all destinations.
    fn row(&self, kind: Kind, row: usize) -> Line {
        Destination::ALL.map(|to| self.at(by_row(kind, row, to))).into_iter().sum()
    }

    /// The messages of a kind that were sent raw for this reason.
    fn raw_of(&self, kind: Kind, reason: RawReason) -> Line {
        self.row(kind, raw_row(self.table.len(), reason))
    }

    /// The lines by kind and codec, including `raw`, that are not all zero.
    pub fn lines(&self) -> impl Iterator<Item = (Kind, &'static str, Line)> + '_ {
        let rows = || (0..=Offer::MAX).take(self.table.len());
        Kind::ALL
            .into_iter()
            .flat_map(move |kind| rows().map(move |row| (kind, row)))
            .map(|(kind, row)| {
                let line: Line = match row {
                    0 => RawReason::ALL.map(|reason| self.raw_of(kind, reason)).into_iter().sum(),
                    _ => self.row(kind, usize::from(row)),
                };
                (kind, self.table.name(row), line)
            })
            .filter(|(_, _, line): &(_, _, Line)| !line.is_zero())
    }

    /// The messages that were sent raw, by the reason; reasons without messages are left out.
    pub fn raw(&self) -> impl Iterator<Item = (RawReason, Line)> + '_ {
        RawReason::ALL
            .into_iter()
            .map(|reason| (reason, Kind::ALL.map(|kind| self.raw_of(kind, reason)).into_iter().sum()))
            .filter(|(_, line): &(_, Line)| line.messages > 0)
    }

    /// The messages sent to a destination, by length, shortest first; lines that are all zero are left out.
    pub fn sizes(&self, to: Destination) -> impl Iterator<Item = (SizeClass, Line)> + '_ {
        SizeClass::all()
            .map(move |size| (size, self.at(by_size(size, to))))
            .filter(|(_, line)| !line.is_zero())
    }

    /// The messages that referred to earlier ones, which are in the other lines, too.
    #[must_use]
    pub fn referring(&self) -> Line {
        self.at(self.words.len() - FIELDS)
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
