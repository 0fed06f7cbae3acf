//! A quick measurement of the network, for jobs that have no heuristics file of it.
//!
//! Every process exchanges messages with one on another node, all at the same time, so that what is measured is the bandwidth that a
//! process gets while the others send too. It takes some milliseconds.

use mpress_selector::Link;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Messages from which the latency follows, and how many of them.
const SHORT: usize = 8;
const SHORT_ROUNDS: usize = 20;
/// Messages from which the bandwidth follows: the first.
const LONG: usize = 64 << 10;
/// And up to how many bytes they may get.
pub const LONGEST: usize = 1 << 20;
/// Once an exchange takes so long, there is no need for a longer one.
const ENOUGH: Duration = Duration::from_millis(1);
const LONG_ROUNDS: usize = 2;

/// The messages of a measurement, by whatever brings messages.
pub trait Exchange {
    /// Why a message failed.
    type Error;

    /// Makes what the exchanges need; all processes call this, once somebody wants them.
    ///
    /// # Errors
    /// Where that is not to be had.
    fn connect(&mut self) -> Result<(), Self::Error>;

    /// Sends `len` bytes, at most [`LONGEST`], to one rank, and receives as many from another.
    ///
    /// # Errors
    /// Where the messages do not come through.
    fn exchange(&mut self, to: usize, from: usize, len: usize) -> Result<(), Self::Error>;

    /// The sum of a number over all processes, which all call this, connected or not; and how many they are.
    ///
    /// # Errors
    /// As above.
    fn sum(&mut self, number: u64) -> Result<(u64, usize), Self::Error>;
}

/// The ranks of each node, in their order. `nodes` has the node of each rank.
#[must_use]
pub fn by_node(nodes: &[i32]) -> Vec<Vec<usize>> {
    let mut ranks = BTreeMap::<i32, Vec<usize>>::new();
    for (rank, node) in nodes.iter().enumerate() {
        ranks.entry(*node).or_default().push(rank);
    }
    ranks.into_values().collect()
}

/// Whom a rank sends to and receives from: the rank of the same place on the next node, and on the one before. `None` for all ranks
/// where not every node has as many, or there is but one.
#[must_use]
pub fn partners(nodes: &[i32], rank: usize) -> Option<(usize, usize)> {
    let nodes = by_node(nodes);
    let (first, count) = (nodes.first()?.len(), nodes.len());
    if count < 2 || nodes.iter().any(|ranks| ranks.len() != first) {
        return None;
    }
    let node = nodes.iter().position(|ranks| ranks.contains(&rank))?;
    let place = nodes.get(node)?.iter().position(|&other| other == rank)?;
    let on = |node: usize| nodes.get(node % count)?.get(place).copied();
    Some((on(node + 1)?, on(node + count - 1)?))
}

/// Measures the network if any process wants that; all must call this.
///
/// # Errors
/// Those of the messages.
pub fn measure<X: Exchange>(
    partners: (usize, usize),
    wanted: bool,
    messages: &mut X,
) -> Result<Option<Link>, X::Error> {
    if messages.sum(u64::from(wanted))?.0 == 0 {
        return Ok(None);
    }
    messages.connect()?;
    // The first messages find their way.
    rounds(messages, partners, SHORT, 2)?;
    let latency = rounds(messages, partners, SHORT, SHORT_ROUNDS)?;
    rounds(messages, partners, LONG, 1)?;
    let mut len = LONG;
    loop {
        let time = rounds(messages, partners, len, LONG_ROUNDS)?;
        if len == LONGEST || Duration::from_secs_f64(time) >= ENOUGH {
            let net = (time - latency).max(1e-9);
            return Ok(Some(Link { latency_us: latency * 1e6, bandwidth_mb_s: len as f64 / net * 1e-6 }));
        }
        len *= 4;
    }
}

/// Exchanges messages of this length so often; gives the seconds of one, averaged over all processes: all come to the same number,
/// and so to the same next step.
fn rounds<X: Exchange>(
    messages: &mut X,
    (to, from): (usize, usize),
    len: usize,
    rounds: usize,
) -> Result<f64, X::Error> {
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        messages.exchange(to, from, len)?;
        times.push(start.elapsed());
    }
    times.sort();
    let mine = times.get(rounds / 2).map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    let (sum, count) = messages.sum(mine)?;
    Ok(sum as f64 * 1e-9 / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_has_a_partner_or_nobody() {
        let nodes = [0, 0, 2, 2, 4, 4];
        let partners: Vec<_> = (0..6).map(|rank| super::partners(&nodes, rank)).collect();
        assert_eq!(partners, [(2, 4), (3, 5), (4, 0), (5, 1), (0, 2), (1, 3)].map(Some));
        for uneven in [&[0, 0, 2][..], &[0, 0], &[]] {
            assert!((0..3).all(|rank| super::partners(uneven, rank).is_none()));
        }
    }

    /// A network of which the others want nothing to be measured, or of 100 MB/s.
    struct Slow {
        wanted: u64,
        connected: bool,
    }

    impl Exchange for Slow {
        type Error = ();

        fn connect(&mut self) -> Result<(), ()> {
            self.connected = true;
            Ok(())
        }

        fn exchange(&mut self, to: usize, from: usize, len: usize) -> Result<(), ()> {
            assert_eq!((to, from, self.connected), (1, 2, true));
            // What a sleep takes too long must not count for the latency.
            if len >= LONG {
                std::thread::sleep(Duration::from_nanos(len as u64 * 10));
            }
            Ok(())
        }

        fn sum(&mut self, number: u64) -> Result<(u64, usize), ()> {
            Ok(if number < 2 { (self.wanted + number, 1) } else { (number, 1) })
        }
    }

    #[test]
    fn it_is_measured_for_whoever_wants_it() {
        let mut idle = Slow { wanted: 0, connected: false };
        assert_eq!(measure((1, 2), false, &mut idle).unwrap().map(|link| link.bandwidth_mb_s), None);
        assert!(!idle.connected, "nobody wants it");
        for (mine, others) in [(true, 0), (false, 1)] {
            let mut messages = Slow { wanted: others, connected: false };
            let link = measure((1, 2), mine, &mut messages).unwrap().unwrap();
            // A sleep may last longer than it is told to, but no less.
            assert!(link.bandwidth_mb_s < 130.0 && link.bandwidth_mb_s > 0.1, "{link:?}");
        }
    }
}
