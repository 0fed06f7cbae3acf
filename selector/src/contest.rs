//! Comparison of compressed and raw messages of one size, where estimates do not tell which of them are faster.
//!
//! Over a fast network, processors and memories limit long messages, and a rank that compresses alone in an exchange is slower than two that do. So there is a contest from time to time: short blocks of messages, all compressed or all raw, in turn. The time from the beginning
//! of a block to that of the next contains whatever the program has to wait for. Ranks that exchange messages count the same, so without communication
//! they have the same blocks, and see the same times.
//!
//! The result is that of a rank sum test (Wilcoxon 1945; Mann and Whitney 1947). It needs no assumption about the distribution of the times: a rank
//! that sends many messages at once and then computes has blocks with and without the computation, and then there is no result.

use crate::epochs::random;

/// How messages of a contest are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Turn {
    /// As estimates say.
    #[default]
    Estimated,
    /// Compressed, in the way that is estimated to be the fastest.
    Compressed,
    Raw,
}

/// The number of blocks of each way.
const BLOCKS: usize = 6;
/// Of the 36 pairs of a compressed and a raw block, the faster way must win this number. Where there is no difference, that happens in 8 of 924 contests.
const CLEAR: usize = 34;
/// Blocks are even if the longest takes less than this many times as long as the shortest. Then none contains a computation that others lack, both ways
/// are nearly as fast, and all ranks go one way: compressed if that wins this number of pairs.
const EVEN: f64 = 1.5;
const AHEAD: usize = 24;
/// A raw block that takes less than this part of what the network needs has been handed over, but not sent: then the times mean nothing.
const SENT: f64 = 0.5;
/// The bytes of a block, and its number of messages at most and at least.
const BLOCK: usize = 8 << 20;
const MESSAGES: (u32, u32) = (8, 2);
/// Contests begin at multiples of this number of messages: ranks that are not quite alike begin together.
const ALIGN: u32 = 32;
/// The result is used for this many times the messages of a contest: at first, and at most, after equal results.
const STANDS: (u32, u32) = (8, 128);

/// Messages of one kind and size to one class of processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contest {
    /// The number of messages so far.
    messages: u32,
    /// The message with which the next trial begins; `None` as long as estimates are trusted.
    next: Option<u32>,
    trial: Option<Trial>,
    result: Turn,
    /// How long the result is used, as a multiple of the trial.
    stands: u32,
    /// What compression gains by the last trial, as a part of the time that the network needs for a raw message.
    gain: f64,
}

#[derive(Clone, Debug)]
struct Trial {
    /// The number of messages of a block, and of those so far.
    block: u32,
    messages: u32,
    /// A bit for each pair of blocks: whether the first of them is raw. It is drawn anew for each trial, so that no period of the program favours a way.
    order: u64,
    /// The beginning of the current block, and the nanoseconds that the network needs for its messages raw.
    began_ns: u64,
    raw_ns: f64,
    /// The time of each block so far, as a multiple of what the network needs for it raw.
    times: [f64; 2 * BLOCKS],
}

impl Contest {
    /// How the next message is sent, of this number of bytes, which the network needs `raw_ns` for, at this time. `is_doubtful`: whether its estimate
    /// should not be trusted. Once that is so, it remains so. `may_begin`: no other contest is in a trial, which would confuse both.
    pub(crate) fn turn(
        &mut self,
        is_doubtful: impl FnOnce() -> bool,
        may_begin: bool,
        (len, raw_ns): (usize, f64),
        now_ns: u64,
    ) -> Turn {
        let message = self.messages;
        self.messages = message.wrapping_add(1);
        if self.next.is_none() && is_doubtful() {
            self.next = Some(aligned(message));
        }
        if self.trial.is_none() && self.next == Some(message) {
            if may_begin {
                self.trial = Some(Trial::new(len, u64::from(message / ALIGN), now_ns));
            } else {
                self.next = Some(aligned(message));
            }
        }
        let Some(trial) = &mut self.trial else { return self.result };
        if let Some(turn) = trial.turn(raw_ns, now_ns) {
            return turn;
        }
        let (result, gain) = trial.result();
        let same = result == self.result && self.stands > 0;
        self.stands = if same { (2 * self.stands).min(STANDS.1) } else { STANDS.0 };
        self.next = Some(aligned(message.wrapping_add(self.stands * trial.messages)));
        (self.result, self.gain, self.trial) = (result, gain, None);
        result
    }

