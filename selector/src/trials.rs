//! The evaluation of trials by the clock.
//!
//! The only result of each trial is the way that carried more bytes. Without a difference between the ways, this is a coin toss, because their order
//! is random, whatever stalls and phases a program has. So the number of wins is binomial, without assumptions about the distribution of times (the
//! sign test; Lehmann and D'Abrera, Nonparametrics, section 3.1).

/// The factor by which the weight of old trials decays with each new one: about the last 64 count.
const MEMORY: f64 = 1.0 - 1.0 / 64.0;
/// The minimum number of trials, by weight, for a conclusion.
const ENOUGH: f64 = 16.0;
/// The number of standard errors from which a difference is worth reporting.
const CLEAR: f64 = 3.0;
/// An error of the speedup that is small enough to report that there is almost no difference.
const FINE: f64 = 0.01;

/// The comparison of both ways by the clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByTheClock {
    /// The factor by which messages as decided are faster than raw ones.
    pub speedup: f64,
    /// The standard error of the speedup.
    pub error: f64,
    /// Whether the result is worth reporting: one way is certainly faster, or the error is so small that there is almost no difference.
    pub tells: bool,
}

/// The latest trials.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trials {
    /// Trials that messages as decided won, and those that raw ones won.
    wins: [f64; 2],
    /// Bytes as decided, and raw.
    decided: f64,
    raw: f64,
    /// Sums of squares and products of the same, with the weights squared, for the error.
    decided_decided: f64,
    decided_raw: f64,
    raw_raw: f64,
}

impl Trials {
    /// Adds a trial with these numbers of bytes as decided, and raw. Equal numbers decide nothing.
    pub(crate) fn add(&mut self, decided: f64, raw: f64) {
        if decided <= 0.0 && raw <= 0.0 {
            return;
        }
        for (sum, term) in [(&mut self.decided, decided), (&mut self.raw, raw)] {
            *sum = *sum * MEMORY + term;
        }
        for (sum, term) in [
            (&mut self.decided_decided, decided * decided),
            (&mut self.decided_raw, decided * raw),
            (&mut self.raw_raw, raw * raw),
        ] {
            *sum = *sum * (MEMORY * MEMORY) + term;
        }
        if decided != raw {
            self.wins = self.wins.map(|wins| wins * MEMORY);
            self.wins[usize::from(raw > decided)] += 1.0;
        }
    }

    /// The number of standard errors by which raw messages win more trials than those as decided; negative if fewer, 0 if there are too few trials.
    ///
    /// For weighted trials the error is less than the one computed here, by a factor of up to the square root of 2. That compensates for testing
    /// again after each trial.
    pub(crate) fn raw_lead(&self) -> f64 {
        let [decided, raw] = self.wins;
        let trials = decided + raw;
        if trials < ENOUGH { 0.0 } else { (raw - decided) / sqrt(trials) }
    }

    /// The result of the comparison; `None` while there are too few trials.
    pub(crate) fn by_the_clock(&self) -> Option<ByTheClock> {
        if self.wins[0] + self.wins[1] < ENOUGH {
            return None;
        }
        // A ratio estimator (Cochran, Sampling Techniques, section 6.4).
        let speedup = self.decided / self.raw;
        let residuals =
            self.decided_decided - 2.0 * speedup * self.decided_raw + speedup * speedup * self.raw_raw;
        let error = sqrt(residuals.max(0.0)) / self.raw;
        let lead = self.raw_lead();
        let tells = lead * lead >= CLEAR * CLEAR || error <= FINE;
        (speedup.is_finite() && error.is_finite()).then_some(ByTheClock { speedup, error, tells })
    }
}

/// The square root, which `core` does not have: Heron's method, from above.
fn sqrt(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return x;
    }
    let mut root = x.max(1.0);
    loop {
        let next = f64::midpoint(root, x / root);
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::epochs::random;

    /// A number from 0 to below 1.
    fn uniform(seed: u64, at: u64) -> f64 {
        (random(seed.wrapping_mul(0x1234_5678_9abc_def1) ^ at) >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[test]
    fn ten_thousand_trials_without_a_difference_are_no_reason_to_change() {
        for seed in 0..40 {
            let mut trials = Trials::default();
            for trial in 0..10_000 {
                // Heavy tails: neither way's bytes have a variance, or even a mean.
                let bytes = |way: u64| 1.0 / (1.0 - uniform(seed, 2 * trial + way));
                trials.add(bytes(0), bytes(1));
                assert!(trials.raw_lead() <= 4.0, "seed {seed}, trial {trial}");
            }
        }
    }

    #[test]
    fn a_difference_is_found_and_its_size_too() {
        let mut trials = Trials::default();
        for trial in 0..200 {
            let noise = |way: u64| 0.95 + 0.1 * uniform(7, 2 * trial + way);
            trials.add(1.00 * noise(0), 1.05 * noise(1));
        }
        let clock = trials.by_the_clock().unwrap();
        assert!(trials.raw_lead() > 4.0 && clock.tells, "{clock:?}");
        assert!((clock.speedup - 1.0 / 1.05).abs() < 3.0 * clock.error && clock.error < 0.01, "{clock:?}");
    }

    #[test]
    fn the_error_is_what_it_says() {
        let outside = (0..1000).filter(|&seed| {
            let mut trials = Trials::default();
            for trial in 0..100 {
                let noise = |way: u64| 0.8 + 0.4 * uniform(seed, 2 * trial + way);
                trials.add(noise(0), noise(1));
            }
            let clock = trials.by_the_clock().unwrap();
            (clock.speedup - 1.0).abs() > 2.0 * clock.error
        });
        // 5 % of a normal distribution is further out than two errors.
        assert!((20..80).contains(&outside.count()));
    }

    #[test]
    fn ties_and_silence_say_nothing() {
        let mut trials = Trials::default();
        (0..100).for_each(|_| trials.add(0.0, 0.0));
        (0..100).for_each(|_| trials.add(5.0, 5.0));
        assert_eq!((trials.raw_lead(), trials.by_the_clock()), (0.0, None));
    }

    #[test]
    fn what_is_vague_is_not_told() {
        let mut trials = Trials::default();
        (0..100).for_each(|trial| trials.add(uniform(1, 2 * trial), uniform(1, 2 * trial + 1)));
        assert!(!trials.by_the_clock().unwrap().tells);
    }

    #[test]
    fn roots() {
        for x in [1e-30, 0.04, 1.0, 2.0, 9.0, 1e30] {
            assert!((sqrt(x) / x.sqrt() - 1.0).abs() < 1e-12, "{x}");
        }
        assert_eq!(sqrt(0.0), 0.0);
    }
}
