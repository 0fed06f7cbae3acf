//! Do no harm: the gains and losses compared with sending everything raw.

/// The fraction of the time of raw messages that may be risked.
const STAKE: f64 = 0.003;
/// The initial amount that may be risked, in nanoseconds: two or three trials of a codec.
const GRANT_NS: f64 = 5e3;
/// The limit of the balance in nanoseconds; old gains do not pay for new losses.
const CAP_NS: f64 = 10e6;

/// In debt, at most this number of messages go raw before the next gain is tried.
const WAIT_MAX: u32 = 255;

/// An account in nanoseconds. Time is risked only if the balance covers the loss. In debt, a message is compressed only for a gain that is expected even
/// in the worst case. If that fails, 1, 3, 7 ... 255 messages go raw before the next one, until the debt is made up for. So all messages together take at
/// most [`STAKE`] more than all of them raw, except for losses that were larger than expected: few, as they become rarer, and as what is expected is
/// learned. This holds for the account: times of raw messages are estimates, and interruptions are charged with twice the expected time at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ledger {
    balance_ns: f64,
    /// The number of messages to be sent raw after a gain that failed in debt, and how many of them are left.
    wait: u32,
    left: u32,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { balance_ns: GRANT_NS, wait: 0, left: 0 }
    }
}

impl Ledger {
    /// Credits for sending a message that takes this long raw.
    #[inline]
    pub(crate) fn sends(&mut self, raw_ns: f64) {
        self.left = self.left.saturating_sub(1);
        self.pay(-raw_ns * STAKE);
    }

    /// Charges for a probe.
    pub(crate) fn pay(&mut self, cost_ns: f64) {
        self.balance_ns = (self.balance_ns - cost_ns).min(CAP_NS);
    }

    /// Adds the gain of compressing a message, negative for a loss.
    pub(crate) fn settle(&mut self, gain_ns: f64) {
        let failed_in_debt = self.balance_ns < 0.0 && gain_ns < 0.0;
        self.pay(-gain_ns);
        if failed_in_debt {
            self.wait = (2 * self.wait + 1).min(WAIT_MAX);
            self.left = self.wait + 1;
        } else if self.balance_ns >= 0.0 {
            self.wait = 0;
        }
    }

    /// Whether this loss may be risked. In debt only a gain may be, and not soon after one that failed.
    #[inline]
    pub(crate) fn covers(&self, loss_ns: f64) -> bool {
        loss_ns <= self.balance_ns || (loss_ns < 0.0 && self.left == 0)
    }
}

/// The gain of compression over sending raw, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gain {
    /// As expected when the decisions were made.
    pub expected_ns: f64,
    /// With the actual fraction and encoding time, minus the cost of probes.
    pub measured_ns: f64,
    /// The time that all messages would have taken raw, each with the link estimate at the time of sending: the reference for the other two.
    pub raw_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_debt_only_gains_are_risked_and_those_that_fail_become_rarer() {
        let mut ledger = Ledger::default();
        assert!(ledger.covers(GRANT_NS) && !ledger.covers(GRANT_NS + 1.0));
        ledger.settle(-GRANT_NS - 1000.0);
        assert!(!ledger.covers(0.0) && ledger.covers(-1.0) && !ledger.covers(f64::NAN));
        for wait in [1, 3, 7, 15, 31, 63, 127, 255, 255] {
            assert!(ledger.covers(-1.0));
            ledger.settle(-1.0);
            for _ in 0..=wait {
                assert!(!ledger.covers(-1.0), "{wait}");
                ledger.sends(1.0);
            }
        }
        assert!(ledger.covers(-1.0));
        ledger.settle(1e12);
        assert!(ledger.covers(CAP_NS) && !ledger.covers(CAP_NS + 1.0));
        ledger.settle(-2.0 * CAP_NS);
        ledger.settle(-1.0);
        ledger.sends(1.0);
        ledger.sends(1.0);
        assert!(ledger.covers(-1.0), "the debt was made up for: it starts with one message again");
    }
}
