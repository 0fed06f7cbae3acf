//! A quick measurement of the network, for jobs that have no heuristics file of it: the same as the shim's.
//!
//! Every rank exchanges messages with one on another node, all at the same time, so that what is measured is the bandwidth
//! that a rank gets while the others send too. It takes some milliseconds.

use mpi::Rank;
use mpi::collective::SystemOperation;
use mpi::point_to_point::send_receive_into;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};
use mpress::selector::Link;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Messages from which the latency follows, and how many of them.
const SHORT: usize = 8;
const SHORT_ROUNDS: usize = 20;
/// Messages from which the bandwidth follows: the first, and up to how long they may get.
const LONG: usize = 64 << 10;
const LONGEST: usize = 1 << 20;
/// Once an exchange takes so long, there is no need for a longer one.
const ENOUGH: Duration = Duration::from_millis(1);
const LONG_ROUNDS: usize = 2;

/// Measures the network if any rank wants that; all must call this. `None` too where not every node has as many ranks: then
/// there is no partner for each.
pub(crate) fn measure(comm: &SimpleCommunicator, nodes: &[Rank], wanted: bool) -> Option<Link> {
    let (to, from) = partners(nodes, comm.rank())?;
    let (mine, mut sum) = (u64::from(wanted), 0_u64);
    comm.all_reduce_into(&mine, &mut sum, SystemOperation::sum());
    if sum == 0 {
        return None;
    }
    Some(Exchange { comm, to, from, out: vec![0x5a; LONGEST], into: vec![0; LONGEST] }.link())
}

/// Whom a rank sends to and receives from: the rank of the same place on the next node, and on the one before. `None` for every
/// rank, or for none.
fn partners(nodes: &[Rank], rank: Rank) -> Option<(Rank, Rank)> {
    let mut by_node = BTreeMap::<Rank, Vec<Rank>>::new();
    for (rank, node) in (0..).zip(nodes) {
        by_node.entry(*node).or_default().push(rank);
    }
    let nodes: Vec<_> = by_node.into_values().collect();
    let (first, count) = (nodes.first()?.len(), nodes.len());
    if count < 2 || nodes.iter().any(|ranks| ranks.len() != first) {
        return None;
    }
    let node = nodes.iter().position(|ranks| ranks.contains(&rank))?;
    let place = nodes.get(node)?.iter().position(|&other| other == rank)?;
    let on = |node: usize| nodes.get(node % count)?.get(place).copied();
    Some((on(node + 1)?, on(node + count - 1)?))
}

struct Exchange<'a> {
    comm: &'a SimpleCommunicator,
    to: Rank,
    from: Rank,
    out: Vec<u8>,
    into: Vec<u8>,
}

impl Exchange<'_> {
    fn link(&mut self) -> Link {
        // The first messages make the connections.
        self.rounds(SHORT, 2);
        let latency = self.rounds(SHORT, SHORT_ROUNDS);
        self.rounds(LONG, 1);
        let mut len = LONG;
        loop {
            let time = self.rounds(len, LONG_ROUNDS);
            let net = (time - latency).max(1e-9);
            if len == LONGEST || Duration::from_secs_f64(time) >= ENOUGH {
                return Link { latency_us: latency * 1e6, bandwidth_mb_s: len as f64 / net * 1e-6 };
            }
            len *= 4;
        }
    }

    /// Exchanges messages of this length so often; gives the seconds of one, averaged over all ranks: all come to the same
    /// number, and so to the same next step.
    fn rounds(&mut self, len: usize, rounds: usize) -> f64 {
        let (to, from) = (self.comm.process_at_rank(self.to), self.comm.process_at_rank(self.from));
        let (out, into) = (&self.out[..len], &mut self.into[..len]);
        let mut times: Vec<_> = (0..rounds)
            .map(|_| {
                let start = Instant::now();
                send_receive_into(out, &to, into, &from);
                start.elapsed()
            })
            .collect();
        times.sort();
        let mine = times.get(rounds / 2).map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        let mut sum = 0_u64;
        self.comm.all_reduce_into(&mine, &mut sum, SystemOperation::sum());
        sum as f64 * 1e-9 / f64::from(self.comm.size())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn everyone_has_a_partner_or_nobody() {
        let nodes = [0, 0, 2, 2, 4, 4];
        let partners: Vec<_> = (0..6).map(|rank| super::partners(&nodes, rank)).collect();
        assert_eq!(partners, [(2, 4), (3, 5), (4, 0), (5, 1), (0, 2), (1, 3)].map(Some));
        for uneven in [&[0, 0, 2][..], &[0, 0], &[]] {
            assert!((0..3).all(|rank| super::partners(uneven, rank).is_none()));
        }
    }
}
