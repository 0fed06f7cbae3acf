//! The operation that each start of a persistent request begins.

use crate::messages::{peers::Origin, recorder::Receive};
use crate::mpi::span::{Envelope, OwnedType};

/// The send modes of MPI.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Standard,
    Synchronous,
    Ready,
    Buffered,
}

impl Mode {
    /// The name of the call, as used in samples of messages.
    pub(crate) fn name(self, blocking: bool) -> &'static str {
        let names = if blocking {
            ["send", "ssend", "rsend", "bsend"]
        } else {
            ["isend", "issend", "irsend", "ibsend"]
        };
        names[self as usize]
    }
}

/// The operation that each start of a persistent request begins.
pub(crate) struct Template {
    pub(crate) action: Action,
    pub(crate) message: Envelope,
    /// Its communicator, which the program may free and still start the request.
    pub(crate) origin: Origin,
    /// A reference to the datatype, which the program may free and still start the request.
    pub(crate) _datatype: Option<OwnedType>,
    /// What is recorded of each start.
    pub(crate) traced: Option<Receive>,
}

/// The operations of persistent requests.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    Send(Mode),
    Receive,
}
