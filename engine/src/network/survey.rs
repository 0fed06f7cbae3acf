//! A thorough measurement of the network, for `mpress calibrate`: messages of many lengths between two ranks, then between all ranks at the same time.

use super::{by_node, median};
use std::time::Instant;

/// The longest message measured; the others are shorter by powers of 4.
pub const LONGEST: usize = 4 << 20;
/// Seconds of ping-pong per message length, or one round trip if that takes longer.
const ALONE_TIME: f64 = 0.1;
/// The maximum number of round trips; more add nothing.
const ALONE_TIMES: f64 = 1001.0;
/// If a round trip takes longer than this many seconds, longer messages are left out.
const TOO_LONG: f64 = 1.0;
/// When all send, messages get longer until an exchange takes this many seconds; then a round has as many exchanges as take `ROUND_TIME`.
const EXCHANGE_TIME: f64 = 0.02;
const ROUND_TIME: f64 = 0.3;
const ROUNDS: usize = 3;

/// The messages of a survey, over any message layer. An error must end all ranks, since others may be waiting for this one. Where there are more ranks than cores, a rank that waits should sleep.
pub trait Messages {
    /// Why a message failed.
    type Error;

    /// Sends `len` bytes.
    ///
    /// # Errors
    /// If that fails.
    fn send(&mut self, to: usize, len: usize) -> Result<(), Self::Error>;

    /// Receives `len` bytes.
    ///
    /// # Errors
    /// If that fails.
    fn receive(&mut self, from: usize, len: usize) -> Result<(), Self::Error>;

    /// Sends `len` bytes to one rank, and receives `len` bytes from another at the same time, if there are such ranks.
    ///
    /// # Errors
    /// If that fails.
    fn exchange(&mut self, neighbours: Neighbours, len: usize) -> Result<(), Self::Error>;

    /// The number `mine` of each rank, in rank order: as many as there are ranks. All ranks call this.
    ///
    /// # Errors
    /// If that fails.
    fn share(&mut self, mine: f64) -> Result<Vec<f64>, Self::Error>;
}

/// What a figure says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum What {
    /// Microseconds that a message takes one way, while no other rank sends.
    Alone = 0,
    /// MB/s (10^6 bytes per second) received by a rank, while all ranks of the sending nodes send.
    Together = 1,
}

/// The ranks that a rank sends to and receives from.
pub type Neighbours = (Option<usize>, Option<usize>);

/// Measures the network, if there are several nodes; all ranks must call this. `nodes` has the node of each rank. `tell` gets each figure with the
/// length of its messages as soon as it is known, the same on all ranks.
///
/// # Errors
/// Those of the messages.
pub fn survey<M: Messages>(
    nodes: &[i32],
    rank: usize,
    messages: &mut M,
    mut tell: impl FnMut(What, usize, f64),
) -> Result<(), M::Error> {
    let by_node = by_node(nodes);
    let first = |node: usize| by_node.get(node).and_then(|ranks| ranks.first()).copied();
    let Some(pair) = first(0).zip(first(1)) else { return Ok(()) };
    alone(rank, pair, messages, &mut tell)?;
    let (bytes, mb_s) = together(&steps(&by_node, rank), &by_node, messages)?;
    tell(What::Together, bytes, mb_s);
    Ok(())
}

/// One-way times between two ranks, while the others wait.
fn alone<M: Messages>(
    rank: usize,
    (ping, pong): (usize, usize),
    messages: &mut M,
    tell: &mut impl FnMut(What, usize, f64),
) -> Result<(), M::Error> {
    // Seconds of a round trip; 0 on ranks that take no part.
    let round_trip = |messages: &mut M, len| {
        let start = Instant::now();
        if rank == ping {
            messages.send(pong, len)?;
            messages.receive(pong, len)?;
        } else if rank == pong {
            messages.receive(ping, len)?;
            messages.send(ping, len)?;
        } else {
            return Ok(0.0);
        }
        Ok(start.elapsed().as_secs_f64())
    };
    let heard = |messages: &mut M, mine| Ok(messages.share(mine)?.get(ping).copied().unwrap_or(0.0));
    for power in 0..=LONGEST.ilog2() / 2 {
        let len = 1 << (2 * power);
        // One round trip to wake the ranks and to connect.
        round_trip(messages, len)?;
        let mut seconds = round_trip(messages, len)?;
        let once = heard(messages, seconds)?;
        let times = (ALONE_TIME / once).clamp(0.0, ALONE_TIMES) as usize;
        if times > 1 {
            seconds = median((0..times).map(|_| round_trip(messages, len)).collect::<Result<_, _>>()?);
        }
        tell(What::Alone, len, heard(messages, seconds)? * 0.5e6);
        if once > TOO_LONG {
            break;
        }
    }
    Ok(())
}

/// The steps in which all ranks of a node send, with this rank's neighbours.
///
/// Each rank sends to the rank that is N ranks after it, where N is the number of ranks on the largest node; if all nodes have N, this is its
/// counterpart on the next node. If one node has more ranks than all others together, some of its ranks have no neighbour on another node. First every
/// second node sends, then the others: TCP shares the link with its own acknowledgements, so messages in both directions get little more bandwidth in
/// total than in one.
fn steps(nodes: &[Vec<usize>], own: usize) -> [Neighbours; 2] {
    let node = |rank: usize| nodes.iter().position(|ranks| ranks.contains(&rank)).unwrap_or(0);
    let (ring, by) = (nodes.concat(), nodes.iter().map(Vec::len).max().unwrap_or(0));
    let at = ring.iter().position(|&rank| rank == own).unwrap_or(0);
    let rank = |at: usize| ring.get(at % ring.len()).copied().unwrap_or(own);
    let (to, from) = (rank(at + by), rank(at + ring.len() - by));
    let flows = |step: usize, from: usize, to: usize| node(from) % 2 == step && node(to) % 2 != step;
    [0, 1].map(|step| {
        (Some(to).filter(|&to| flows(step, own, to)), Some(from).filter(|&from| flows(step, from, own)))
    })
}

