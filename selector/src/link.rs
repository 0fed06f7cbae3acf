//! Classes of processes, and the links to them.

/// The maximum number of peer classes.
pub const PEER_CLASSES: usize = 4;

/// The class of processes that are reached over the same kind of link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerClass(u8);

impl PeerClass {
    /// Processes on the same node.
    pub const SAME_NODE: Self = Self(0);
    /// Processes on other nodes.
    pub const NETWORK: Self = Self(1);

    /// The class with this number, if it exists.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if (number as usize) < PEER_CLASSES { Some(Self(number)) } else { None }
    }

    /// All classes.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..PEER_CLASSES as u8).map(Self)
    }

    /// Its number, below [`PEER_CLASSES`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// A short name for files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ["same-node", "network", "network-2", "network-3"][self.index()]
    }
}

/// The link to a class of processes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Link {
    /// The fixed time of a message in microseconds.
    pub latency_us: f64,
    /// The bandwidth of one rank while the ranks around it send too, in MB/s (10^6 bytes a second).
    pub bandwidth_mb_s: f64,
}

impl Link {
    /// Nanoseconds until this number of bytes has arrived.
    #[inline]
    #[must_use]
    pub fn time_ns(&self, bytes: f64) -> f64 {
        self.latency_us * 1e3 + bytes * 1e3 / self.bandwidth_mb_s
    }

    /// Whether both values are plausible for a network.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        (0.0..1e7).contains(&self.latency_us) && is_bandwidth(self.bandwidth_mb_s)
    }
}

/// Whether a network may have this bandwidth, in MB/s.
pub(crate) fn is_bandwidth(mb_s: f64) -> bool {
    (1e-3..1e7).contains(&mb_s)
}
