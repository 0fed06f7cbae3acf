//! The processes of the job, and the nodes they run on.

use crate::mpi::sys::*;
use mpress::SameNode;

/// The processes of `MPI_COMM_WORLD`, or of a layer's communicator, and the nodes they run on. The table is the same on all ranks.
pub(crate) struct World {
    pub(crate) rank: c_int,
    pub(crate) group: MPI_Group,
    /// For each rank, the lowest rank that shares memory with it.
    pub(crate) nodes: Vec<c_int>,
    /// A number of the nodes and how many ranks each has.
    pub(crate) place: u64,
    pub(crate) same_node: SameNode,
    /// The attribute key under which communicators keep their `Peers`.
    pub(crate) keyval: c_int,
}

impl World {
    /// Whether messages between this process and `rank` of the world may be sent as frames. The result is the same at both ends.
    pub(crate) fn frames_with(&self, rank: c_int) -> bool {
        rank != self.rank && (self.same_node == SameNode::Compress || self.other_node(rank))
    }

    /// Whether frames are exchanged with any rank.
    pub(crate) fn frames_any(&self) -> bool {
        (0..self.nodes.len()).any(|rank| c_int::try_from(rank).is_ok_and(|rank| self.frames_with(rank)))
    }

    /// Number of nodes.
    pub(crate) fn count(&self) -> usize {
        mpress::network::by_node(&self.nodes).len()
    }

    /// Whether `rank` of the world runs on another node than this process.
    pub(crate) fn other_node(&self, rank: c_int) -> bool {
        self.node(rank) != self.node(self.rank)
    }

    /// Frees our MPI objects. Attributes keep their key alive.
    pub(crate) fn free(&self) {
        let (mut group, mut keyval) = (self.group, self.keyval);
        PMPI_Comm_free_keyval(&mut keyval);
        PMPI_Group_free(&mut group);
    }

    pub(crate) fn node(&self, rank: c_int) -> Option<c_int> {
        usize::try_from(rank).ok().and_then(|rank| self.nodes.get(rank)).copied()
    }
}
