//! The network, as messages see it.

/// The network between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Link {
    /// The fixed time of a message in microseconds.
    pub latency_us: f64,
    /// The bandwidth of one rank while the ranks around it also send, in MB/s (10^6 bytes a second).
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
        (0.0..1e7).contains(&self.latency_us) && (1e-3..1e7).contains(&self.bandwidth_mb_s)
    }
}

/// The link if none was measured: 1 Gbit/s.
pub const DEFAULT_LINK: Link = Link { latency_us: 25.0, bandwidth_mb_s: 115.0 };
