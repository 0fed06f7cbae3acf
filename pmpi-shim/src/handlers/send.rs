//! The send calls, blocking and nonblocking.

use crate::messages::error::{Error, called, raise};
use crate::messages::wire::{Candidate, Raw, Wire};
use crate::messages::{streams::Departing, uncompressed, uncompressed::Why};
use crate::mpi::{arguments, arguments::Out, operation::Look, operation::look, real, span::Envelope, sys::*};
use crate::operations::active::{Active, Finish, Started};
use crate::operations::{active::Mode, state::Shim};
use crate::progress;
use mpress::{Destination, Outgoing, Strategy, Tail, waiting};
use std::sync::Arc;

handlers! {
    send(Send): |shim, call, pass| blocking(shim, Mode::Standard, call.message(), pass);
    bsend(Bsend): |shim, call, pass| blocking(shim, Mode::Buffered, call.message(), pass);
    ssend(Ssend): |shim, call, pass| blocking(shim, Mode::Synchronous, call.message(), pass);
    rsend(Rsend): |shim, call, pass| blocking(shim, Mode::Ready, call.message(), pass);
    isend(Isend): |shim, call, pass| nonblocking(shim, Mode::Standard, call.message(), call.request, pass);
    ibsend(Ibsend): |shim, call, pass| nonblocking(shim, Mode::Buffered, call.message(), call.request, pass);
    issend(Issend): |shim, call, pass| nonblocking(shim, Mode::Synchronous, call.message(), call.request, pass);
    irsend(Irsend): |shim, call, pass| nonblocking(shim, Mode::Ready, call.message(), call.request, pass);
}

fn blocking(shim: &Shim, mode: Mode, message: Envelope, pass: impl Fn() -> c_int) -> c_int {
    shim.sample(&message, mode.name(true));
    let candidate = shim.frame_of(mode, &message);
    let len = candidate.as_ref().map_or(0, |candidate| candidate.len);
    waiting::during_long(&shim.engine, len, || {
        match start_here(shim, mode, &message, candidate, By::usual(true), send_wire) {
            None => {
                let code = pass();
                waiting::sent(len);
                code
            }
            Some(Ok(active)) if active.operation.request == REQUEST_NULL => SUCCESS,
            Some(Ok(active)) => progress::wait(shim, active, Out::IGNORED),
            Some(Err(error)) => raise(message.comm, error),
        }
    })
}

fn nonblocking(
    shim: &Shim,
    mode: Mode,
    message: Envelope,
    request: Out<MPI_Request>,
    pass: impl Fn() -> c_int,
) -> c_int {
    shim.sample(&message, mode.name(false));
    let candidate = shim.frame_of(mode, &message);
    match start_here(shim, mode, &message, candidate, By::usual(false), isend_wire) {
        None => pass(),
        Some(started) => progress::hand_out(shim, message.comm, started, request),
    }
}

/// How a message is encoded.
#[derive(Clone, Copy)]
pub(crate) struct By<'a> {
    /// In place of the strategy of its communicator.
    pub(crate) strategy: Option<Strategy>,
    /// Called between chunks, as encoding takes time.
    pub(crate) meanwhile: &'a dyn Fn(),
    /// Whether the program's call returns only when the message has been sent.
    pub(crate) waits: bool,
}

impl By<'_> {
    pub(crate) fn usual(waits: bool) -> Self {
        Self { strategy: None, meanwhile: &|| (), waits }
    }
}

/// Sends our memory in place of a message.
type SendWire = fn(Mode, Arc<Wire>, &Envelope) -> Started;

/// Starts a message in a frame, in chunks, or packed; `None` if it is better sent unchanged.
fn start_here(
    shim: &Shim,
    mode: Mode,
    message: &Envelope,
    candidate: Option<Candidate>,
    by: By<'_>,
    send: SendWire,
) -> Option<Started> {
    if let Some(candidate) = candidate
        && let Some(started) = start_encoded(shim, mode, &candidate.by(by.strategy), by, send)
    {
        return Some(started);
    }
    let packed = shim.packed_wire(message).filter(|_| mode != Mode::Buffered)?;
    Some(send(mode, packed, message))
}

