//! Do no harm: the gains and losses compared with sending everything raw.

/// The fraction of the time of raw messages that may be risked.
const STAKE: f64 = 0.003;
/// The initial amount that may be risked, in nanoseconds: two or three trials of a codec.
const GRANT_NS: f64 = 5e3;
/// The limit of the balance in nanoseconds; old gains do not pay for new losses.
const CAP_NS: f64 = 10e6;

/// An account in nanoseconds. Time is risked only if the balance covers the loss, so all messages together take at most [`STAKE`] more than all of
/// them raw, except for one loss that was larger than expected. This holds for the account: times of raw messages are estimates, and interruptions
/// are not charged.
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
    /// Credits for sending a message that takes this long raw.
    #[inline]
    pub(crate) fn sends(&mut self, raw_ns: f64) {
        self.balance_ns = (self.balance_ns + raw_ns * STAKE).min(CAP_NS);
    }

    /// Adds the gain of compressing a message, negative for a loss.
    pub(crate) fn settle(&mut self, gain_ns: f64) {
        self.balance_ns = (self.balance_ns + gain_ns).min(CAP_NS);
    }

    /// Whether this loss may be risked. While earlier losses are not made up for, only a gain that makes up for them may be.
    #[inline]
    pub(crate) fn covers(&self, loss_ns: f64) -> bool {
        loss_ns <= self.balance_ns
    }
}
