//! Comparison of compressed and raw messages by the clock.
//!
//! The gain of a decision is estimated for each message, from the assumed properties of network and codecs. This module tests these assumptions. From
//! time to time there is a trial: two epochs close together, one with all messages raw and one with messages as decided, in random order. A program
//! that sends more bytes in the same time is faster, whatever the reason. This includes waiting that is hidden by computation, processors that other
//! ranks need while this one encodes, and partners that are late. [`Trials`] evaluates the results.
//!
//! All ranks must change at the same time, because a rank also waits for messages of others. They do this without communication: the times and the
//! order of trials depend only on the time since the common beginning, not on what a rank has learned. Their clocks stay together, because the nodes
//! of a cluster are synchronised by NTP or similar, which also slews `CLOCK_MONOTONIC`, so that it does not drift.

use crate::trials::{ByTheClock, Trials};

/// When there are trials. A round has eight epochs; in a trial, its epochs 1 and 5 are the two ways. Messages in transit at the end of
/// the first drain in epochs that do not count, so both ways begin alike.
struct Schedule {
    /// The length of an epoch. Ranks that are a few milliseconds apart must agree on most of it.
    epoch_ns: u64,
}

impl Schedule {
    /// Short epochs, so that a large loss is found within half a minute.
    const EARLY: Self = Self { epoch_ns: 31_250_000 };
    /// Long ones, for small differences and programs with long iterations.
    const LATE: Self = Self { epoch_ns: 125_000_000 };
    /// The time of the change from one to the other.
    const CHANGE_NS: u64 = 32_000_000_000;

    const fn round_ns(&self) -> u64 {
        8 * self.epoch_ns
    }

    /// The schedule at this time, the number of the round, and the time since its beginning.
    const fn at(now_ns: u64) -> (Self, u64, u64) {
        if now_ns < Self::CHANGE_NS {
            let round_ns = Self::EARLY.round_ns();
            (Self::EARLY, now_ns / round_ns, now_ns % round_ns)
        } else {
            let (round_ns, since) = (Self::LATE.round_ns(), now_ns - Self::CHANGE_NS);
            (Self::LATE, Self::CHANGE_NS / Self::EARLY.round_ns() + since / round_ns, since % round_ns)
        }
    }
}

/// One round in this number is a trial, so one epoch in 32 goes the other way.
const RARE: u64 = 4;
/// There is no trial before this time: in a job of one second, it costs more than it can teach.
const FIRST_NS: u64 = 1_000_000_000;
/// The lead of raw messages in standard errors that is needed to change to them.
const UP: f64 = 4.0;
/// The lead that is needed to stay with them.
const DOWN: f64 = 2.0;

/// The way that messages are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As the selector decides.
    Decided,
    /// All raw.
    Raw,
}

impl Way {
    const fn other(self) -> Self {
        match self {
            Self::Decided => Self::Raw,
            Self::Raw => Self::Decided,
        }
    }
}

/// The way on trial at this time, and whether bytes count; `None` if messages are sent as usual. `now_ns`: since the common beginning.
fn on_trial(now_ns: u64) -> Option<(Way, bool)> {
    let (schedule, round, at) = Schedule::at(now_ns);
    let random = random(round);
    if now_ns < FIRST_NS || !random.is_multiple_of(RARE) {
        return None;
    }
    let first = if random >> 63 == 0 { Way::Decided } else { Way::Raw };
    let way = match at / schedule.epoch_ns {
        1 => first,
        5 => first.other(),
        _ => return None,
    };
    // In the first quarter, earlier messages may still be in transit.
    Some((way, at % schedule.epoch_ns >= schedule.epoch_ns / 4))
}

/// The current trial.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    number: u64,
    /// Bytes of messages as decided, and of raw ones.
    bytes: [f64; 2],
}

/// Determines the way of each message, and learns which is better.
#[derive(Clone, Debug)]
pub(crate) struct Epochs {
    in_use: Way,
    round: Round,
    trials: Trials,
}

impl Epochs {
    pub(crate) fn new() -> Self {
        Self { in_use: Way::Decided, round: Round::default(), trials: Trials::default() }
    }

    /// The way of messages outside trials.
    pub(crate) fn in_use(&self) -> Way {
        self.in_use
    }

    /// The way of a message of this number of bytes that is sent now. `now_ns`: the time since the common beginning.
    pub(crate) fn way(&mut self, len: usize, now_ns: u64) -> Way {
        let (_, number, _) = Schedule::at(now_ns);
        if number > self.round.number {
            let Round { bytes: [decided, raw], .. } = self.round;
            self.round = Round { number, ..Round::default() };
            self.trials.add(decided, raw);
            self.conclude();
        }
        let Some((way, counts)) = on_trial(now_ns) else { return self.in_use };
        // A thread may be late with an old time.
        if counts && number == self.round.number {
            self.round.bytes[way as usize] += len as f64;
        }
        way
    }

    /// Whether there is an epoch of a trial at this time.
    pub(crate) fn is_trial(&self, now_ns: u64) -> bool {
        self.round.number > 0 && on_trial(now_ns).is_some()
    }

    /// Whether, at this time, messages are sent differently than outside trials. False if there were no messages.
    pub(crate) fn are_odd(&self, now_ns: u64) -> bool {
        self.round.number > 0 && on_trial(now_ns).is_some_and(|(way, _)| way != self.in_use)
    }

    fn conclude(&mut self) {
        let least = if self.in_use == Way::Raw { DOWN } else { UP };
        self.in_use = if self.trials.raw_lead() > least { Way::Raw } else { Way::Decided };
    }

    pub(crate) fn by_the_clock(&self) -> Option<ByTheClock> {
        self.trials.by_the_clock()
    }
}

/// A pseudorandom number for a round, always the same (splitmix64, Steele, Lea and Flood 2014).
pub(crate) fn random(round: u64) -> u64 {
    let mut z = round.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
