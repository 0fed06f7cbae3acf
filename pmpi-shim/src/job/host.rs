//! Determines which processes share a node, from what each of them knows of its host.
//!
//! `MPI_Comm_split_type` does this, too, but needs several collective operations, in which most MPIs spin: where there are more ranks than
//! cores, each of them takes a time slice. It is used only if the launcher does not confirm the result found here.

use mpress::job::LARGEST;
use std::collections::hash_map::{DefaultHasher, HashMap};
use std::ffi::c_int;
use std::hash::{Hash, Hasher};

/// Number of ranks of the job on this node, as set by the launchers of Open MPI, of MPICH and its relatives, and of MVAPICH.
const LOCAL_SIZES: [&str; 4] =
    ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"];

/// What a rank tells the others about its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// Equal on ranks of one host.
    key: u64,
    /// Number of ranks on this node according to the launcher; 0 if unknown.
    local: u64,
}

impl Host {
    /// Number of words that a rank sends.
    pub(crate) const WORDS: usize = 2;

    /// The words for another rank, of which the minimum takes no notice.
    pub(crate) const OTHER: [u64; Self::WORDS] = [LARGEST; Self::WORDS];

    /// The host of this process. Nodes may be network namespaces of one machine.
    pub(crate) fn here() -> Self {
        let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
        let boot = read("/proc/sys/kernel/random/boot_id");
        let name = read("/proc/sys/kernel/hostname");
        let network = std::fs::read_link("/proc/self/ns/net").ok();
        let mut hasher = DefaultHasher::new();
        (boot, name, network).hash(&mut hasher);
        let local = LOCAL_SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
        Self { key: hasher.finish() & LARGEST, local: local.unwrap_or(0) }
    }

    pub(crate) fn words(self) -> [u64; Self::WORDS] {
        [self.key, self.local]
    }
}

/// For each rank the lowest rank on its node, from the words of all ranks; `None` if a launcher's count differs for some node, or is
/// unknown. The result is the same on all ranks.
pub(crate) fn nodes(words: &[u64]) -> Option<Vec<c_int>> {
    let (hosts, _) = words.as_chunks::<{ Host::WORDS }>();
    let mut found = HashMap::<u64, (c_int, u64)>::new();
    for (rank, [key, _]) in hosts.iter().enumerate() {
        found.entry(*key).or_insert((c_int::try_from(rank).ok()?, 0)).1 += 1;
    }
    let leader = |[key, local]: &[u64; Host::WORDS]| {
        found.get(key).filter(|(_, ranks)| ranks == local).map(|(leader, _)| *leader)
    };
    hosts.iter().map(leader).collect()
}

/// A number of the hosts and how many ranks each has, from the words of all ranks: the same for all jobs there, until a host starts anew.
pub(crate) fn place(words: &[u64]) -> u64 {
    let (hosts, _) = words.as_chunks::<{ Host::WORDS }>();
    let mut keys: Vec<u64> = hosts.iter().map(|[key, _]| *key).collect();
    keys.sort_unstable();
    let mut hasher = DefaultHasher::new();
    keys.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_host_have_its_lowest_rank() {
        let words = [[7, 2], [9, 1], [7, 2], [8, 1]];
        assert_eq!(nodes(words.as_flattened()), Some(vec![0, 1, 0, 3]));
        assert_eq!(nodes(&[]), Some(vec![]));
    }

    #[test]
    fn a_place_has_the_same_hosts_with_as_many_ranks() {
        let place = |keys: [u64; 4]| place(keys.map(|key| [key, 2]).as_flattened());
        assert_eq!(place([7, 7, 9, 9]), place([9, 7, 9, 7]));
        assert_ne!(place([7, 7, 9, 9]), place([7, 9, 9, 9]));
        assert_ne!(place([7, 7, 9, 9]), place([7, 7, 8, 8]));
    }

    #[test]
    fn what_the_launcher_does_not_confirm_is_not_believed() {
        // A launcher with two nodes on one machine, and one without a count.
        for words in [[[7, 1], [7, 1]], [[7, 2], [7, 0]], [[7, 1], [8, 2]]] {
            assert_eq!(nodes(words.as_flattened()), None);
        }
    }

    #[test]
    fn a_host_is_the_same_whoever_asks() {
        assert_eq!(Host::here(), std::thread::spawn(Host::here).join().unwrap());
        assert!(Host::here().words().iter().all(|word| *word <= LARGEST));
    }
}