/// Encodes a message and starts it; `None` if it is better sent unchanged.
fn start_encoded(
    shim: &Shim,
    mode: Mode,
    candidate: &Candidate,
    by: By<'_>,
    send: SendWire,
) -> Option<Started> {
    let (len, message) = (candidate.len, &candidate.message);
    let start_frame = |frame| send(mode, frame, message);
    let Some(id) = shim.engine.chunk(len).and_then(|_| shim.streams.admit(len, by.waits)) else {
        return shim.frame(candidate).map(start_frame);
    };
    let start = |outgoing, raw: &Raw<'_>| match outgoing {
        Outgoing::Raw => None,
        Outgoing::Frame(frame) => Some(start_frame(Wire::new(shim, frame).ok()?)),
        Outgoing::Stream(head, tail) => {
            let head = Wire::new(shim, head).ok()?;
            Some(start_stream(shim, candidate, (head, *tail), raw, by))
        }
    };
    let whole =
        |considered, bytes: &[u8]| start(shim.engine.begin(considered, bytes, id, None), &Raw::Bytes(bytes));
    let encode = |considered, raw: Raw<'_>| match &raw {
        Raw::Bytes(bytes) => whole(considered, bytes),
        Raw::Elements(elements) => match shim.engine.begin_pieces(considered, elements, id, None) {
            Ok(outgoing) => start(outgoing, &raw),
            Err(considered) => whole(considered, &shim.packed(&message.span, len).ok()?),
        },
    };
    shim.encode(candidate, encode)?
}

/// Starts a stream. Its head uses a synchronous send: like a long message of the MPI, the rest is not sent before the head is matched.
fn start_stream(
    shim: &Shim,
    candidate: &Candidate,
    (head, tail): (Arc<Wire>, Tail),
    raw: &Raw<'_>,
    by: By<'_>,
) -> Started {
    let meanwhile = || {
        (by.meanwhile)();
        progress::advance_while_encoding(shim);
    };
    let start_head = |head: &Wire| {
        // SAFETY: the stream keeps the head until the request completes.
        let span = unsafe { head.span() };
        mpi_isend(Mode::Synchronous, &Envelope { span, ..candidate.message })
    };
    let (stream, request) =
        Departing::start(shim, candidate.dest, (head, tail), raw, start_head, (&meanwhile, by.waits))?;
    Ok(Active::new(request, Finish::Stream(Box::new(stream))))
}

impl Shim {
    /// Whether a message in this mode may be sent as a frame. The shim does not send synchronous messages as frames: a probe starts to receive a
    /// frame, and the sender would take the completion of its send as proof that the program has received the message (the NBX algorithm: T. Hoefler,
    /// C. Siebert, A. Lumsdaine, *Scalable Communication Protocols for Dynamic Sparse Data Exchange*, 2010). A layer without the shim does, since its
    /// program asks for compression. Buffered ones are in the program's buffer until the MPI has sent them, so they are left there.
    ///
    /// A message that is long enough, but cannot be one, is counted for the report.
    pub(crate) fn frame_of(&self, mode: Mode, message: &Envelope) -> Option<Candidate> {
        uncompressed::noted(self.frame_candidate(mode, message))
    }

    /// The same, or why a message that is long enough cannot be one, and its length in bytes.
    pub(crate) fn frame_candidate(
        &self,
        mode: Mode,
        message: &Envelope,
    ) -> Result<Candidate, Option<(Why, usize)>> {
        let candidate = self.candidate(message)?;
        match mode {
            Mode::Synchronous if cfg!(shim) => Err(Some((Why::Synchronous, candidate.len))),
            Mode::Buffered => Err(Some((Why::Buffered, candidate.len))),
            _ => Ok(candidate),
        }
    }
}

