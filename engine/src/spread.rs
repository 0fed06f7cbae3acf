//! Decides which collective operations need not be left to the MPI, although it is unknown in advance which messages compress. These are the ones in
//! which the owners of the data can send it directly to all receivers, without leaving a node more often than the MPI's own algorithm.

use crate::engine::Destination;
use crate::hierarchy::Hierarchy;

/// The distribution of a communicator's ranks over nodes.
#[derive(Clone, Debug)]
pub struct Spread {
    hierarchy: Hierarchy,
    open_mpi: bool,
}

impl Spread {
    /// `nodes`: for each rank, an identifier of its node. `open_mpi`: whether the MPI is Open MPI; MPICH's algorithms leave a node less often. The
    /// algorithms were determined from the traffic of Open MPI 4.1 and MPICH 4.0.
    #[must_use]
    pub fn new(nodes: &[i32], open_mpi: bool) -> Self {
        Self { hierarchy: Hierarchy::new(nodes), open_mpi }
    }

    /// The distribution of ranks over nodes.
    #[must_use]
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// The destination of a message from one of the ranks to all others: another node, if there is one.
    #[must_use]
    pub fn farthest(&self) -> Destination {
        if self.hierarchy.nodes() > 1 { Destination::OtherNode } else { Destination::SameNode }
    }

    /// Whether this root may send a broadcast to each rank directly. Open MPI's nonblocking broadcast does this for up to 4 ranks, and otherwise uses
    /// a binomial tree, in which the first node sends to each rank of up to 3 nodes. In MPICH's tree it sends to one rank on each of as many nodes as
    /// the height of the tree.
    #[must_use]
    pub fn may_broadcast(&self, root: i32) -> bool {
        let (ranks, nodes) = (self.hierarchy.ranks(), self.hierarchy.nodes());
        let Some(root) = usize::try_from(root).ok().filter(|root| *root < ranks) else {
            return false;
        };
        let height = nodes.next_power_of_two().ilog2() as usize;
        ranks - self.hierarchy.beside(root) <= height || (self.open_mpi && (ranks <= 4 || nodes <= 3))
    }

    /// Whether each rank may send to each other rank directly in an all-gather. Open MPI's nonblocking one does this. In MPICH's ring, all blocks but
    /// one leave each node.
    #[must_use]
    pub fn may_gather(&self) -> bool {
        let ranks = self.hierarchy.ranks();
        let leaves_less_often = |rank| {
            let beside = self.hierarchy.beside(rank);
            beside * (ranks - beside) < ranks
        };
        self.open_mpi || (0..ranks).all(leaves_less_often)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For MPICH's and for Open MPI's algorithms: whether a broadcast from rank 0 and an all-gather may be done directly.
    fn both(nodes: &[i32]) -> [(bool, bool); 2] {
        [false, true].map(|open_mpi| {
            let spread = Spread::new(nodes, open_mpi);
            (spread.may_broadcast(0), spread.may_gather())
        })
    }

    #[test]
    fn never_more_often_over_the_network() {
        assert_eq!(both(&[0]), [(true, true); 2]);
        assert_eq!(both(&[0, 0, 0]), [(true, true); 2], "one node");
        assert_eq!(both(&[0, 1]), [(true, true); 2]);
        assert_eq!(both(&[0, 1, 2]), [(true, true); 2]);
        assert_eq!(both(&[0, 0, 1]), [(true, true); 2]);
        assert_eq!(both(&[0, 1, 1]), [(false, true), (true, true)]);
        assert_eq!(both(&[0, 0, 2, 2]), [(false, false), (true, true)]);
        assert_eq!(both(&[0, 1, 2, 3]), [(false, true), (true, true)]);
        assert_eq!(both(&[0, 0, 0, 0, 4, 4, 4, 4]), [(false, false), (true, true)]);
        assert_eq!(both(&[7, 6, 5, 4, 3]), [(false, true); 2]);
        assert!(Spread::new(&[0, 1, 1, 1], false).may_broadcast(2), "one rank elsewhere");
    }

    #[test]
    fn a_message_to_all_leaves_the_node_if_there_is_another() {
        assert_eq!(Spread::new(&[3, 3, 3], true).farthest(), Destination::SameNode);
        assert_eq!(Spread::new(&[0, 0, 2], true).farthest(), Destination::OtherNode);
    }

    #[test]
    fn no_rank_may_not() {
        assert!(!Spread::new(&[0, 1], true).may_broadcast(2));
        assert!(!Spread::new(&[0, 1], true).may_broadcast(-1));
    }
}
