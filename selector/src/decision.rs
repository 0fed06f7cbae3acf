//! Decisions, and reports of their outcome.

use crate::sample::Level;
use core::ops::Range;
use mpress_codec::Kind;

/// The index of a codec in the list from which a selector was made.
pub type Offer = u8;

/// The way to send a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Choice {
    /// Send it unchanged.
    Raw,
    /// Compress it with this codec.
    Encode(Offer),
}

/// A message that is long enough to gain. Its bytes have not been read yet.
#[derive(Clone, Copy, Debug)]
pub struct Admitted {
    pub(crate) kind: Kind,
    pub(crate) len: usize,
}

/// The length in bytes of the part that is encoded to learn about an unknown codec.
pub(crate) const PROBE: usize = 4 << 10;

/// A part of a message to encode, and the codec, only to learn from the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The codec.
    pub offer: Offer,
    /// The bytes of the message.
    pub window: Range<usize>,
}

/// The decision of a selector. Return it together with the outcome, so that the selector learns.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The way to send the message.
    pub choice: Choice,
    /// Set it if the message refers to an earlier one: its length on the wire says nothing about messages that do not.
    pub refers: bool,
    /// The codec of [`probe`](Self::probe).
    pub(crate) probes: Option<Offer>,
    pub(crate) kind: Kind,
    pub(crate) len: usize,
    /// The level of its sample; `None` if the message was not read.
    pub(crate) level: Option<Level>,
    pub(crate) raw_ns: f64,
    pub(crate) expected_ns: f64,
}

impl Decision {
    /// The decision to send raw, which takes this time; `level` as in the field.
    pub(crate) fn raw(kind: Kind, len: usize, level: Option<Level>, raw_ns: f64) -> Self {
        let choice = Choice::Raw;
        Self { choice, refers: false, probes: None, kind, len, level, raw_ns, expected_ns: raw_ns }
    }

    /// What to encode first, if the probably best codec is unknown for such messages. This is then not yet a decision: report the result
    /// ([`Selector::probed`](crate::Selector::probed)) to get the next one.
    #[must_use]
    pub fn probe(&self) -> Option<Probe> {
        let start = (self.len.saturating_sub(PROBE) / 2) & !7;
        self.probes.map(|offer| Probe { offer, window: start..start + PROBE })
    }

    /// The kind, level and codec whose data the decision for a codec rests on.
    pub(crate) fn cell(&self) -> Option<(Kind, Level, Offer)> {
        match self.choice {
            Choice::Encode(offer) => Some((self.kind, self.level?, offer)),
            Choice::Raw => None,
        }
    }

    /// The redundancy level of the message, if it was sampled.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        self.level.filter(|&level| level != Level::Unknown)
    }

    /// The expected gain in nanoseconds over sending raw; 0 if the message is sent raw.
    #[must_use]
    pub fn expected_gain_ns(&self) -> f64 {
        self.raw_ns - self.expected_ns
    }
}
