//! The program's time in MPI calls.

use serde::{Deserialize, Serialize};

/// The time in the MPI calls that the layer above the engine wraps, including the time of waiting for messages and for other ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InMpi {
    /// Seconds of each rank, summed over its threads.
    pub ranks_s: Vec<f64>,
    /// By call, the one with the most seconds first.
    pub calls: Vec<Call>,
    /// By communicator, the one with the most seconds first.
    #[serde(default)]
    pub communicators: Vec<Communicator>,
    /// For each rank, the seconds that the ranks spent with it as their peer.
    #[serde(default)]
    pub peers_s: Vec<f64>,
}

/// The sum over the ranks for one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Its name, such as `MPI_Send`. Its large-count form counts as the same call.
    pub call: String,
    /// The number of calls.
    pub count: u64,
    /// Seconds in them.
    pub seconds: f64,
}

/// The sum over the ranks for the communicators with the same name and number of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Communicator {
    /// Their name and number of ranks.
    pub communicator: String,
    /// The number of calls that name them.
    pub count: u64,
    /// Seconds in these calls, and in waiting for the operations that they started.
    pub seconds: f64,
}

impl InMpi {
    /// From sums over the ranks: for each call its name, number and nanoseconds; the same for each communicator; for each rank its nanoseconds, and
    /// those that the ranks spent with it as their peer.
    #[must_use]
    pub fn new(
        calls: impl IntoIterator<Item = (&'static str, u64, u64)>,
        communicators: impl IntoIterator<Item = (String, u64, u64)>,
        ranks: &[u64],
        peers: &[u64],
    ) -> Self {
        let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
        let made = calls.into_iter().filter(|(_, count, _)| *count > 0);
        let mut calls: Vec<_> = made
            .map(|(name, count, ns)| Call { call: format!("MPI_{name}"), count, seconds: seconds(ns) })
            .collect();
        calls.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let line = |(communicator, count, ns)| Communicator { communicator, count, seconds: seconds(ns) };
        let mut communicators: Vec<_> = communicators.into_iter().map(line).collect();
        communicators.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let all = |ranks: &[u64]| ranks.iter().map(|ns| seconds(*ns)).collect();
        Self { ranks_s: all(ranks), calls, communicators, peers_s: all(peers) }
    }

    /// Up to `count` peers, those with the most seconds first, with the seconds.
    #[must_use]
    pub fn peers(&self, count: usize) -> Vec<(usize, f64)> {
        let mut peers: Vec<_> = self.peers_s.iter().copied().enumerate().filter(|(_, s)| *s > 0.0).collect();
        peers.sort_by(|a, b| b.1.total_cmp(&a.1));
        peers.truncate(count);
        peers
    }

    /// The minimum, mean and maximum of the seconds of a rank.
    #[must_use]
    pub fn range(&self) -> [f64; 3] {
        let least = self.ranks_s.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.ranks_s.iter().copied().fold(0.0, f64::max);
        [least.min(most), self.ranks_s.iter().sum::<f64>() / self.ranks_s.len().max(1) as f64, most]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_sorted_by_time_and_ranks_summed_up() {
        let calls = [("Send", 2, 1_000_000_000), ("Bcast", 0, 0), ("Recv", 1, 3_000_000_000)];
        let communicators = [("row".into(), 1, 1_000_000_000), ("MPI_COMM_WORLD".into(), 2, 2_000_000_000)];
        let in_mpi = InMpi::new(calls, communicators, &[500_000_000, 2_500_000_000], &[0, 2_000_000_000, 1]);
        let names: Vec<_> = in_mpi.calls.iter().map(|call| (&*call.call, call.count)).collect();
        assert_eq!(names, [("MPI_Recv", 1), ("MPI_Send", 2)]);
        assert_eq!(in_mpi.range(), [0.5, 1.5, 2.5]);
        assert_eq!(in_mpi.communicators[0].communicator, "MPI_COMM_WORLD");
        assert_eq!(in_mpi.peers(8), [(1, 2.0), (2, 1e-9)]);
        assert_eq!(in_mpi.peers(1), [(1, 2.0)]);
        assert_eq!(InMpi::default().range(), [0.0; 3]);
    }
}