    /// Whether a trial is under way.
    pub(crate) fn is_in_trial(&self) -> bool {
        self.trial.is_some()
    }

    /// Whether there are trials, from now on.
    pub(crate) fn is_on(&self) -> bool {
        self.next.is_some()
    }

    /// What compression gains, as measured: a part of the time that the network needs for the raw message. 0 if there is no result.
    pub(crate) fn gain(&self) -> f64 {
        self.gain
    }
}

/// The next message after this one with which a contest may begin.
fn aligned(message: u32) -> u32 {
    (message / ALIGN).wrapping_add(1).wrapping_mul(ALIGN)
}

impl Trial {
    fn new(len: usize, number: u64, now_ns: u64) -> Self {
        let messages = u32::try_from(BLOCK / len.max(1)).unwrap_or(u32::MAX);
        let block = messages.clamp(MESSAGES.1, MESSAGES.0);
        let (order, times) = (random(number), [0.0; 2 * BLOCKS]);
        Self { block, messages: 0, order, began_ns: now_ns, raw_ns: 0.0, times }
    }

    /// The way of the next message; `None` if the trial is over.
    fn turn(&mut self, raw_ns: f64, now_ns: u64) -> Option<Turn> {
        let block = (self.messages / self.block) as usize;
        if self.messages > 0 && self.messages.is_multiple_of(self.block) {
            let ns = now_ns.saturating_sub(self.began_ns) as f64;
            *self.times.get_mut(block - 1)? = ns / self.raw_ns.max(1.0);
            (self.began_ns, self.raw_ns) = (now_ns, 0.0);
        }
        if block >= self.times.len() {
            return None;
        }
        self.messages += 1;
        self.raw_ns += raw_ns;
        Some(self.way(block))
    }

    /// The way of a block.
    fn way(&self, block: usize) -> Turn {
        let is_first = block.is_multiple_of(2);
        let raw_first = self.order >> (block / 2) & 1 == 1;
        if is_first == raw_first { Turn::Raw } else { Turn::Compressed }
    }

    /// The result, and what the median of compressed blocks gains.
    fn result(&self) -> (Turn, f64) {
        let times_of = |way: Turn| {
            let times = self.times.iter().enumerate();
            times.filter(move |(block, _)| self.way(*block) == way).map(|(_, time)| *time)
        };
        if times_of(Turn::Raw).any(|time| time < SENT) {
            return (Turn::Estimated, 0.0);
        }
        let pairs = || times_of(Turn::Compressed).flat_map(|c| times_of(Turn::Raw).map(move |r| (c, r)));
        let (compressed, raw) =
            (pairs().filter(|(c, r)| c < r).count(), pairs().filter(|(c, r)| r < c).count());
        let (gain, is_even) =
            (median(times_of(Turn::Raw)) - median(times_of(Turn::Compressed)), self.is_even());
        if compressed >= CLEAR || is_even && compressed >= AHEAD {
            (Turn::Compressed, gain)
        } else if raw >= CLEAR || is_even {
            (Turn::Raw, gain)
        } else {
            (Turn::Estimated, 0.0)
        }
    }

    /// Whether all blocks took about as long.
    fn is_even(&self) -> bool {
        let longest = self.times.iter().copied().fold(0.0, f64::max);
        self.times.iter().all(|ns| EVEN * ns > longest)
    }
}

