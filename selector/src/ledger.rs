//! Do no harm: the gains and losses compared with sending everything raw.

/// The fraction of the time of raw messages that may be risked.
const STAKE: f64 = 0.003;
/// The initial amount that may be risked, in nanoseconds: two or three trials of a codec.
const GRANT_NS: f64 = 5e3;
/// The limit of the balance in nanoseconds; old gains do not pay for new losses.
const CAP_NS: f64 = 10e6;

/// An account in nanoseconds. Time is risked only if the balance covers the loss. While the account is overdrawn, a message is compressed only for a
/// gain that is expected even in the worst case and makes up for the debt; if it fails, too, the next one must be larger. So all messages together take
/// at most [`STAKE`] more than all of them raw, except for a loss that was larger than expected and about one such gain. This holds for the account:
/// times of raw messages are estimates, and interruptions are charged with twice the expected time at most.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_gain_that_makes_up_for_a_debt_is_risked() {
        let mut ledger = Ledger::default();
        assert!(ledger.covers(GRANT_NS) && !ledger.covers(GRANT_NS + 1.0));
        ledger.settle(-GRANT_NS - 1000.0);
        assert!(!ledger.covers(0.0) && !ledger.covers(-999.0) && ledger.covers(-1001.0));
        assert!(!ledger.covers(f64::NAN));
        ledger.settle(1e12);
        assert!(!ledger.covers(CAP_NS + 1.0));
    }
}
