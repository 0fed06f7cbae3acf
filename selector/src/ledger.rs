//! Do no harm: what has been gained and lost against sending everything raw.

/// The part of the time of raw messages that may be risked.
const STAKE: f64 = 0.003;
/// What may be risked at once, in nanoseconds: two or three trials of a codec.
const GRANT_NS: f64 = 5e3;
/// Gains count up to here, in nanoseconds; old gains do not pay for new losses.
const CAP_NS: f64 = 10e6;

/// An account in nanoseconds. Time is risked only as far as it covers the loss, so all messages together take
/// at most [`STAKE`] more than all of them raw, except for one loss that was larger than expected. That is by this account: times of raw messages are
/// estimates, and interruptions are not charged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ledger {
    balance_ns: f64,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { balance_ns: GRANT_NS }
    }
}

impl Ledger {
    /// A message that takes this long raw is sent.
    #[inline]
    pub(crate) fn sends(&mut self, raw_ns: f64) {
        self.balance_ns = (self.balance_ns + raw_ns * STAKE).min(CAP_NS);
    }

    /// What compressing a message gained, or lost if negative.
    pub(crate) fn settle(&mut self, gain_ns: f64) {
        self.balance_ns = (self.balance_ns + gain_ns).min(CAP_NS);
    }

    /// Whether this loss may be risked.
    #[inline]
    pub(crate) fn covers(&self, loss_ns: f64) -> bool {
        loss_ns <= 0.0 || loss_ns <= self.balance_ns
    }

    #[inline]
    pub(crate) fn in_debt(&self) -> bool {
        self.balance_ns < 0.0
    }
}
