//! Determines which processes share a node, from what each of them knows of its host.
//!
//! `MPI_Comm_split_type` does this, too, but with several collective operations, in which most MPIs spin. If there are more ranks than cores,
//! each of these operations takes a time slice.

use super::{digest, hash};
use std::collections::HashMap;

/// A word that identifies the host of this process, at most [`LARGEST`](super::LARGEST) and the same in all processes there. Nodes may be network
/// namespaces of one machine.
///
/// It is a hash of what Linux says in `/proc`: boot, host name and network namespace. What cannot be read is left out, so without `/proc` all hosts
/// are the same.
#[must_use]
pub fn host() -> u64 {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let boot = read("/proc/sys/kernel/random/boot_id");
    let name = read("/proc/sys/kernel/hostname");
    let network = std::fs::read_link("/proc/self/ns/net").ok();
    hash(&(boot, name, network))
}

/// For each rank the lowest rank on its node, from the hosts of all ranks ([`host`]).
#[must_use]
pub fn nodes(hosts: &[u64]) -> Vec<i32> {
    let mut lowest = HashMap::new();
    hosts.iter().zip(0..).map(|(host, rank)| *lowest.entry(*host).or_insert(rank)).collect()
}

/// A number that identifies the hosts and the number of ranks on each, from the hosts of all ranks: the same for all such jobs until a host reboots.
/// For [`Engine::start`](crate::Engine::start).
#[must_use]
pub fn place(hosts: &[u64]) -> u64 {
    let mut hosts = hosts.to_vec();
    hosts.sort_unstable();
    digest(&hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_host_have_its_lowest_rank() {
        assert_eq!(nodes(&[7, 9, 7, 8, 9]), [0, 1, 0, 3, 1]);
        assert!(nodes(&[]).is_empty());
    }

    #[test]
    fn a_place_has_the_same_hosts_with_as_many_ranks() {
        assert_eq!(place(&[7, 7, 9, 9]), place(&[9, 7, 9, 7]));
        assert_ne!(place(&[7, 7, 9, 9]), place(&[7, 9, 9, 9]));
        assert_ne!(place(&[7, 7, 9, 9]), place(&[7, 7, 8, 8]));
    }

    #[test]
    fn a_host_is_the_same_whoever_asks() {
        assert_eq!(host(), std::thread::spawn(host).join().unwrap());
        assert!(host() <= super::super::LARGEST);
    }
}
