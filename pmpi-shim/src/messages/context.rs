//! What must be known about the job, its ranks and the MPI to encode, send, receive and decode messages; complete after `MPI_Init`.

use crate::messages::{
    agreed::Private, datatypes::Datatypes, receive_memory::ReceiveMemory, recorder::Recorder,
    streams::Streams,
};
use crate::mpi::{family::Family, sys::*};
use mpress::{Engine, Pending, Reduce, SameNode, Strategy, report::Ahead};
use std::sync::{Arc, Mutex};

/// That knowledge, and the memory of pending receives.
pub struct Context {
    pub(crate) engine: Engine,
    pub(crate) world: World,
    pub(crate) datatypes: Datatypes,
    /// A communicator of this process alone, for messages to ourselves. Its error handler returns errors.
    pub(crate) own_comm: MPI_Comm,
    /// Held while a message to ourselves is pending, so that threads do not receive each other's.
    pub(crate) own_turn: Mutex<()>,
    /// Held while the peers of a communicator are determined.
    pub(crate) peers_turn: Mutex<()>,
    /// 2^30 bytes as one datatype: counts are `int`, but messages may be longer.
    pub(crate) gibibyte: MPI_Datatype,
    pub(crate) receive_memory: Arc<ReceiveMemory>,
    /// The communicator for messages of collectives and streams.
    pub(crate) private: Private,
    pub(crate) pending: Pending,
    /// The bytes of our own buffers that posted receives may fill.
    pub(crate) received: Pending,
    pub(crate) streams: Arc<Streams>,
    /// Shorter messages are not compressed.
    pub(crate) threshold: usize,
    /// The strategy of the job, which communicators may override.
    pub(crate) strategy: Strategy,
    pub(crate) reduce: Reduce,
    /// Whether several threads may call the MPI at the same time.
    pub(crate) multiple: bool,
    pub(crate) family: Family,
    /// Statistics of prefetched messages.
    pub(crate) ahead: Ahead,
    /// Records the program's calls, if the settings ask for it.
    pub(crate) recorder: Option<Recorder>,
    /// The error code of a damaged frame, of class `MPI_ERR_OTHER`.
    pub(crate) damaged: c_int,
}

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
        // SAFETY: our own, freed at the end.
        unsafe { (PMPI_Comm_free_keyval(&raw mut keyval), PMPI_Group_free(&raw mut group)) };
    }

    pub(crate) fn node(&self, rank: c_int) -> Option<c_int> {
        usize::try_from(rank).ok().and_then(|rank| self.nodes.get(rank)).copied()
    }
}
