//! The send calls, blocking and nonblocking.

mod below;
mod buffers;

pub(crate) use below::start_empty;
#[cfg(shim)]
pub(crate) use buffers::attaching;

use crate::messages::error::{Error, raise};
use crate::messages::streams::Departing;
use crate::messages::uncompressed::{self, Why};
use crate::messages::waiting;
use crate::messages::wire::{Candidate, Raw, Wire};
use crate::mpi::arguments;
use crate::mpi::device;
use crate::mpi::generalized;
use crate::mpi::operation::{Look, look};
use crate::mpi::span::{Envelope, is_tag};
use crate::mpi::sys::*;
use crate::operations::active::{Active, Finish};
use crate::operations::persistent::Mode;
use crate::operations::requests::Awaited;
use crate::operations::state::Shim;
use crate::progress;
use below::{as_is, isend_frame, send_wire};
use mpress::{Destination, FLOOR, Outgoing, Strategy, Tail};
use std::ffi::c_int;
use std::sync::Arc;

/// The handlers of the sends in each mode: the blocking ones, and those that start a request.
macro_rules! sends {
    ($($blocking:ident $Blocking:ident, $nonblocking:ident $Nonblocking:ident: $mode:ident;)*) => {$(
        pub(crate) unsafe fn $blocking(shim: &Shim, call: arguments::$Blocking, pass: impl Fn() -> c_int) -> c_int {
            // SAFETY: the program's own arguments.
            unsafe { blocking(shim, Mode::$mode, call.message(), pass) }
        }

        pub(crate) unsafe fn $nonblocking(
            shim: &Shim,
            call: arguments::$Nonblocking,
            pass: impl Fn() -> c_int,
        ) -> c_int {
            // SAFETY: the program's own arguments.
            unsafe { nonblocking(shim, Mode::$mode, call.message(), call.request, pass) }
        }
    )*};
}

sends! {
    send Send, isend Isend: Standard;
    bsend Bsend, ibsend Ibsend: Buffered;
    ssend Ssend, issend Issend: Synchronous;
    rsend Rsend, irsend Irsend: Ready;
}

unsafe fn blocking(shim: &Shim, mode: Mode, message: Envelope, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { shim.sample(&message, mode.name(true)) };
    let Some(candidate) = shim.frame_of(mode, &message) else {
        // SAFETY: the program's own arguments.
        return unsafe { without_frame(shim, mode, &message, pass) };
    };
    waiting::during_long(&shim.engine, candidate.len, || {
        let meanwhile = || progress::advance_while_encoding(shim);
        let by = By { strategy: shim.strategies.of(message.comm), meanwhile: &meanwhile, waits: true };
        // SAFETY: the program's own arguments; a wire lives until the send returns.
        unsafe {
            let wire = match encoded(shim, mode, &message, &candidate, by) {
                Encoded::Raw => {
                    let code = without_frame(shim, mode, &message, pass);
                    waiting::sent(candidate.len);
                    return code;
                }
                Encoded::Started(Ok(active)) => return progress::wait(shim, *active, STATUS_IGNORE),
                Encoded::Started(Err(error)) => return raise(message.comm, error),
                Encoded::Frame(wire) => wire,
            };
            if mode == Mode::Buffered {
                return send_buffered(shim, wire, &message)
                    .map_or_else(|error| raise(message.comm, error), |()| SUCCESS);
            }
            let code = send_wire(mode, &wire, &message);
            waiting::sent(wire.len());
            code
        }
    })
}

/// Sends a message without a frame: packed here, or unchanged.
unsafe fn without_frame(shim: &Shim, mode: Mode, message: &Envelope, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the caller vouches for the message; a wire lives until the send returns.
    unsafe {
        match shim.packed_wire(message).filter(|_| mode != Mode::Buffered) {
            Some(wire) => send_wire(mode, &wire, message),
            None => pass(),
        }
    }
}

