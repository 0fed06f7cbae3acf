//! Compressed against raw by the clock.
//!
//! What a decision gains is estimated message by message, from what is believed of network and codecs. Here that belief is put to the test. Now
//! and then there is a trial: two epochs near each other, one with all messages raw and one with messages as decided, in random order. A
//! program that sends more bytes in the same time is faster, whatever the reason. Waiting that is hidden by computation, processors that
//! others need while this one encodes, partners that come late: all are in it. What is made of it is in [`Trials`].
//!
//! All ranks must change at the same time, as a rank also waits for what others send. They do without a word: when there are trials, and in
//! which order, depends on the time since the common beginning alone, not on what a rank has learned. Their clocks stay together: nodes of a
//! cluster are disciplined by NTP or the like, which slews `CLOCK_MONOTONIC` too, so that it does not drift away from the others'.

use crate::trials::{ByTheClock, Trials};

/// How long an epoch is. Ranks that are a few milliseconds apart still agree on most of it.
const EPOCH_NS: u64 = 125_000_000;
/// A round: in a trial its epochs 1 and 5 are those of both ways. What is under way at the end of the first drains in epochs that do not
/// count, so both ways begin alike.
const ROUND_NS: u64 = 8 * EPOCH_NS;
/// Of an epoch on trial this much is not counted either: messages from before may still be under way.
const LEAD_NS: u64 = EPOCH_NS / 4;
/// One round of this many is a trial. So one epoch of 32 is given away.
const RARE: u64 = 4;
/// No round before this one is a trial: what a job of a second could learn is less than what it would pay.
const FIRST: u64 = 1;
/// How many standard errors raw messages must be ahead for a change to them, ...
const UP: f64 = 4.0;
/// ... and how many for staying with them.
const DOWN: f64 = 2.0;

/// How messages go.
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

/// The way that is tried at this time, and whether bytes count; `None` where messages go as usual. `now_ns`: since the common beginning.
fn on_trial(now_ns: u64) -> Option<(Way, bool)> {
    let (round, at) = (now_ns / ROUND_NS, now_ns % ROUND_NS);
    let random = random(round);
    if round < FIRST || !random.is_multiple_of(RARE) {
        return None;
    }
    let first = if random >> 63 == 0 { Way::Decided } else { Way::Raw };
    let way = match at / EPOCH_NS {
        1 => first,
        5 => first.other(),
        _ => return None,
    };
    Some((way, at % EPOCH_NS >= LEAD_NS))
}

/// A trial under way.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    number: u64,
    /// Bytes of messages as decided, and of raw ones.
    bytes: [f64; 2],
}

/// Gives each message its way, and learns which is better.
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

    /// The way of a message of this many bytes that is sent now. `now_ns`: how long ago the common beginning was.
    pub(crate) fn way(&mut self, len: usize, now_ns: u64) -> Way {
        let number = now_ns / ROUND_NS;
        if number > self.round.number {
            let Round { bytes: [decided, raw], .. } = self.round;
            self.round = Round { number, ..Round::default() };
            self.trials.add(decided, raw);
            self.conclude();
        }
        let Some((way, counts)) = on_trial(now_ns) else { return self.in_use };
        // A thread may come late with an old time.
        if counts && number == self.round.number {
            self.round.bytes[way as usize] += len as f64;
        }
        way
    }

    /// Whether messages go otherwise than outside trials at this time, if there are any messages at all.
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

/// A number that looks random, of each round always the same (splitmix64, Steele, Lea and Flood 2014).
pub(crate) fn random(round: u64) -> u64 {
    let mut z = round.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
