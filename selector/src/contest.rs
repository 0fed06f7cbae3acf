//! Comparison of compressed and raw messages of one size, where estimates do not tell which of them are faster.
//!
//! Over a fast network, processors and memories limit long messages, and a rank that compresses alone in an exchange is slower than two that do. So there is a contest from time to time: short blocks of messages, all compressed or all raw, in turn. The time from the beginning
//! of a block to that of the next contains whatever the program has to wait for. Ranks that exchange messages count the same, so without communication
//! they have the same blocks, and see the same times.
//!
//! The result is that of a rank sum test (Wilcoxon 1945; Mann and Whitney 1947). It needs no assumption about the distribution of the times: a rank
//! that sends many messages at once and then computes has blocks with and without the computation, and then there is no result.

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
/// Both ways in turn, by the Thue–Morse sequence: neither a trend nor a period of a few blocks favours one of them.
const ORDER: [Turn; 2 * BLOCKS] = {
    let mut order = [Turn::Raw; 2 * BLOCKS];
    let mut at = 0;
    while at < order.len() {
        if at.count_ones() % 2 == 0 {
            order[at] = Turn::Compressed;
        }
        at += 1;
    }
    order
};
/// Of the 36 pairs of a compressed and a raw block, the faster way must win this number. Where there is no difference, that happens in 8 of 924 contests.
const CLEAR: usize = 34;
/// The longest block of a contest whose blocks are even takes less than this many times as long as the shortest.
const EVEN: f64 = 1.5;
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
    /// By the last trial with a result, the nanoseconds that compression gains for a byte.
    gain_ns: f64,
}

#[derive(Clone, Debug)]
struct Trial {
    /// The number of messages of a block, of those so far, and of bytes in the current block.
    block: u32,
    messages: u32,
    bytes: usize,
    /// The beginning of the current block.
    began_ns: u64,
    /// The nanoseconds per byte of each block so far.
    times: [f64; ORDER.len()],
}

impl Contest {
    /// How the next message is sent, of this number of bytes and at this time. `is_doubtful`: whether its estimate should not be trusted. Once that is
    /// so, it remains so.
    pub(crate) fn turn(&mut self, is_doubtful: bool, len: usize, now_ns: u64) -> Turn {
        let message = self.messages;
        self.messages = message.wrapping_add(1);
        if self.next.is_none() && is_doubtful {
            self.next = Some(aligned(message));
        }
        if self.trial.is_none() && self.next == Some(message) {
            self.trial = Some(Trial::new(len, now_ns));
        }
        let Some(trial) = &mut self.trial else { return self.result };
        if let Some(turn) = trial.turn(len, now_ns) {
            return turn;
        }
        let (result, gain_ns) = trial.result();
        let same = result == self.result && self.stands > 0;
        self.stands = if same { (2 * self.stands).min(STANDS.1) } else { STANDS.0 };
        self.next = Some(aligned(message.wrapping_add(self.stands * trial.messages)));
        (self.result, self.gain_ns, self.trial) = (result, gain_ns, None);
        result
    }

    /// Whether there are trials, from now on.
    pub(crate) fn is_on(&self) -> bool {
        self.next.is_some()
    }

    /// The nanoseconds that compression gains for a byte, as measured: 0 if there is no result.
    pub(crate) fn gain_ns(&self) -> f64 {
        self.gain_ns
    }
}

/// The next message after this one with which a contest may begin.
fn aligned(message: u32) -> u32 {
    (message / ALIGN).wrapping_add(1).wrapping_mul(ALIGN)
}

impl Trial {
    fn new(len: usize, now_ns: u64) -> Self {
        let messages = u32::try_from(BLOCK / len.max(1)).unwrap_or(u32::MAX);
        let block = messages.clamp(MESSAGES.1, MESSAGES.0);
        Self { block, messages: 0, bytes: 0, began_ns: now_ns, times: [0.0; ORDER.len()] }
    }

    /// The way of the next message; `None` if the trial is over.
    fn turn(&mut self, len: usize, now_ns: u64) -> Option<Turn> {
        let block = (self.messages / self.block) as usize;
        if self.messages > 0 && self.messages.is_multiple_of(self.block) {
            let ns = now_ns.saturating_sub(self.began_ns) as f64;
            *self.times.get_mut(block - 1)? = ns / self.bytes.max(1) as f64;
            (self.began_ns, self.bytes) = (now_ns, 0);
        }
        let turn = *ORDER.get(block)?;
        self.messages += 1;
        self.bytes += len;
        Some(turn)
    }

