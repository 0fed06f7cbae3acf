//! The processes of the job, and the nodes they run on.

use crate::sys::*;
use mpress::SameNode;
use std::ffi::c_int;

/// The processes of `MPI_COMM_WORLD`, or of a layer's one communicator, and the nodes they run on. Every rank has the same table.
pub(crate) struct World {
    pub(crate) rank: c_int,
    pub(crate) group: MPI_Group,
    /// For each rank, the lowest rank that shares memory with it.
    pub(crate) nodes: Vec<c_int>,
    pub(crate) same_node: SameNode,
    /// The attribute key under which a communicator keeps its `Peers`.
    pub(crate) keyval: c_int,
}

impl World {
    /// Whether messages between this process and `rank` of the world may go in frames. Both ends come to the same answer.
    pub(crate) fn frames_with(&self, rank: c_int) -> bool {
        rank != self.rank && (self.same_node == SameNode::Compress || self.other_node(rank))
    }

    /// Whether there is anyone to exchange frames with.
    pub(crate) fn frames_any(&self) -> bool {
        (0..self.nodes.len()).any(|rank| c_int::try_from(rank).is_ok_and(|rank| self.frames_with(rank)))
    }

    /// How many nodes there are.
    pub(crate) fn count(&self) -> usize {
        self.by_node().len()
    }

    /// The ranks of each node, in their order.
    pub(crate) fn by_node(&self) -> Vec<Vec<c_int>> {
        let of_mpi = |rank: usize| c_int::try_from(rank).ok();
        let nodes = mpress::network::by_node(&self.nodes).into_iter();
        nodes.map(|ranks| ranks.into_iter().filter_map(of_mpi).collect()).collect()
    }

    /// Whether `rank` of the world runs on another node than this process.
    pub(crate) fn other_node(&self, rank: c_int) -> bool {
        self.node(rank) != self.node(self.rank)
    }

    /// Gives the MPI its objects back. Attributes under the key keep it alive as long as they live.
    pub(crate) fn free(&self) {
        let (mut group, mut keyval) = (self.group, self.keyval);
        // SAFETY: handles of ours that are no longer used.
        unsafe {
            PMPI_Comm_free_keyval(&raw mut keyval);
            PMPI_Group_free(&raw mut group);
        }
    }

    pub(crate) fn node(&self, rank: c_int) -> Option<c_int> {
        usize::try_from(rank).ok().and_then(|rank| self.nodes.get(rank)).copied()
    }
}
