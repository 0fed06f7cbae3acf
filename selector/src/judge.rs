//! The judge: does the program make more progress with compressed messages than with raw ones?
//!
//! A decision's gain is an estimate that rests on assumptions about network and codecs. The judge assumes nothing. From time to time it runs a trial:
//! two short epochs close together, in random order. In one epoch all messages are sent raw, in the other as decided. A program that sends more bytes
//! in the same time is faster, whatever the reason: computation that hides waiting, processors that other ranks need, or late partners.
//!
//! All ranks must switch at the same time, because a rank also waits for the messages of others. They do this without communication: the times and
//! the order of trials depend only on the time since the common start, not on what a rank has learned. Their clocks do not drift apart, because NTP,
//! or a similar service, synchronises the nodes of a cluster and also slews `CLOCK_MONOTONIC`.
//!
//! The results of trials are accumulated (E. S. Page, *Continuous inspection schemes*, 1954). A result is the number of bytes that one way carried
//! more than the other, in units of the usual spread between this program's trials. If the sum strongly favours one way, all messages go that way.

/// A round has eight epochs. This is the length of the shortest epoch.
const EPOCHS: u64 = 8;
const SHORTEST_NS: u64 = 31_250_000;

/// The length of an epoch at this time, and how rare trials are: one round in this many. At first, epochs are short and trials frequent, so that a
/// large loss is found within two seconds. Later, epochs are long, for small differences and programs with long iterations, and trials are rare.
/// The schedule changes at ends of rounds.
fn schedule(now_ns: u64) -> (u64, u64) {
    match now_ns {
        ..8_000_000_000 => (SHORTEST_NS, 1),
        8_000_000_000..32_000_000_000 => (SHORTEST_NS, 4),
        _ => (4 * SHORTEST_NS, 8),
    }
}

/// The sum that decides. A trial with a difference equal to the usual spread counts 1.
const ENOUGH: f64 = 6.0;
/// Each trial counts this much less for the way not in use, so that noise does not add up.
const SLACK: f64 = 0.5;
/// The minimum assumed spread of trials, and the spread before the first one, as fractions of the bytes of both ways; and the weight of a new trial.
const LEAST_SPREAD: f64 = 0.01;
const FIRST_SPREAD: f64 = 0.1;
const SPREAD_WEIGHT: f64 = 0.25;
/// A trial counts as at most this many spreads, for the sum and for the spread itself, since an epoch may fall into a pause of the program (P. J. Huber,
/// *Robust estimation of a location parameter*, 1964).
const MOST: f64 = 2.0;

/// The factor by which the weight of old trials decays with each new one in reports: about the last 64 count.
const MEMORY: f64 = 1.0 - 1.0 / 64.0;
/// The number of trials, by weight, from which on the result is reported.
const TOLD: f64 = 8.0;
/// A difference of this many standard errors is worth reporting, and so is an error so small that there is almost no difference.
const CLEAR: f64 = 3.0;
const FINE: f64 = 0.01;

/// The comparison of both ways by the clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialResult {
    /// How many times faster messages as decided are than raw ones.
    pub speedup: f64,
    /// The variance of the speedup, the square of its standard error.
    pub variance: f64,
    /// Whether the result is worth reporting: one way is certainly faster, or the error is so small that there is almost no difference.
    pub is_conclusive: bool,
}

/// The way that messages are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As the selector decides.
    Decided,
    /// All raw.
    Raw,
}

/// The number of the round at this time, counted in rounds of the shortest epochs. In a trial, also the way to send, and whether bytes count.
/// `now_ns`: since the common start.
fn on_trial(now_ns: u64) -> (u64, Option<(Way, bool)>) {
    let (epoch, rare) = schedule(now_ns);
    let (since, within) = (now_ns % (EPOCHS * epoch), now_ns % epoch);
    let round = (now_ns - since) / (EPOCHS * SHORTEST_NS);
    let random = random(round);
    // In the first round connections are being set up.
    if round == 0 || !(random >> 8).is_multiple_of(rare) {
        return (round, None);
    }
    let (first, second) = match random >> 63 {
        0 => (Way::Decided, Way::Raw),
        _ => (Way::Raw, Way::Decided),
    };
    // Epochs that do not count let the messages of the first one drain, so both ways start alike.
    let way = match since / epoch {
        1 => first,
        5 => second,
        _ => return (round, None),
    };
    // In the first quarter, earlier messages may still be in transit.
    (round, Some((way, within >= epoch / 4)))
}

/// A pseudorandom number for a round, always the same for that round (splitmix64, Steele, Lea and Flood 2014).
fn random(round: u64) -> u64 {
    let mut z = round.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Determines the way of each message, and learns which way is better.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    /// The way of messages outside trials.
    pub(crate) in_use: Way,
    /// The number of the current round, 0 before the first message, and its bytes sent as decided, and raw.
    round: u64,
    bytes: [f64; 2],
    /// The evidence for raw messages, 0 to [`ENOUGH`].
    against: f64,
    /// By how much raw messages usually carry more, and the spread of trials around that.
    usual: f64,
    spread: f64,
    pub(crate) told: Told,
}

