//! The results of the trials by the clock, over all ranks.

use mpress_selector::TrialResult;
use serde::{Deserialize, Serialize};

/// The results for the whole program: now and then, all messages of the job were sent raw for a moment; the bytes sent then are compared with those
/// of another moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// The factor by which the program was faster with compression than with raw messages; the mean of the ranks with a result.
    pub speedup: f64,
    /// The standard error of the factor for one rank, on average.
    pub error: f64,
    /// The ranks with a result.
    pub ranks: u64,
}

/// The number of words in a share.
pub(super) const WORDS: usize = 4;
/// Factors are summed as integer multiples of this.
const FACTOR: f64 = 1e-9;
/// The number of standard errors from which a difference is certain.
const CERTAIN: f64 = 3.0;

/// The contribution of a rank: whether it has enough trials, whether they have a result, and the result.
pub(super) fn words(clock: Option<TrialResult>) -> [u64; WORDS] {
    let whole = |factor: f64| (factor / FACTOR) as u64;
    match clock {
        None => [0; WORDS],
        Some(clock) if !clock.is_conclusive => [1, 0, 0, 0],
        Some(clock) => [1, 1, whole(clock.speedup), whole(clock.variance.sqrt())],
    }
}

/// Whether any rank has enough trials, by the sum of all ranks' words.
pub(super) fn has_tried([tried, ..]: [u64; WORDS]) -> bool {
    tried > 0
}

impl Clock {
    /// The result from the sum of all ranks' words. `None` unless half of the ranks with enough trials have a result: among many ranks, some find a
    /// difference by chance.
    pub(super) fn of([tried, ranks, speedup, error]: [u64; WORDS]) -> Option<Self> {
        let mean = |sum: u64| sum as f64 * FACTOR / ranks as f64;
        (ranks > 0 && ranks >= tried.div_ceil(2)).then(|| Self {
            speedup: mean(speedup),
            error: mean(error),
            ranks,
        })
    }

    /// Whether one way is faster, beyond chance.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        (self.speedup - 1.0).abs() > CERTAIN * self.error
    }

    /// The result as text.
    #[must_use]
    pub fn text(&self) -> String {
        let (percent, error) = ((self.speedup - 1.0) * 100.0, self.error * 100.0);
        if !self.is_certain() {
            let most = percent.abs() + CERTAIN * error;
            return format!("by the clock no difference of more than {most:.1} % to raw messages");
        }
        let direction = if percent < 0.0 { "slower" } else { "faster" };
        format!(
            "by the clock {:.1} % {direction} than with raw messages (standard error {error:.1} %)",
            percent.abs()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::array;

    fn rank(speedup: f64, error: f64, is_conclusive: bool) -> [u64; WORDS] {
        words(Some(TrialResult { speedup, variance: error * error, is_conclusive }))
    }

    fn sum(ranks: &[[u64; WORDS]]) -> Option<Clock> {
        Clock::of(array::from_fn(|word| ranks.iter().map(|rank| rank[word]).sum()))
    }

    #[test]
    fn the_mean_of_those_that_can_tell() {
        let clock =
            sum(&[rank(1.1, 0.01, true), rank(1.2, 0.03, true), rank(3.0, 1.0, false), words(None)]).unwrap();
        assert!((clock.speedup - 1.15).abs() < 1e-6 && (clock.error - 0.02).abs() < 1e-6 && clock.ranks == 2);
        assert_eq!(clock.text(), "by the clock 15.0 % faster than with raw messages (standard error 2.0 %)");
    }

    #[test]
    fn a_few_ranks_that_found_something_by_chance_say_nothing() {
        assert_eq!(sum(&[rank(1.1, 0.01, true), rank(1.0, 0.2, false), rank(1.0, 0.2, false)]), None);
        assert_eq!(sum(&[words(None), words(None)]), None);
    }

    #[test]
    fn less_than_three_errors_is_no_difference() {
        let clock = sum(&[rank(0.99, 0.005, true)]).unwrap();
        assert!(!clock.is_certain());
        assert_eq!(clock.text(), "by the clock no difference of more than 2.5 % to raw messages");
    }
}
