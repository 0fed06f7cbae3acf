//! The combined calls: a receive and a send of the layer, started together.

use crate::handlers::{recv, send, send::By};
use crate::messages::error::{Error, raise};
use crate::mpi::{arguments, arguments::Out, real, span::Envelope, span::Span, sys::*};
use crate::operations::{active::Active, active::Mode, state::Shim};
use crate::progress;
use mpress::waiting;
use mpress_record::CallKind;

/// Whether either half is to be done here, as a frame or packed, and the MPI will refuse neither. The MPI checks all arguments before it starts
/// anything, while we start one half before the other; so calls that it refuses are passed on to it. The communicator of a half that needs nothing of
/// us is valid, since the other half has the same.
fn ours(shim: &Shim, out: &Envelope, into: &Envelope) -> bool {
    let sends = shim.candidate(out).is_ok();
    let receives = into.span.bytes().is_some_and(|len| shim.meets_frames(into, len).is_some());
    let reordered = |half: &&Envelope| half.span.bytes().is_some_and(|len| shim.reordered(&half.span, len));
    let packs = || [out, into].iter().any(reordered);
    (sends || receives || packs())
        && (sends || shim.accepts(out, false))
        && (receives || shim.accepts(into, true))
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
    isendrecv(Isendrecv): |shim, call, pass| nonblocking(shim, halves!(call), call.request, pass);
    isendrecv_replace(Isendrecv_replace): |shim, call, pass| {
        nonblocking(shim, halves!(call, in_place), call.request, pass)
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
    if !ours(shim, &out, &into) {
        return pass();
    }
    waiting::during(&shim.engine, || match start(shim, &out, &into, (detached, true)) {
        Ok((receive, send)) => {
            let (received, sent) = progress::wait_for_both(shim, receive, send, status);
            if received == SUCCESS { sent } else { received }
        }
        Err(error) => raise(into.comm, error),
    })
}

/// Isendrecv and Isendrecv_replace. The program gets the receive's request; the send goes on from a copy.
fn nonblocking(
    shim: &Shim,
    (out, into): (Envelope, Envelope),
    request: Out<MPI_Request>,
    pass: impl Fn() -> c_int,
) -> c_int {
    record(shim, &out, &into);
    if !ours(shim, &out, &into) {
        return pass();
    }
    let started = start(shim, &out, &into, (true, false)).map(|(receive, send)| {
        shim.requests.detach(send, true);
        receive
    });
    progress::hand_out(shim, into.comm, started, request)
}

/// Starts both halves. `detached`: the message sent is copied before anything can be received; `blocking`: the call itself reports errors of the
/// receive, otherwise the completion call does.
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
