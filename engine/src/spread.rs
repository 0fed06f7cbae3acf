//! Which collective operations need not be left to the MPI although it cannot be known beforehand what gets shorter: those that can be
//! made of messages from where the data is to all who want it, without leaving a node more often than in the MPI's own algorithm.

use crate::hierarchy::Hierarchy;

/// How the ranks of a communicator are spread over nodes.
#[derive(Clone, Debug)]
pub struct Spread {
    hierarchy: Hierarchy,
    open_mpi: bool,
}

impl Spread {
    /// `nodes`: for each rank, what its node is called. `open_mpi`: whether the MPI is Open MPI; MPICH's algorithms leave a node
    /// less often. Which they are was counted in the traffic of Open MPI 4.1 and MPICH 4.0.
    #[must_use]
    pub fn new(nodes: &[i32], open_mpi: bool) -> Self {
        Self { hierarchy: Hierarchy::new(nodes), open_mpi }
    }

    /// Who shares a node with whom.
    #[must_use]
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Whether this root may send a broadcast to each rank itself. Open MPI's nonblocking broadcast does so up to 4 ranks, and then
    /// has a binomial tree in which the first node sends to each rank of up to 3 nodes. By MPICH's tree it sends to one rank of as
    /// many nodes as the tree is high.
    #[must_use]
    pub fn may_broadcast(&self, root: i32) -> bool {
        let (ranks, nodes) = (self.hierarchy.ranks(), self.hierarchy.nodes());
        let Some(root) = usize::try_from(root).ok().filter(|root| *root < ranks) else {
            return false;
        };
        let height = nodes.next_power_of_two().ilog2() as usize;
        ranks - self.hierarchy.beside(root) <= height || (self.open_mpi && (ranks <= 4 || nodes <= 3))
    }

    /// Whether in an all-gather each rank may send to each other one itself. So does Open MPI's nonblocking one. By MPICH's ring all
    /// blocks but one leave each node.
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

    /// By MPICH's and by Open MPI's algorithms: whether a broadcast from rank 0 and an all-gather may go directly.
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
    fn no_rank_may_not() {
        assert!(!Spread::new(&[0, 1], true).may_broadcast(2));
        assert!(!Spread::new(&[0, 1], true).may_broadcast(-1));
    }
}