unsafe fn nonblocking(
    shim: &Shim,
    mode: Mode,
    message: Envelope,
    request: *mut MPI_Request,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { shim.sample(&message, mode.name(false)) };
    let candidate = shim.frame_of(mode, &message);
    let meanwhile = || progress::advance_while_encoding(shim);
    // SAFETY: the program's own arguments.
    let started = unsafe {
        candidate
            .and_then(|candidate| {
                let by =
                    By { strategy: shim.strategies.of(message.comm), meanwhile: &meanwhile, waits: false };
                start_encoded(shim, mode, &message, &candidate, by)
            })
            .or_else(|| start_packed(shim, mode, &message))
    };
    match started {
        None => pass(),
        Some(Ok(active)) => {
            // SAFETY: the program's output pointer.
            unsafe { *request = shim.requests.hand_out(active) };
            SUCCESS
        }
        Some(Err(code)) => raise(message.comm, code),
    }
}

/// How a message that may be compressed is sent.
enum Encoded {
    /// Unchanged.
    Raw,
    /// As this frame.
    Frame(Arc<Wire>),
    /// In chunks; it has been started.
    Started(Result<Box<Active>, Error>),
}

/// How a message is encoded.
struct By<'a> {
    /// The strategy of its communicator, if it has its own.
    strategy: Option<Strategy>,
    /// Called between chunks, as encoding takes time.
    meanwhile: &'a dyn Fn(),
    /// Whether the program's call returns only when the message has been sent.
    waits: bool,
}

/// Encodes a message, and starts it if it is sent in chunks.
unsafe fn encoded(shim: &Shim, mode: Mode, message: &Envelope, candidate: &Candidate, by: By<'_>) -> Encoded {
    let By { strategy, meanwhile, waits } = by;
    let len = candidate.len;
    // A buffered send is complete at once, so it would need a copy of the whole message.
    let chunk = shim.engine.chunk(len).filter(|_| mode != Mode::Buffered);
    let Some((chunk, id)) = chunk.and_then(|chunk| Some((chunk, shim.streams.admit(len, waits)?))) else {
        // SAFETY: the caller vouches for the message.
        let frame = unsafe { shim.frame(message, candidate, strategy) };
        return frame.map_or(Encoded::Raw, Encoded::Frame);
    };
    let start = |outgoing, raw: &Raw<'_>| match outgoing {
        Outgoing::Raw => Encoded::Raw,
        Outgoing::Frame(frame) => Wire::new(shim, frame).map_or(Encoded::Raw, Encoded::Frame),
        Outgoing::Stream(head, tail) => {
            let Ok(head) = Wire::new(shim, head) else { return Encoded::Raw };
            // SAFETY: the caller vouches for the message.
            Encoded::Started(
                unsafe { start_stream(shim, message, (head, *tail), raw, (meanwhile, waits)) }.map(Box::new),
            )
        }
    };
    let whole =
        |considered, bytes: &[u8]| start(shim.engine.begin(considered, bytes, id, chunk), &Raw::Bytes(bytes));
    let encode = |considered, raw: Raw<'_>| match &raw {
        Raw::Bytes(bytes) => whole(considered, bytes),
        Raw::Elements(elements) => match shim.engine.begin_pieces(considered, elements, id, chunk) {
            Ok(outgoing) => start(outgoing, &raw),
            Err(considered) => {
                // SAFETY: the caller vouches for the message.
                unsafe { shim.packed(message, len) }.map_or(Encoded::Raw, |packed| whole(considered, &packed))
            }
        },
    };
    // SAFETY: the caller vouches for the message.
    unsafe { shim.encode_raw(message, candidate, strategy, encode) }.unwrap_or(Encoded::Raw)
}

/// Starts a stream. Its head uses a synchronous send: like a long message of the MPI, the rest is not sent before the head is matched.
unsafe fn start_stream(
    shim: &Shim,
    message: &Envelope,
    (head, tail): (Arc<Wire>, Tail),
    raw: &Raw<'_>,
    waiting: (&dyn Fn(), bool),
) -> Result<Active, Error> {
    let peers = shim.peers(message.comm).ok_or(ERR_INTERN)?;
    let dest = peers.world_rank(message.peer);
    // SAFETY: the caller vouches for the message; the stream keeps the head until the request completes.
    let start_head = |head: &Wire| unsafe { isend_frame(Mode::Synchronous, head, message) };
    let (stream, request) = Departing::start(shim, dest, (head, tail), raw, start_head, waiting)?;
    Ok(Active::new(request, Finish::Stream(Box::new(stream))))
}

