//! Why messages are sent raw.

/// Why a message is sent raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawReason {
    /// The settings exclude it: it is shorter than the threshold, stays inside a node, or the strategy has no codec for it. Or the layer asked for
    /// no compression, for its communicator or for a collective that is tried, or is faster, without.
    Settings,
    /// Too short to gain on this network.
    Short,
    /// Not read, because earlier messages of its kind and length did not gain. With the strategy `ras`: outside the window.
    Idle,
    /// All messages are sent raw at the moment: for a trial by the clock, or because trials have shown that raw messages are faster.
    Clock,
    /// No codec was expected to gain.
    Estimate,
    /// Its frame was not shorter.
    Longer,
}

impl RawReason {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Settings, Self::Short, Self::Idle, Self::Clock, Self::Estimate, Self::Longer];

    /// A few words for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Settings => "excluded by settings or by a collective",
            Self::Short => "too short to gain",
            Self::Idle => "similar messages did not gain",
            Self::Clock => "in a trial, or raw messages are faster",
            Self::Estimate => "no gain expected from any codec",
            Self::Longer => "not shorter when compressed",
        }
    }
}