impl Judge {
    pub(crate) fn new() -> Self {
        let (usual, spread, told) = (0.0, FIRST_SPREAD, Told::default());
        Self { in_use: Way::Decided, round: 0, bytes: [0.0; 2], against: 0.0, usual, spread, told }
    }

    /// The way of a message of this number of bytes that is sent now. `now_ns`: the time since the common start.
    #[inline]
    pub(crate) fn way(&mut self, len: usize, now_ns: u64) -> Way {
        let (round, trial) = on_trial(now_ns);
        if round > self.round {
            let [decided, raw] = self.bytes;
            (self.round, self.bytes) = (round, [0.0; 2]);
            self.conclude(decided, raw);
        }
        let Some((way, counts)) = trial else { return self.in_use };
        // A late thread may pass an old time.
        if counts && round == self.round {
            self.bytes[way as usize] += len as f64;
        }
        way
    }

    /// Whether messages are sent differently at this time than outside trials. False if there were no messages.
    pub(crate) fn are_odd(&self, now_ns: u64) -> bool {
        self.round > 0 && on_trial(now_ns).1.is_some_and(|(way, _)| way != self.in_use)
    }

    /// Whether messages are sent raw at this time.
    pub(crate) fn sends_raw(&self, now_ns: u64) -> bool {
        on_trial(now_ns).1.map_or(self.in_use, |(way, _)| way) == Way::Raw
    }

    /// Adds a trial with these numbers of bytes.
    fn conclude(&mut self, decided: f64, raw: f64) {
        if decided <= 0.0 || raw <= 0.0 {
            // The program sends in bursts, and one epoch contained none.
            return;
        }
        let more = (raw - decided) / (raw + decided);
        let off = (more - self.usual).clamp(-MOST * self.spread, MOST * self.spread);
        self.spread = (self.spread + SPREAD_WEIGHT * (off.abs() - self.spread)).max(LEAST_SPREAD);
        self.usual += SPREAD_WEIGHT * off;
        let slack = if self.in_use == Way::Raw { SLACK } else { -SLACK };
        let counts = (more / self.spread).clamp(-MOST, MOST);
        self.against = (self.against + counts + slack).clamp(0.0, ENOUGH);
        self.in_use = match self.against {
            ..=0.0 => Way::Decided,
            ENOUGH.. => Way::Raw,
            _ => self.in_use,
        };
        self.told.add(decided, raw);
    }
}

/// The latest trials, for reports: a ratio estimator (Cochran, Sampling Techniques, section 6.4).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    /// The trials, and their bytes as decided and raw.
    sums: [f64; 3],
    /// Sums of squares and products of these bytes, with the weights squared, for the variance.
    squares: [f64; 3],
}

