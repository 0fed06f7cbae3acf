//! The combined calls: a receive and a send of the layer, started together, or the MPI's own call with what the layer sends and receives in place of
//! the program's.

use crate::handlers::{recv, send, send::By};
use crate::messages::error::{Error, is_truncation, raise};
use crate::messages::{peers::Peers, posted::Posted, uncompressed, uncompressed::Why, wire::Candidate};
use crate::mpi::{arguments, arguments::Out, open, real, span::Envelope, span::Span, sys::*};
use crate::operations::{active::Active, active::Finish, active::Mode, state::Shim};
use crate::progress;
use mpress::waiting;
use mpress_record::CallKind;
use std::{mem::ManuallyDrop, sync::Arc};

/// What the halves of a call need of us.
struct Halves {
    /// Of the message sent, if it may be sent as a frame; otherwise why it may not, if it is long enough.
    candidate: Result<Candidate, Option<(Why, usize)>>,
    /// Of the receive, if the MPI's own is not sufficient.
    peers: Option<Arc<Peers>>,
}

impl Halves {
    /// `None` if both are left to the MPI: neither is to be done here, as a frame or packed, or the MPI will refuse one. The MPI checks all arguments
    /// before it starts anything, while we may start one half before the other. The communicator of a half that needs nothing of us is valid, since
    /// the other half has the same.
    fn of(shim: &Shim, out: &Envelope, into: &Envelope) -> Option<Self> {
        let (candidate, peers) = (shim.candidate(out), shim.needs_us(into));
        let (sends, receives) = (candidate.is_ok(), peers.is_some());
        let packs = || out.span.bytes().is_some_and(|len| shim.reordered(&out.span, len));
        let is_ours = (sends || receives || packs())
            && (sends || shim.accepts(out, false))
            && (receives || shim.accepts(into, true));
        is_ours.then_some(Self { candidate, peers })
    }
}

/// The message that a call sends, and the one that it receives.
macro_rules! halves {
    ($call:ident) => {{
        let sent = Span::new($call.sendbuf, $call.sendcount, $call.sendtype);
        let received = Span::new($call.recvbuf, $call.recvcount, $call.recvtype);
        (
            Envelope::new(sent, $call.dest, $call.sendtag, $call.comm),
            Envelope::new(received, $call.source, $call.recvtag, $call.comm),
        )
    }};
    ($call:ident, in_place) => {{
        let span = Span::new($call.buf, $call.count, $call.datatype);
        (
            Envelope::new(span, $call.dest, $call.sendtag, $call.comm),
            Envelope::new(span, $call.source, $call.recvtag, $call.comm),
        )
    }};
}

handlers! {
    sendrecv(Sendrecv): |shim, call, pass| blocking(shim, halves!(call), false, call.status, pass);
    sendrecv_replace(Sendrecv_replace): |shim, call, pass| {
        blocking(shim, halves!(call, in_place), true, call.status, pass)
    };
    isendrecv(Isendrecv): |shim, call, pass| nonblocking(shim, halves!(call), false, call.request, pass);
    isendrecv_replace(Isendrecv_replace): |shim, call, pass| {
        nonblocking(shim, halves!(call, in_place), true, call.request, pass)
    };
}

/// Records both halves, and tells the predictor of the receive, if enabled.
fn record(shim: &Shim, out: &Envelope, into: &Envelope) {
    shim.trace(CallKind::Sendrecv, into);
    shim.expect_more(into);
    shim.sample(out, "sendrecv");
}

/// Sendrecv, and with `detached` Sendrecv_replace.
fn blocking(
    shim: &Shim,
    (out, into): (Envelope, Envelope),
    detached: bool,
    status: Out<MPI_Status>,
    pass: impl Fn() -> c_int,
) -> c_int {
    record(shim, &out, &into);
    let Some(halves) = Halves::of(shim, &out, &into) else { return pass() };
    let [out_len, into_len] = [&out, &into].map(|half| half.span.bytes().unwrap_or(0));
    waiting::during_long(&shim.engine, out_len.max(into_len), || {
        let is_long = |len| len >= POSTED_FIRST || shim.engine.chunk(len).is_some();
        if shim.receives_at_once() && !halves.candidate.as_ref().is_ok_and(|out| is_long(out.len)) {
            return in_one_call(shim, halves, (&out, &into), detached, status);
        }
        match start(shim, &out, &into, (detached, true)) {
            Ok((receive, send)) => {
                let (received, sent) = progress::wait_for_both(shim, receive, send, status);
                if received == SUCCESS { sent } else { received }
            }
            Err(error) => raise(into.comm, error),
        }
    })
}

/// A message of this length takes so long to encode that the receive is posted before.
const POSTED_FIRST: usize = 128 << 10;