/// Encodes a message and starts it; `None` if it is better sent unchanged.
unsafe fn start_encoded(
    shim: &Shim,
    mode: Mode,
    message: &Envelope,
    candidate: &Candidate,
    by: By<'_>,
) -> Option<Result<Active, Error>> {
    // SAFETY: the caller vouches for the message.
    unsafe {
        match encoded(shim, mode, message, candidate, by) {
            Encoded::Raw => None,
            Encoded::Frame(wire) => Some(start_wire(shim, mode, wire, message)),
            Encoded::Started(started) => Some(started.map(|active| *active)),
        }
    }
}

impl Shim {
    /// Whether a message in this mode may be sent as a frame. The shim does not send synchronous messages as frames: a probe starts to receive a
    /// frame, and the sender would take the completion of its send as proof that the program has received the message (the NBX algorithm: T.
    /// Hoefler, C. Siebert, A. Lumsdaine, *Scalable Communication Protocols for Dynamic Sparse Data Exchange*, 2010). A layer without the shim
    /// does, since its program asks for compression.
    ///
    /// A message that is long enough, but cannot be one, is counted for the report.
    pub(crate) fn frame_of(&self, mode: Mode, message: &Envelope) -> Option<Candidate> {
        let candidate = self.frame_candidate(mode, message);
        if let Err(Some((why, len))) = candidate {
            uncompressed::message(why, len);
        }
        candidate.ok()
    }

    /// A message that may be sent as a frame: it is long enough, it is in host memory, the other end knows frames, and the MPI will not
    /// refuse the arguments.
    ///
    /// # Errors
    /// Why a message that is long enough cannot be one, and its length in bytes. `None`: it is short, or refused.
    pub(crate) fn frame_candidate(
        &self,
        mode: Mode,
        message: &Envelope,
    ) -> Result<Candidate, Option<(Why, usize)>> {
        let len = message.span.bytes().filter(|&len| len >= FLOOR).ok_or(None)?;
        let is_the_mpis = mode == Mode::Buffered && buffers::are_the_mpis();
        if !is_tag(message.tag) || message.peer < 0 || is_the_mpis {
            return Err(None);
        }
        let peers = self.peers(message.comm).filter(|peers| peers.frames_with(message.peer));
        let peers = peers.ok_or(Some((Why::SameNode, len)))?;
        if self.refused(&message.span) {
            return Err(None);
        }
        if device::is_device(message.span.ptr) {
            return Err(Some((Why::Device, len)));
        }
        if mode == Mode::Synchronous && cfg!(shim) {
            return Err(Some((Why::Synchronous, len)));
        }
        let rank = peers.world_rank(message.peer);
        let to = if self.world.other_node(rank) { Destination::OtherNode } else { Destination::SameNode };
        Ok(Candidate { len, to })
    }
}

/// Starts a send of this mode, as a frame or not. `detached`: the memory of the message may change before it is sent. `waits`: the program's call returns only
/// when it has been sent.
///
/// # Safety
/// `message` must be what the caller of a send function gave.
pub(crate) unsafe fn start(
    shim: &Shim,
    mode: Mode,
    message: &Envelope,
    detached: bool,
    waits: bool,
) -> Result<Active, Error> {
    let meanwhile = || progress::advance_while_encoding(shim);
    let by = || By { strategy: shim.strategies.of(message.comm), meanwhile: &meanwhile, waits };
    // SAFETY: the caller vouches for the message.
    unsafe { start_any(shim, mode, message, detached, by) }
}

