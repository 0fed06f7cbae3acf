//! What must be known about the job and the MPI to encode, send, receive and decode messages; complete after `MPI_Init`.

use crate::messages::{
    agreed::Private, datatypes::Datatypes, receive_memory::ReceiveMemory, recorder::Recorder,
    streams::Streams, world::World,
};
use crate::mpi::{family::Family, sys::*};
use mpress::report::Ahead;
use mpress::{Engine, Pending, Reduce, Strategy};
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
