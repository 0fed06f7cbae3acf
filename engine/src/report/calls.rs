//! The time that the program spent in calls of MPI.

use serde::{Deserialize, Serialize};

/// The time in those calls of MPI that the layer above the engine wraps, waiting for messages and for other ranks included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InMpi {
    /// Seconds of each rank, summed over its threads.
    pub ranks_s: Vec<f64>,
    /// By call, the one with the most seconds first.
    pub calls: Vec<Call>,
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

impl InMpi {
    /// From sums over the ranks: for each call its name, number and nanoseconds, and for each rank its nanoseconds.
    #[must_use]
    pub fn new(calls: impl IntoIterator<Item = (&'static str, u64, u64)>, ranks: &[u64]) -> Self {
        let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
        let made = calls.into_iter().filter(|(_, count, _)| *count > 0);
        let mut calls: Vec<_> = made
            .map(|(name, count, ns)| Call { call: format!("MPI_{name}"), count, seconds: seconds(ns) })
            .collect();
        calls.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        Self { ranks_s: ranks.iter().map(|ns| seconds(*ns)).collect(), calls }
    }

    /// Seconds of the rank that spent least, mean over the ranks, and seconds of the rank that spent most.
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
        let in_mpi = InMpi::new(calls, &[500_000_000, 2_500_000_000]);
        let names: Vec<_> = in_mpi.calls.iter().map(|call| (&*call.call, call.count)).collect();
        assert_eq!(names, [("MPI_Recv", 1), ("MPI_Send", 2)]);
        assert_eq!(in_mpi.range(), [0.5, 1.5, 2.5]);
        assert_eq!(InMpi::default().range(), [0.0; 3]);
    }
}