impl Told {
    fn add(&mut self, decided: f64, raw: f64) {
        let add = |sums: &mut [f64; 3], memory: f64, terms: [f64; 3]| {
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum = *sum * memory + term);
        };
        add(&mut self.sums, MEMORY, [1.0, decided, raw]);
        add(&mut self.squares, MEMORY * MEMORY, [decided * decided, decided * raw, raw * raw]);
    }

    pub(crate) fn trial_result(&self) -> Option<TrialResult> {
        let ([trials, decided, raw], [decided_decided, decided_raw, raw_raw]) = (self.sums, self.squares);
        if trials < TOLD {
            return None;
        }
        let speedup = decided / raw;
        let residuals = decided_decided - 2.0 * speedup * decided_raw + speedup * speedup * raw_raw;
        let variance = residuals.max(0.0) / (raw * raw);
        let difference = speedup - 1.0;
        let is_conclusive = difference * difference >= CLEAR * CLEAR * variance || variance <= FINE * FINE;
        (speedup.is_finite() && variance.is_finite()).then_some(TrialResult {
            speedup,
            variance,
            is_conclusive,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number from 0 to below 1.
    fn uniform(seed: u64, at: u64) -> f64 {
        (random(seed.wrapping_mul(0x1234_5678_9abc_def1) ^ at) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Sends messages of 1000 bytes for `seconds`. `gap_ns` gives the time of a message from its way and a random number.
    fn send(judge: &mut Judge, from_s: f64, seconds: f64, gap_ns: impl Fn(Way, f64) -> f64) -> f64 {
        let (mut now, mut raw, mut at) = (from_s * 1e9, 0.0, 0);
        let end = (from_s + seconds) * 1e9;
        while now < end {
            let way = judge.way(1000, now as u64);
            let gap = gap_ns(way, uniform(1, at));
            raw += if way == Way::Raw { gap } else { 0.0 };
            (now, at) = (now + gap, at + 1);
        }
        raw / (seconds * 1e9)
    }

    #[test]
    fn a_loss_by_a_factor_of_two_ends_within_two_seconds() {
        let mut judge = Judge::new();
        send(&mut judge, 0.0, 2.0, |way, r| if way == Way::Raw { 1e5 } else { 2e5 } * (0.9 + 0.2 * r));
        assert_eq!(judge.in_use, Way::Raw, "{judge:?}");
        // And back, after the network has become slow.
        send(&mut judge, 2.0, 15.0, |way, r| if way == Way::Raw { 4e5 } else { 2e5 } * (0.9 + 0.2 * r));
        assert_eq!(judge.in_use, Way::Decided, "{judge:?}");
    }

    #[test]
    fn a_small_loss_is_found_and_a_gain_is_kept() {
        let noise = |r: f64| 0.5 + r;
        let mut judge = Judge::new();
        send(&mut judge, 0.0, 180.0, |way, r| if way == Way::Raw { 5e4 } else { 5.4e4 } * noise(r));
        assert_eq!(judge.in_use, Way::Raw, "{judge:?}");
        let mut judge = Judge::new();
        let raw = send(&mut judge, 0.0, 180.0, |way, r| if way == Way::Raw { 5.4e4 } else { 5e4 } * noise(r));
        assert!(judge.in_use == Way::Decided && raw < 0.05, "{judge:?}: {raw}");
        let clock = judge.told.trial_result().unwrap();
        assert!((clock.speedup - 1.08).abs() < 0.02 && clock.is_conclusive, "{clock:?}");
    }

    #[test]
    fn stalls_do_not_decide() {
        // Heavy tails: the bytes of neither way have a variance, or even a mean. But compression gains a fifth.
        let wrong = (0..200).filter(|&seed| {
            let mut judge = Judge::new();
            (0..100).for_each(|trial| {
                let bytes = |way: u64| 1.0 / (1.0 - uniform(seed, 2 * trial + way));
                judge.conclude(1.5 * bytes(0), bytes(1));
            });
            judge.in_use == Way::Raw
        });
        assert!(wrong.count() < 20);
    }

    #[test]
    fn pauses_of_the_program_hide_no_loss() {
        // Each fifth epoch falls into a pause; compression loses a fifth.
        let found = (0..200).filter(|&seed| {
            let mut judge = Judge::new();
            (0..30).any(|trial| {
                let bytes = |way: u64| {
                    let [noise, pause] = [0, 1].map(|at| uniform(seed, 4 * trial + 2 * way + at));
                    (0.9 + 0.2 * noise) * if pause < 0.2 { 0.2 } else { 1.0 }
                };
                judge.conclude(0.8 * bytes(0), bytes(1));
                judge.in_use == Way::Raw
            })
        });
        let found = found.count();
        assert!(found > 160, "{found} of 200");
    }

    #[test]
    fn noise_and_bursts_do_not_decide() {
        let raw = |seed: u64, gain: f64, bursts: bool| {
            let mut judge = Judge::new();
            let mut raw = 0;
            for trial in 0..300 {
                let bytes = |way: u64| {
                    let r = uniform(seed, 2 * trial + way);
                    if bursts && r < 0.5 { 0.0 } else { 0.8 + 0.4 * r }
                };
                judge.conclude(gain * bytes(0), bytes(1));
                raw += usize::from(judge.in_use == Way::Raw);
            }
            raw
        };
        let of = |gain, bursts| (0..100).map(|seed| raw(seed, gain, bursts)).sum::<usize>();
        let all = 100 * 300;
        // Without a difference nothing is lost, but ranks should not keep switching.
        assert!(of(1.0, false) * 4 < all && of(1.05, false) * 20 < all && of(1.2, true) * 20 < all);
    }

    #[test]
    fn ways_are_alike() {
        let (mut time, mut odd) = ([0_u64; 2], 0);
        for ms in 0..600_000_u64 {
            if let Some((way, counts)) = on_trial(ms * 1_000_000).1 {
                time[way as usize] += u64::from(counts);
                odd += u64::from(way == Way::Raw);
            }
        }
        assert!(time[0].abs_diff(time[1]) * 100 < time[0], "{time:?}");
        assert!((600_000 / 80..600_000 / 50).contains(&odd), "{odd}");
    }

    #[test]
    fn silence_says_nothing() {
        let mut judge = Judge::new();
        (0..100).for_each(|_| judge.conclude(0.0, 0.0));
        (0..100).for_each(|_| judge.conclude(5.0, 5.0));
        assert_eq!(judge.in_use, Way::Decided);
        assert!(!judge.are_odd(1_000_000_000), "there were no messages");
        judge.way(1, 600_000_000_000);
        assert_eq!(judge.way(1, 0), Way::Decided, "a late thread");
    }

    #[test]
    fn the_error_is_what_it_says() {
        let outside = (0..1000).filter(|&seed| {
            let mut told = Told::default();
            for trial in 0..100 {
                let noise = |way: u64| 0.8 + 0.4 * uniform(seed, 2 * trial + way);
                told.add(noise(0), noise(1));
            }
            let clock = told.trial_result().unwrap();
            (clock.speedup - 1.0).abs() > 2.0 * clock.variance.sqrt()
        });
        // 5 % of a normal distribution lies beyond two errors.
        assert!((20..80).contains(&outside.count()));
    }
}
