//! Why messages are sent raw.

/// Why a message is sent raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawReason {
    /// By the settings: it is shorter than the threshold, stays inside a node, or the strategy has no codec for it.
    Settings,
    /// Too short to gain on this network.
    Short,
    /// Not read, since earlier messages of its kind and length did not gain.
    Idle,
    /// All messages are sent raw at the moment: for a trial by the clock, or because that was found to be faster.
    Clock,
    /// No codec was expected to gain.
    Estimate,
    /// It was encoded, and did not get shorter.
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
            Self::Settings => "by the settings",
            Self::Short => "too short to gain",
            Self::Idle => "like earlier ones without a gain",
            Self::Clock => "raw on trial, or found faster",
            Self::Estimate => "no gain expected",
            Self::Longer => "not shorter when compressed",
        }
    }
}
