//! What is known about codecs before the first message.

use crate::sample::Level;
use mpress_codec::Kind;

/// The behaviour of a codec on messages of a kind and redundancy level (the "compression-behaviour heuristics" of PRAcTICaL-MPI, section 3).
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour<'a> {
    /// The kind of the messages.
    pub kind: Kind,
    /// Their redundancy level.
    pub level: Level,
    /// The name under which the codec is offered.
    pub codec: &'a str,
    /// Raw bytes over compressed bytes.
    pub ratio: f64,
    /// Encoding.
    pub encode: Speed,
    /// Decoding.
    pub decode: Speed,
}

/// The time of encoding or decoding with cold caches, after the program has worked on other data.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Speed {
    /// The fixed time of a message in microseconds.
    pub start_us: f64,
    /// The throughput in raw MB/s (10^6 bytes a second), without the fixed time.
    pub mb_s: f64,
    /// The part of the fixed time that is due to cold caches, in microseconds. A message that immediately follows another one takes that much
    /// less.
    pub cold_us: f64,
}

impl Speed {
    /// Nanoseconds for a message of this number of bytes.
    #[must_use]
    pub fn time_ns(&self, len: usize) -> f64 {
        self.start_us * 1e3 + len as f64 * 1e3 / self.mb_s
    }

    /// Whether all values are plausible for a codec.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        (0.0..1e6).contains(&self.start_us)
            && (1e-3..1e7).contains(&self.mb_s)
            && (0.0..=self.start_us).contains(&self.cold_us)
    }
}

impl Behaviour<'_> {
    /// Whether all values are plausible for a codec.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        (0.5..1e6).contains(&self.ratio) && self.encode.is_sane() && self.decode.is_sane()
    }
}
