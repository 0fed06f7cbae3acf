//! Decisions, and reports of their outcome.

use crate::link::{Link, PeerClass};
use crate::sample::Level;
use crate::size::SizeClass;
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

/// A message inside the compression window, whose bytes have not been read.
#[derive(Clone, Debug)]
pub struct Admitted {
    pub(crate) kind: Kind,
    pub(crate) peer: PeerClass,
    /// The link to the node, if it is unlike that of its class.
    pub(crate) own: Option<Link>,
    pub(crate) len: usize,
    pub(crate) size: SizeClass,
    pub(crate) raw_ns: f64,
    /// It was outside before.
    pub(crate) reopened: bool,
    /// The time since the common beginning of all processes, if it is known.
    pub(crate) now_ns: Option<u64>,
    /// As in [`Decision`].
    pub(crate) contest_ns: Option<f64>,
}

/// The decision of a selector. Return it with the outcome, from which the selector learns.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The way to send the message.
    pub choice: Choice,
    /// A part of the message to encode, only to learn the result.
    pub probe: Option<Probe>,
    pub(crate) kind: Kind,
    pub(crate) peer: PeerClass,
    /// As in [`Admitted`].
    pub(crate) own: Option<Link>,
    pub(crate) len: usize,
    pub(crate) raw_ns: f64,
    pub(crate) expected_ns: f64,
    pub(crate) looked_at: Option<LookedAt>,
    pub(crate) is_tentative: bool,
    /// That it is compressed follows not from estimates, but from a contest: then the gain that was measured there, 0 if that has no result.
    pub(crate) contest_ns: Option<f64>,
}

/// A part of a message to encode, and the codec. The result is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The codec.
    pub offer: Offer,
    /// The bytes of the message.
    pub window: Range<usize>,
}

/// For a message inside the window: which knowledge its outcome updates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookedAt {
    pub(crate) context: u16,
    pub(crate) size: SizeClass,
    pub(crate) level: Level,
}

impl Probe {
    /// A window in the message, at another place each time.
    pub(crate) fn somewhere(offer: Offer, len: usize, probe_len: usize, visits: u32) -> Self {
        // Whole words, so that elements stay aligned.
        let free = (len - probe_len) / 8;
        let start = if free == 0 { 0 } else { (visits as usize).wrapping_mul(0x9e37_79b1) % free * 8 };
        Self { offer, window: start..start + probe_len }
    }
}

impl Decision {
    /// The decision for a message outside the window.
    pub(crate) fn outside(kind: Kind, peer: PeerClass, len: usize) -> Self {
        let (raw_ns, expected_ns) = (0.0, 0.0);
        Self {
            choice: Choice::Raw,
            probe: None,
            kind,
            peer,
            own: None,
            len,
            raw_ns,
            expected_ns,
            looked_at: None,
            is_tentative: false,
            contest_ns: None,
        }
    }

    /// The class of the process to which the message is sent.
    #[must_use]
    pub fn peer(&self) -> PeerClass {
        self.peer
    }

    /// The redundancy level of the message, if it was sampled.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        self.looked_at.map(|at| at.level).filter(|&level| level != Level::Unknown)
    }

    /// Whether the message should be decided about again after its probe ([`Selector::decide_again`](crate::Selector::decide_again)): it has
    /// 128 KiB or more, and the codec that should be the best has never been observed on messages of its kind, length and level, or was last much
    /// slower than expected. Without that it is sent raw.
    #[must_use]
    pub fn is_tentative(&self) -> bool {
        self.is_tentative
    }

    /// Whether gains were estimated, that is, the message was inside the compression window.
    #[must_use]
    pub fn is_estimated(&self) -> bool {
        self.looked_at.is_some()
    }

    /// The expected gain in nanoseconds compared with sending raw; 0 if it is sent raw.
    #[must_use]
    pub fn expected_gain_ns(&self) -> f64 {
        self.raw_ns - self.expected_ns
    }
}