/// The MPI's own Sendrecv, with our memory in place of the program's where needed. To start and complete two operations takes more calls of the MPI.
fn in_one_call(
    shim: &Shim,
    Halves { candidate, peers }: Halves,
    (out, into): (&Envelope, &Envelope),
    detached: bool,
    status: Out<MPI_Status>,
) -> c_int {
    let comm = into.comm;
    let candidate = uncompressed::noted(candidate);
    // 0 if the message does not go to where frames do.
    let raw_len = candidate.as_ref().map_or(0, |candidate| candidate.len);
    let ready = candidate.and_then(|candidate| shim.frame(&candidate)).or_else(|| shim.packed_wire(out));
    let wire = match ready {
        None if detached && out.peer != PROC_NULL => shim.plain_copy(&out.span).map(Some),
        ready => Ok(ready),
    };
    let posted = |peers| Posted::new(shim, into, peers, true);
    let (wire, posted) = match wire.and_then(|wire| Ok((wire, peers.map(posted).transpose()?))) {
        Ok(both) => both,
        Err(code) => return raise(comm, code),
    };
    // SAFETY: the wire is kept until it has been sent.
    let from = wire.as_ref().map_or(out.span, |wire| unsafe { wire.span() });
    // If the call fails, or an exception or a jump ends it, the MPI may still read the message, which counts as being sent for good.
    let wire = ManuallyDrop::new(wire);
    let exchange = |room: Span, found| {
        let (sent, sent_count, sent_type) = (from.ptr(), from.count(), from.datatype());
        let (place, most, datatype) = (room.ptr(), room.count(), room.datatype());
        let (to, tag, source, wanted) = (out.peer, out.tag, into.peer, into.tag);
        // SAFETY: sends one span and receives into the other. The MPI may call the program's error handler here, hence `open`.
        let code = unsafe {
            open::MPI_Sendrecv_any(
                sent, sent_count, sent_type, to, tag, place, most, datatype, source, wanted, comm, found,
            )
        };
        // MPIs complete the send before they report that the message received was too long.
        if code == SUCCESS || is_truncation(code) {
            match ManuallyDrop::into_inner(wire) {
                Some(wire) if raw_len > 0 => wire.sent(),
                _ => waiting::sent(raw_len),
            }
        }
        code
    };
    match posted {
        // SAFETY: `exchange` receives into the span.
        Some(posted) => unsafe { recv::complete(shim, posted, status, Some(comm), exchange) },
        None => exchange(into.span, status.ptr()),
    }
}

/// Isendrecv, and with `detached` Isendrecv_replace. The program gets the receive's request; a send from our own memory goes on without one.
fn nonblocking(
    shim: &Shim,
    (out, into): (Envelope, Envelope),
    detached: bool,
    request: Out<MPI_Request>,
    pass: impl Fn() -> c_int,
) -> c_int {
    record(shim, &out, &into);
    if Halves::of(shim, &out, &into).is_none() {
        return pass();
    }
    let started = start(shim, &out, &into, (detached, false)).map(|(receive, send)| {
        if matches!(send.finish, Finish::Nothing) {
            return receive.after(send);
        }
        shim.requests.detach(send, true);
        receive
    });
    progress::hand_out(shim, into.comm, started, request)
}

/// Starts both halves. `detached`: the message sent is copied before anything can be received. Nothing bounds these copies; the MPI's own call makes
/// them, too. `blocking`: the call itself reports errors of the receive, otherwise the completion call does.
fn start(
    shim: &Shim,
    out: &Envelope,
    into: &Envelope,
    (detached, blocking): (bool, bool),
) -> Result<(Active, Active), Error> {
    if detached {
        let send = send::begin(shim, Mode::Standard, out, true, By::usual(false))?;
        return match recv::start_any(shim, into, blocking) {
            Ok(receive) => Ok((receive, send)),
            Err(error) => {
                // The MPI still reads the message sent.
                shim.requests.detach(send, true);
                Err(error)
            }
        };
    }
    let receive = recv::start_any(shim, into, blocking)?;
    match send::begin(shim, Mode::Standard, out, false, By::usual(blocking)) {
        Ok(send) => Ok((receive, send)),
        Err(error) => {
            withdraw(shim, receive);
            Err(error)
        }
    }
}

/// Cancels a receive whose other half could not be started: it must not match a later message, nor write to memory that is no longer lent.
fn withdraw(shim: &Shim, mut receive: Active) {
    // SAFETY: our own request.
    unsafe { real::MPI_Cancel(&raw mut receive.operation.request) };
    // An error of the receive has been reported to the handler; the call returns an error of its own.
    progress::wait(shim, receive, Out::IGNORED);
}