/// Starts a send of this mode, as a frame or not. `detached`: the memory of the message may change before it is sent.
pub(crate) fn begin(shim: &Shim, mode: Mode, message: &Envelope, detached: bool, by: By<'_>) -> Started {
    if let Some(started) = start_here(shim, mode, message, shim.frame_of(mode, message), by, isend_wire) {
        return started;
    }
    if detached && message.peer != PROC_NULL {
        return isend_wire(mode, shim.plain_copy(&message.span)?, message);
    }
    as_is(mode, message)
}

/// Starts sends of one message to several ranks, the farthest of them at `to`, encoded at most once, and passes each to `started`. `strategy`: that
/// of its communicator, if it has its own.
pub(crate) fn start_to_each(
    shim: &Shim,
    message: &Envelope,
    (to, strategy): (Destination, Option<Strategy>),
    dests: impl Iterator<Item = c_int>,
    mut started: impl FnMut(Started),
) {
    let wire = shim.shared_frame(message, to, strategy);
    for dest in dests {
        let message = Envelope { peer: dest, ..*message };
        started(match wire.as_ref().filter(|_| shim.candidate(&message).is_ok()) {
            Some(wire) => isend_wire(Mode::Standard, Arc::clone(wire), &message),
            None => as_is(Mode::Standard, &message),
        });
    }
}

/// Sends our memory in place of the message, in one blocking call. So the MPI reports an error to the program's own communicator; MPICH reports
/// errors of requests to another one. The returned request is null.
fn send_wire(mode: Mode, wire: Arc<Wire>, message: &Envelope) -> Started {
    let Envelope { peer, tag, comm, .. } = *message;
    let send = match mode {
        Mode::Standard | Mode::Buffered => real::MPI_Send_any,
        Mode::Synchronous => real::MPI_Ssend_any,
        Mode::Ready => real::MPI_Rsend_any,
    };
    // SAFETY: the wire lives until the call returns.
    called(unsafe {
        let span = wire.span();
        send(span.ptr(), span.count(), span.datatype(), peer, tag, comm)
    })?;
    wire.sent();
    Ok(Active::new(REQUEST_NULL, Finish::Nothing))
}

/// Starts a send of our memory in place of the message.
fn isend_wire(mode: Mode, wire: Arc<Wire>, message: &Envelope) -> Started {
    // SAFETY: the wire moves into the request's record, and so lives until the request completes.
    let inner = mpi_isend(mode, &Envelope { span: unsafe { wire.span() }, ..*message })?;
    // A short send may be complete at once, with a handle that many requests share.
    let finish = if matches!(look(inner), Look::Complete(_)) { Finish::Nothing } else { Finish::Send(wire) };
    Ok(Active::new(inner, finish))
}

/// Starts a send of the message unchanged.
pub(crate) fn as_is(mode: Mode, message: &Envelope) -> Started {
    Ok(Active::new(mpi_isend(mode, message)?, Finish::Nothing))
}

/// The MPI's own nonblocking send.
fn mpi_isend(mode: Mode, message: &Envelope) -> Result<MPI_Request, Error> {
    let Envelope { span, peer, tag, comm } = *message;
    let mut inner = REQUEST_NULL;
    let start = match mode {
        Mode::Standard => real::MPI_Isend_any,
        Mode::Synchronous => real::MPI_Issend_any,
        Mode::Ready => real::MPI_Irsend_any,
        Mode::Buffered => real::MPI_Ibsend_any,
    };
    let (ptr, count, datatype) = (span.ptr(), span.count(), span.datatype());
    // SAFETY: the span's own promise, and a valid output pointer.
    called(unsafe { start(ptr, count, datatype, peer, tag, comm, &raw mut inner) })?;
    Ok(inner)
}
