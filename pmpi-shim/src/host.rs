//! Which processes share a node, by what each of them knows of its host.
//!
//! `MPI_Comm_split_type` says that, too, but needs several collective operations, in which most MPIs keep the processor busy: where there
//! are more ranks than cores each of them takes a time slice. It is asked only where the launcher does not confirm what is found here.

use std::collections::hash_map::{DefaultHasher, HashMap};
use std::ffi::c_int;
use std::hash::{Hash, Hasher};

/// How many ranks of a job are on the node of this one, as the launchers of Open MPI, of MPICH and its relatives, and of MVAPICH say it.
const LOCAL_SIZES: [&str; 4] =
    ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"];

/// What a rank says of its host, for all to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// The same for ranks of one host; never `u64::MAX`.
    key: u64,
    /// The ranks on this node, as the launcher counts them; 0 if it does not.
    local: u64,
}

impl Host {
    /// The words that a rank says.
    pub(crate) const WORDS: usize = 2;

    /// The host of this process. Nodes can be network namespaces of one machine.
    pub(crate) fn here() -> Self {
        let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
        let boot = read("/proc/sys/kernel/random/boot_id");
        let name = read("/proc/sys/kernel/hostname");
        let network = std::fs::read_link("/proc/self/ns/net").ok();
        let mut hasher = DefaultHasher::new();
        (boot, name, network).hash(&mut hasher);
        let local = LOCAL_SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
        Self { key: hasher.finish() >> 1, local: local.unwrap_or(0) }
    }

    pub(crate) fn words(self) -> [u64; Self::WORDS] {
        [self.key, self.local]
    }
}

/// For each rank the lowest one on its node, by the words of all; `None` if a launcher counts the ranks of some node otherwise, or does
/// not say. All ranks come to the same answer.
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
    fn what_the_launcher_does_not_confirm_is_not_believed() {
        // One machine with two nodes of the launcher's, and a launcher that says nothing.
        for words in [[[7, 1], [7, 1]], [[7, 2], [7, 0]], [[7, 1], [8, 2]]] {
            assert_eq!(nodes(words.as_flattened()), None);
        }
    }

    #[test]
    fn a_host_is_the_same_whoever_asks() {
        assert_eq!(Host::here(), std::thread::spawn(Host::here).join().unwrap());
        assert_ne!(Host::here().words()[0], u64::MAX);
    }
}