/// The mean of the two middle ones.
fn median(times: impl Iterator<Item = f64>) -> f64 {
    let mut sorted = [0.0; BLOCKS];
    sorted.iter_mut().zip(times).for_each(|(place, time)| *place = time);
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[(BLOCKS - 1) / 2].midpoint(sorted[BLOCKS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const LEN: usize = 1 << 20;

    /// What the network needs for a message.
    const RAW_NS: f64 = 400e3;

    /// Sends messages that take this many microseconds by way, and computes before each of a burst; returns how they were sent.
    fn run(
        contest: &mut Contest,
        us: impl Fn(Turn) -> u64,
        messages: u32,
        burst: u32,
        compute_us: u64,
    ) -> Vec<Turn> {
        let mut now = 0;
        let turns = (0..messages).map(|message| {
            let turn = contest.turn(|| true, true, (LEN, RAW_NS), now);
            now += 1000 * (us(turn) + if message % burst == 0 { compute_us } else { 0 });
            turn
        });
        turns.collect()
    }

    fn count(turns: &[Turn], way: Turn) -> usize {
        turns.iter().filter(|turn| **turn == way).count()
    }

    #[test]
    fn each_pair_of_blocks_has_both_ways() {
        for number in 0..100 {
            let trial = Trial::new(LEN, number, 0);
            assert!((0..BLOCKS).all(|pair| trial.way(2 * pair) != trial.way(2 * pair + 1)));
        }
    }

    #[test]
    fn the_faster_way_wins_and_trials_become_rare() {
        for (compressed, raw, wanted) in [(500, 600, Turn::Compressed), (600, 500, Turn::Raw)] {
            let mut contest = Contest::default();
            let us = |turn| if turn == Turn::Compressed { compressed } else { raw };
            let turns = run(&mut contest, us, 50_000, 1, 0);
            assert_eq!(turns[0], Turn::Estimated);
            let won = count(&turns, wanted);
            assert!(won > 48_000, "{wanted:?} {won}");
            let gain = (raw as f64 - compressed as f64) * 1e3 / RAW_NS;
            assert!((contest.gain() - gain).abs() < 1e-9);
        }
    }

    #[test]
    fn where_both_are_as_fast_all_go_raw() {
        let mut contest = Contest::default();
        let turns = run(&mut contest, |_| 500, 50_000, 1, 0);
        assert_eq!((turns.last(), contest.gain()), (Some(&Turn::Raw), 0.0));
        assert!(turns[200..].iter().all(|turn| *turn != Turn::Estimated));
    }

    #[test]
    fn a_change_is_seen_with_the_next_trial() {
        let mut contest = Contest::default();
        run(&mut contest, |turn| if turn == Turn::Raw { 600 } else { 500 }, 50_000, 1, 0);
        let turns = run(&mut contest, |turn| if turn == Turn::Raw { 500 } else { 600 }, 30_000, 1, 0);
        assert_eq!(turns.last(), Some(&Turn::Raw));
    }

    #[test]
    fn bursts_that_are_only_handed_over_have_no_result() {
        // A message is cheaper to hand over raw, but only the time after the burst counts.
        for burst in [26, 32, 96, 1000] {
            let mut contest = Contest::default();
            let us = |turn| if turn == Turn::Raw { 20 } else { 120 };
            let raw = count(&run(&mut contest, us, 50_000, burst, 100_000), Turn::Raw);
            assert!(raw < 4000, "{burst}: {raw}");
        }
    }

    #[test]
    fn a_computation_every_few_blocks_favours_no_way() {
        for burst in (2..=12).map(|blocks| 8 * blocks) {
            let mut contest = Contest::default();
            let us = |turn| if turn == Turn::Raw { 500 } else { 501 };
            let turns = run(&mut contest, us, 100_000, burst, 100_000);
            // Only trials are compressed: the slower way never wins.
            let compressed = count(&turns, Turn::Compressed);
            assert!(compressed < 6000, "{burst}: {compressed}");
        }
    }

    #[test]
    fn ranks_that_begin_to_doubt_at_different_messages_have_trials_together() {
        let mut contests = [Contest::default(), Contest::default()];
        for message in 0..10_000_u32 {
            let now = u64::from(message) * 500_000;
            let [one, other] = [3, 17].map(|doubts| message >= doubts);
            let mut turn = |at: usize, doubts: bool| contests[at].turn(|| doubts, true, (LEN, RAW_NS), now);
            assert_eq!(turn(0, one), turn(1, other), "{message}");
        }
        assert!(contests[0].is_on());
    }

    #[test]
    fn a_trial_waits_for_another_one() {
        let mut contest = Contest::default();
        for message in 0..1000 {
            contest.turn(|| true, message >= 500, (LEN, RAW_NS), message * 500_000);
            assert!(message >= 500 || !contest.is_in_trial());
        }
        assert_ne!(contest.result, Turn::Estimated);
    }
}