/// Starts a send of a collective call, with this strategy if there is one. `meanwhile` is called while it is encoded. `waits`: as for `start`.
///
/// # Safety
/// As for [`start`].
pub(crate) unsafe fn start_by(
    shim: &Shim,
    mode: Mode,
    message: &Envelope,
    detached: bool,
    strategy: Option<Strategy>,
    (meanwhile, waits): (&dyn Fn(), bool),
) -> Result<Active, Error> {
    if shim.records() {
        let dst = shim.all_peers(message.comm).map(|peers| peers.world_rank(message.peer));
        // SAFETY: the caller vouches for the message.
        unsafe { shim.sample_collective(&message.span, dst) };
    }
    // SAFETY: the caller vouches for the message.
    unsafe { start_any(shim, mode, message, detached, || By { strategy, meanwhile, waits }) }
}

unsafe fn start_any<'a>(
    shim: &Shim,
    mode: Mode,
    message: &Envelope,
    detached: bool,
    by: impl FnOnce() -> By<'a>,
) -> Result<Active, Error> {
    // SAFETY: the caller vouches for the message.
    unsafe {
        if let Some(candidate) = shim.frame_of(mode, message)
            && let Some(started) = start_encoded(shim, mode, message, &candidate, by())
        {
            return started;
        }
        if let Some(started) = start_packed(shim, mode, message) {
            return started;
        }
        if detached && message.peer != PROC_NULL {
            let len = message.span.bytes().ok_or(ERR_OTHER)?;
            return isend_wire(mode, shim.plain_copy(message, len)?, message);
        }
        as_is(mode, message)
    }
}

/// Starts sends of one message to several ranks, encoded at most once, and passes each to `started`. `strategy`: that of its communicator,
/// if it has its own.
///
/// # Safety
/// `message` must be what the caller of a send function gave, except for its destination.
pub(crate) unsafe fn start_to_each(
    shim: &Shim,
    message: &Envelope,
    strategy: Option<Strategy>,
    dests: impl Iterator<Item = c_int>,
    mut started: impl FnMut(Result<Active, Error>),
) {
    // SAFETY: the caller vouches for the message.
    unsafe {
        let wire = shim.shared_frame(message, strategy);
        for dest in dests {
            let message = Envelope { peer: dest, ..*message };
            started(match wire.as_ref().filter(|_| shim.frame_candidate(Mode::Standard, &message).is_ok()) {
                Some(wire) => isend_wire(Mode::Standard, Arc::clone(wire), &message),
                None => as_is(Mode::Standard, &message),
            });
        }
    }
}

/// Starts a message without a frame, if it is better packed here.
unsafe fn start_packed(shim: &Shim, mode: Mode, message: &Envelope) -> Option<Result<Active, Error>> {
    if mode == Mode::Buffered {
        return None;
    }
    // SAFETY: the caller vouches for the message; the wire moves into the request's record, and so lives until the request completes.
    unsafe {
        let wire = shim.packed_wire(message)?;
        Some(isend_frame(mode, &wire, message).map(|inner| Active::new(inner, Finish::Packed(wire))))
    }
}

unsafe fn start_wire(shim: &Shim, mode: Mode, wire: Arc<Wire>, message: &Envelope) -> Result<Active, Error> {
    // SAFETY: the caller vouches for the message.
    unsafe {
        if mode == Mode::Buffered {
            send_buffered(shim, wire, message)?;
            return Ok(Active::new(generalized::completed(None)?, Finish::Nothing));
        }
        isend_wire(mode, wire, message)
    }
}

/// A buffered send completes at once, whether or not it is matched: it goes on without a request of the program.
unsafe fn send_buffered(shim: &Shim, wire: Arc<Wire>, message: &Envelope) -> Result<(), Error> {
    // SAFETY: the caller vouches for the message; the wire does not depend on it.
    let active = unsafe { isend_wire(Mode::Standard, wire, message)? };
    shim.requests.detach(active, Awaited::AtDetach);
    Ok(())
}

unsafe fn isend_wire(mode: Mode, wire: Arc<Wire>, message: &Envelope) -> Result<Active, Error> {
    // SAFETY: the wire moves into the request's record, and so lives until the request completes.
    let inner = unsafe { isend_frame(mode, &wire, message)? };
    // A short send may be complete at once, with a handle that many requests share.
    let finish = if matches!(look(inner), Look::Complete(_)) { Finish::Nothing } else { Finish::Send(wire) };
    Ok(Active::new(inner, finish))
}
