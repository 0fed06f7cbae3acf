//! What a compressed communicator knows: the engine, and who is reached through frames.

use crate::error::{Error, Result, ok};
use crate::span::{Bytes, Span};
use mpi::Rank;
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;
use mpress::{Buffer, Destination, Engine, FLOOR, Spread};
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Collective operations with fewer bytes for each rank are the MPI's: it has algorithms for short messages that take fewer
/// steps, and an exchange of lengths would cost more than it gains.
const COLLECTIVE_FLOOR: usize = 16 << 10;

/// Shared by a communicator and its requests.
pub(crate) struct Context {
    pub(crate) engine: Engine,
    pub(crate) peers: Peers,
    /// For the messages that collective operations are made of: they never meet those of the program.
    pub(crate) channel: Own,
    /// A duplicate of `MPI_COMM_SELF`, for messages to ourselves.
    own: Own,
    /// Held while a message to ourselves is under way, so that two threads do not take each other's.
    own_turn: Mutex<()>,
}

/// A communicator of ours.
pub(crate) struct Own(pub(crate) SimpleCommunicator);

// SAFETY: a handle, which is a plain value; the MPI lets any thread use and free it that may call the MPI at all.
unsafe impl Send for Own {}
// SAFETY: as above; nothing changes it while it is shared.
unsafe impl Sync for Own {}

/// With whom frames are exchanged. Every rank has the same table of nodes, so both ends come to the same answer.
pub(crate) struct Peers {
    /// By rank; empty where frames are not used at all.
    pub(crate) framed: Box<[bool]>,
    /// By rank, whether it is on another node.
    pub(crate) other_node: Box<[bool]>,
    /// Whether any two ranks exchange frames, which may be others than this one.
    pub(crate) anyone: bool,
    pub(crate) spread: Spread,
}

impl Peers {
    /// Whether messages to or from this rank may go in frames. `MPI_ANY_SOURCE` counts as long as anyone does.
    pub(crate) fn framed(&self, rank: Rank) -> bool {
        match usize::try_from(rank) {
            Ok(rank) => self.framed.get(rank).is_some_and(|&framed| framed),
            // SAFETY: a constant of the MPI.
            Err(_) => rank == unsafe { ffi::RSMPI_ANY_SOURCE } && self.framed.contains(&true),
        }
    }

    fn destination(&self, rank: Rank) -> Destination {
        let other = usize::try_from(rank).ok().and_then(|rank| self.other_node.get(rank));
        if other == Some(&true) { Destination::OtherNode } else { Destination::SameNode }
    }
}

impl Context {
    pub(crate) fn new(engine: Engine, peers: Peers, channel: SimpleCommunicator) -> Result<Self> {
        // SAFETY: a constant of the MPI.
        let mut own = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: a local call with a place for the answer, which is a new communicator.
        let own = unsafe {
            ok(ffi::MPI_Comm_dup(ffi::RSMPI_COMM_SELF, &raw mut own))?;
            <SimpleCommunicator as mpi::raw::FromRaw>::from_raw(own)
        };
        Ok(Self { engine, peers, channel: Own(channel), own: Own(own), own_turn: Mutex::new(()) })
    }

    /// A call of the MPI that waited for a frame of so many bytes to go out, or to come in, began at `start`, and is over.
    pub(crate) fn waited(&self, sent: usize, received: usize, start: Option<Instant>) {
        if let Some(start) = start.filter(|_| Engine::counts(sent.max(received))) {
            self.engine.waited(sent, received, start.elapsed());
        }
    }

    /// How many ranks there are.
    pub(crate) fn ranks(&self) -> usize {
        usize::try_from(self.channel.0.size()).unwrap_or(0)
    }

    /// Whether a collective operation with so many bytes for each rank is worth compressing. All ranks must give the same length,
    /// and come to the same answer.
    pub(crate) fn collective(&self, len: usize) -> bool {
        self.peers.anyone && len >= COLLECTIVE_FLOOR
    }

    /// The frame of a message for this rank; `None` if it goes as it is.
    ///
    /// # Safety
    /// The elements must be initialised and not change meanwhile.
    pub(crate) unsafe fn frame(&self, span: &Span, rank: Rank) -> Option<Buffer> {
        if span.len() < FLOOR || !self.peers.framed(rank) {
            return None;
        }
        // SAFETY: the caller vouches for the elements.
        unsafe { self.encode(span, self.peers.destination(rank)) }
    }

    /// The frame of a message for many ranks, some of which are on other nodes.
    ///
    /// # Safety
    /// As for [`frame`](Self::frame).
    pub(crate) unsafe fn frame_for_many(&self, span: &Span) -> Option<Buffer> {
        if span.len() < FLOOR || !self.peers.anyone {
            return None;
        }
        // SAFETY: the caller vouches for the elements.
        unsafe { self.encode(span, Destination::OtherNode) }
    }

    /// The frame of a message, wherever it goes.
    ///
    /// # Safety
    /// As for [`frame`](Self::frame).
    pub(crate) unsafe fn encode(&self, span: &Span, to: Destination) -> Option<Buffer> {
        let kind = span.kind.unwrap_or(mpress::Kind::Other);
        let considered = self.engine.consider(None, kind, to, span.len())?;
        // SAFETY: the caller vouches for the elements.
        let frame = match unsafe { span.bytes() } {
            Some(raw) => self.engine.encode_considered(considered, raw),
            None => self.engine.encode_considered(considered, &self.pack(span).ok()?),
        };
        // The MPI counts in `int`.
        frame.filter(|frame| c_int::try_from(frame.len()).is_ok())
    }

    /// An empty buffer with so much room.
    pub(crate) fn buffer(&self, room: usize) -> Result<Buffer> {
        self.engine.buffer(room).ok_or(Error::Memory(room))
    }

    /// The elements one behind the other.
    pub(crate) fn pack(&self, span: &Span) -> Result<Buffer> {
        let mut buffer = self.buffer(span.len())?;
        buffer.set_len(span.len());
        let bytes = Bytes::new(span.len())?;
        self.to_ourselves(
            (span.ptr, span.count, span.datatype),
            (buffer.as_mut_ptr().cast(), bytes.count, bytes.datatype),
        )?;
        Ok(buffer)
    }

    /// The reverse: puts bytes into the elements, as many as there are.
    pub(crate) fn unpack(&self, bytes: &[u8], span: &Span) -> Result<()> {
        let count = Bytes::new(bytes.len())?;
        self.to_ourselves(
            (bytes.as_ptr().cast_mut().cast(), count.count, count.datatype),
            (span.ptr, span.count, span.datatype),
        )
    }

    /// Copies from one layout to another, which only the MPI knows: by a message to ourselves.
    fn to_ourselves(&self, from: Elements, to: Elements) -> Result<()> {
        let _turn = self.own_turn.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: callers give memory that has the elements, and that nothing else uses meanwhile.
        unsafe {
            ok(ffi::MPI_Sendrecv(
                from.0,
                from.1,
                from.2,
                0,
                0,
                to.0,
                to.1,
                to.2,
                0,
                0,
                self.own.0.as_raw(),
                ffi::RSMPI_STATUS_IGNORE,
            ))
        }
    }
}

/// The time, if a message of at most so many bytes is one whose waiting counts. Short ones have no time to lose.
pub(crate) fn clock(len: usize) -> Option<Instant> {
    Engine::counts(len).then(Instant::now)
}

/// Address, count and datatype.
type Elements = (*mut c_void, c_int, ffi::MPI_Datatype);