    /// The result, and the nanoseconds per byte by which the median of compressed blocks is better.
    fn result(&self) -> (Turn, f64) {
        let times_of = |way: Turn| {
            let times = ORDER.iter().zip(&self.times);
            times.filter(move |(turn, _)| **turn == way).map(|(_, ns)| *ns)
        };
        let pairs = || times_of(Turn::Compressed).flat_map(|c| times_of(Turn::Raw).map(move |r| (c, r)));
        let gain_ns = median(times_of(Turn::Raw)) - median(times_of(Turn::Compressed));
        if pairs().filter(|(c, r)| c < r).count() >= CLEAR {
            (Turn::Compressed, gain_ns)
        } else if pairs().filter(|(c, r)| r < c).count() >= CLEAR {
            (Turn::Raw, gain_ns)
        } else if self.is_even() {
            // Both are as fast, so the ranks had better agree.
            (Turn::Raw, 0.0)
        } else {
            (Turn::Estimated, 0.0)
        }
    }

    /// Whether all blocks took about as long: none contains a computation that others lack.
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

    /// Sends messages that take this long by way, and a computation before each 26th; returns how they were sent.
    fn run(contest: &mut Contest, ns: impl Fn(Turn) -> u64, messages: u32, compute_ns: u64) -> Vec<Turn> {
        let mut now = 0;
        let turns = (0..messages).map(|message| {
            let turn = contest.turn(true, LEN, now);
            now += ns(turn) + if message % 26 == 0 { compute_ns } else { 0 };
            turn
        });
        turns.collect()
    }

    #[test]
    fn both_ways_have_as_many_blocks() {
        for way in [Turn::Compressed, Turn::Raw] {
            assert_eq!(ORDER.iter().filter(|turn| **turn == way).count(), BLOCKS);
        }
    }

    #[test]
    fn the_faster_way_wins_and_trials_become_rare() {
        for (compressed, raw, wanted) in [(500, 600, Turn::Compressed), (600, 500, Turn::Raw)] {
            let mut contest = Contest::default();
            let ns = |turn| if turn == Turn::Compressed { compressed } else { raw };
            let turns = run(&mut contest, ns, 50_000, 0);
            assert_eq!(turns[0], Turn::Estimated);
            let won = turns.iter().filter(|turn| **turn == wanted).count();
            assert!(won > 48_000, "{wanted:?} {won}");
            let gain_ns = (raw as f64 - compressed as f64) / LEN as f64;
            assert!((contest.gain_ns() - gain_ns).abs() < 1e-9);
        }
    }

    #[test]
    fn where_both_are_as_fast_all_go_raw() {
        let mut contest = Contest::default();
        let turns = run(&mut contest, |_| 500, 50_000, 0);
        assert_eq!((turns.last(), contest.gain_ns()), (Some(&Turn::Raw), 0.0));
        assert!(!turns[200..].contains(&Turn::Estimated));
    }

    #[test]
    fn a_change_is_seen_with_the_next_trial() {
        let mut contest = Contest::default();
        run(&mut contest, |turn| if turn == Turn::Raw { 600 } else { 500 }, 50_000, 0);
        let turns = run(&mut contest, |turn| if turn == Turn::Raw { 500 } else { 600 }, 30_000, 0);
        assert_eq!(turns.last(), Some(&Turn::Raw));
    }

    #[test]
    fn what_computation_hides_has_no_result() {
        // A burst of messages is cheaper raw, but the computation after it is all that counts.
        let mut contest = Contest::default();
        let turns = run(&mut contest, |turn| if turn == Turn::Raw { 100 } else { 101 }, 50_000, 100_000);
        let estimated = turns.iter().filter(|turn| **turn == Turn::Estimated).count();
        assert!(estimated > 40_000, "{estimated}");
    }

    #[test]
    fn ranks_that_begin_to_doubt_at_different_messages_have_trials_together() {
        let mut contests = [Contest::default(), Contest::default()];
        for message in 0..10_000_u32 {
            let now = u64::from(message) * 1000;
            let [one, other] = [3, 17].map(|doubts| message >= doubts);
            let turns = (contests[0].turn(one, LEN, now), contests[1].turn(other, LEN, now));
            assert_eq!(turns.0, turns.1, "{message}");
        }
        assert!(contests[0].is_on());
    }
}
