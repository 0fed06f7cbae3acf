//! The heuristics, arranged for lookup.

use crate::cell::{Cell, Pace};
use crate::heuristics::{Behaviour, Speed};
use crate::link::Link;
use crate::sample::Level;
use crate::size::SizeClass;
use alloc::vec::Vec;
use mpress_codec::Kind;

/// The maximum number of codecs that are considered for a kind of message.
pub(crate) const CANDIDATES: usize = 8;
const LEVELS: usize = Level::ALL.len();

/// A codec that may be chosen for a kind, and the knowledge of it over all message lengths.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Its index in the engine's offers.
    pub(crate) offer: u8,
    levels: [Prior; LEVELS],
    /// The decoding times relative to the heuristics, over all levels.
    decode_pace: Pace,
}

#[derive(Clone, Copy, Debug)]
struct Prior {
    cell: Cell,
    encode: Speed,
    decode: Speed,
    encode_pace: Pace,
}

/// The assumption for an unknown codec, with no gain. Trials correct it.
const UNKNOWN: Speed = Speed { start_us: 1.0, mb_s: 500.0, cold_us: 0.0 };

impl Candidate {
    pub(crate) fn new(offer: u8, name: &str, kind: Kind, behaviours: &[Behaviour<'_>]) -> Self {
        let known: Vec<_> =
            behaviours.iter().filter(|b| b.kind == kind && b.codec == name && b.is_sane()).collect();
        let levels = Level::ALL.map(|level| {
            let nearest = known.iter().min_by_key(|b| (b.level as u8).abs_diff(level as u8));
            match known.iter().find(|b| b.level == level).or(nearest) {
                Some(b) => Prior {
                    cell: Cell::new(1.0 / b.ratio),
                    encode: b.encode,
                    decode: b.decode,
                    encode_pace: Pace::AS_EXPECTED,
                },
                None => Prior {
                    cell: Cell::new(1.0),
                    encode: UNKNOWN,
                    decode: UNKNOWN,
                    encode_pace: Pace::AS_EXPECTED,
                },
            }
        });
        Self { offer, levels, decode_pace: Pace::AS_EXPECTED }
    }

    /// The fraction to which messages of this level are compressed, over all lengths.
    #[inline]
    pub(crate) fn fraction(&self, level: Level) -> f64 {
        self.levels[level as usize].cell.fraction()
    }

    #[inline]
    pub(crate) fn encode_ns(&self, level: Level, len: usize) -> f64 {
        let prior = &self.levels[level as usize];
        prior.encode_pace.time_ns(&prior.encode, len)
    }

    /// Whether the last encoding time at this level was much longer than expected.
    pub(crate) fn is_in_doubt(&self, level: Level) -> bool {
        self.levels[level as usize].encode_pace.is_in_doubt()
    }

    /// The part of an encoding time that is the codec's own, without an interruption of the rank.
    pub(crate) fn own_encode_ns(&self, level: Level, len: usize, ns: f64) -> f64 {
        let prior = &self.levels[level as usize];
        prior.encode_pace.own_ns(&prior.encode, len, ns)
    }

    #[inline]
    pub(crate) fn decode_ns(&self, level: Level, len: usize) -> f64 {
        self.decode_pace.time_ns(&self.levels[level as usize].decode, len)
    }

    /// The time of encoding and decoding a message of this length, at the level with the shortest time.
    pub(crate) fn least_coding_ns(&self, len: usize) -> f64 {
        let coding = Level::ALL.map(|level| self.encode_ns(level, len) + self.decode_ns(level, len));
        coding.into_iter().fold(f64::INFINITY, f64::min)
    }

    /// Records that a message, or a part of one, was compressed to this fraction of its length.
    pub(crate) fn observe_fraction(&mut self, level: Level, fraction: f64) {
        self.levels[level as usize].cell.observe(fraction);
    }

    /// Forgets that the last encoding time at this level was much longer than expected.
    pub(crate) fn clear_surprise(&mut self, level: Level) {
        self.levels[level as usize].encode_pace.clear_surprise();
    }

    /// Records that encoding a message of `len` bytes took `ns` nanoseconds.
    pub(crate) fn observe_encode(&mut self, level: Level, len: usize, ns: f64) {
        let prior = &mut self.levels[level as usize];
        prior.encode_pace.observe(&prior.encode, len, ns);
    }

    /// Records that decoding a message to `len` bytes took `ns` nanoseconds. Only the sender knows its level.
    pub(crate) fn observe_decode(&mut self, len: usize, ns: f64) {
        self.decode_pace.observe(&self.levels[Level::Unknown as usize].decode, len, ns);
    }
}

/// Whether messages of this size would gain if a codec compressed them to nothing.
pub(crate) fn may_gain(candidates: &[Candidate], link: &Link, size: SizeClass) -> bool {
    let len = size.start();
    let vanishes = |c: &Candidate| c.least_coding_ns(len) + link.time_ns(0.0) < link.time_ns(len as f64);
    candidates.iter().any(vanishes)
}