/// The bandwidth in MB/s at which a rank receives while all send, the median over nodes and steps, and the length of the messages.
fn together<M: Messages>(
    steps: &[Neighbours],
    nodes: &[Vec<usize>],
    messages: &mut M,
) -> Result<(usize, f64), M::Error> {
    // Short enough for a hundred ranks that share one slow link.
    let mut len = 64 << 10;
    let mut slowest = slowest_exchange(steps, len, messages)?;
    while slowest < EXCHANGE_TIME && len < LONGEST {
        len *= 4;
        slowest = slowest_exchange(steps, len, messages)?;
    }
    let times = (ROUND_TIME / slowest).clamp(1.0, 1e4) as usize;
    let mut all = Vec::new();
    for &step in steps {
        // Disturbances only make a round slower.
        let mut fastest = vec![f64::INFINITY; nodes.len()];
        for _ in 0..ROUNDS {
            meet(messages)?;
            let start = Instant::now();
            for _ in 0..times {
                messages.exchange(step, len)?;
            }
            let mine = if step.1.is_some() { start.elapsed().as_secs_f64() } else { 0.0 };
            let seconds = messages.share(mine)?;
            // TCP shares a link unfairly among the ranks of a node: the last one to finish counts.
            for (fastest, ranks) in fastest.iter_mut().zip(nodes) {
                let seconds = ranks.iter().filter_map(|&rank| seconds.get(rank));
                *fastest = fastest.min(seconds.copied().fold(0.0, f64::max));
            }
        }
        // Nodes that received nothing have a time of 0.
        let receiving = fastest.into_iter().filter(|&seconds| seconds > 0.0);
        all.extend(receiving.map(|seconds| (len * times) as f64 / seconds * 1e-6));
    }
    Ok((len, median(all)))
}

/// Seconds of the slowest rank for one exchange; the same on all ranks.
fn slowest_exchange<M: Messages>(
    steps: &[Neighbours],
    len: usize,
    messages: &mut M,
) -> Result<f64, M::Error> {
    let mut slowest = 1e-9_f64;
    for &step in steps {
        // One exchange to connect.
        messages.exchange(step, len)?;
        meet(messages)?;
        let start = Instant::now();
        messages.exchange(step, len)?;
        let all = messages.share(start.elapsed().as_secs_f64())?;
        slowest = all.into_iter().fold(slowest, f64::max);
    }
    Ok(slowest)
}

/// Synchronises the ranks: the first exchange wakes them up.
fn meet<M: Messages>(messages: &mut M) -> Result<(), M::Error> {
    messages.share(0.0)?;
    messages.share(0.0).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_each_step_every_second_node_sends_to_the_others() {
        for nodes in
            [&[0, 1][..], &[0, 0, 2, 2], &[0, 1, 0, 1, 0, 1], &[0, 0, 0, 3], &[0, 1, 2], &[5, 5, 6, 7, 7]]
        {
            let by_node = by_node(nodes);
            let node = |rank: usize| by_node.iter().position(|ranks| ranks.contains(&rank)).unwrap();
            let of: Vec<_> = (0..nodes.len()).map(|rank| steps(&by_node, rank)).collect();
            let mut flows = 0;
            for (rank, step) in (0..nodes.len()).flat_map(|rank| [(rank, 0), (rank, 1)]) {
                let (to, from) = of[rank][step];
                assert!(to.is_none_or(|to| of[to][step].1 == Some(rank)), "{nodes:?}");
                assert!(from.is_none_or(|from| of[from][step].0 == Some(rank)), "{nodes:?}");
                assert!(to.is_none_or(|to| node(rank) % 2 == step && node(to) % 2 != step), "{nodes:?}");
                flows += usize::from(to.is_some());
            }
            assert!(flows > 0, "{nodes:?}");
        }
        assert_eq!(steps(&by_node(&[0, 0, 1, 1]), 1), [(Some(3), None), (None, Some(3))]);
    }

    #[test]
    fn all_lengths_are_measured_between_two_nodes_only() {
        /// The messages of rank 0, which are there at once.
        struct AtOnce(usize);
        impl Messages for AtOnce {
            type Error = ();
            fn send(&mut self, to: usize, _: usize) -> Result<(), ()> {
                assert_eq!(to, 1);
                self.0 += 1;
                Ok(())
            }
            fn receive(&mut self, from: usize, _: usize) -> Result<(), ()> {
                assert_eq!(from, 1);
                self.0 -= 1;
                Ok(())
            }
            fn exchange(&mut self, (to, from): Neighbours, _: usize) -> Result<(), ()> {
                assert!(to.is_none_or(|to| to == 1) && from.is_none_or(|from| from == 1));
                Ok(())
            }
            fn share(&mut self, mine: f64) -> Result<Vec<f64>, ()> {
                Ok(vec![mine, 0.5])
            }
        }
        let mut told = Vec::new();
        survey(&[0, 1], 0, &mut AtOnce(0), |what, bytes, _| told.push((what, bytes))).unwrap();
        let alone: Vec<_> = (0..12).map(|power| (What::Alone, 4_usize.pow(power))).collect();
        assert_eq!(told[..12], alone);
        assert_eq!(told.len(), 13);
        assert_eq!(told[12].0, What::Together);
        survey(&[3, 3], 0, &mut AtOnce(0), |_, _, _| panic!("there is no network")).unwrap();
    }
}
