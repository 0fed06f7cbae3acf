//! Mprobe, Improbe, Mrecv and Imrecv. A message that may be a frame is received before a matched probe reports it, because its length is unknown
//! until then. The program gets the handle of an empty message that the rank has sent to itself.

use crate::handlers::probe::{find, tell, wait_for};
use crate::handlers::recv;
use crate::messages::error::{Error, called, raise};
use crate::messages::{peers::Peers, posted::Posted};
use crate::mpi::span::{Envelope, Span, received_bytes};
use crate::mpi::{arguments, arguments::Out, channel::match_one, family::Family, open, real, sys::*};
use crate::operations::active::{Active, Finish, Started};
use crate::operations::{state::Shim, unexpected::Taken, unexpected::message::Unreceived};
use crate::progress;
use mpress::SHORTEST;
use mpress_record::CallKind;
use std::{ptr, sync::Arc};

/// The tag of empty messages to ourselves. Messages to ourselves that copy data use 0.
const STAND_IN: c_int = 1;

handlers! {
    mprobe(Mprobe): |shim, call, pass| {
        let of = Match { source: call.source, tag: call.tag, comm: call.comm };
        let code = match shim.probe_peers(of) {
            None => pass(),
            Some(peers) => {
                shim.expect_after(of, true);
                wait_for(shim, of.comm, |block| take(shim, &peers, of, block), |(handle, seen)| {
                    call.message.set(handle);
                    call.status.store(&seen);
                })
            }
        };
        if code == SUCCESS {
            shim.trace_matched(of, call.message.get());
        }
        code
    };
    improbe(Improbe): |shim, call, pass| {
        let of = Match { source: call.source, tag: call.tag, comm: call.comm };
        let code = match shim.probe_peers(of) {
            None => pass(),
            Some(peers) => tell(call.flag, of.comm, take(shim, &peers, of, false), |(handle, seen)| {
                shim.expect_after(of, true);
                call.message.set(handle);
                call.status.store(&seen);
            }),
        };
        if code == SUCCESS && call.flag.get() != 0 {
            shim.trace_matched(of, call.message.get());
        }
        code
    };
    mrecv(Mrecv): |shim, call, pass| {
        let arguments::Mrecv { buf, count, datatype, message, status } = call;
        let span = Span::new(buf, count, datatype);
        shim.trace_matched_receive(CallKind::Recv, &span, message.get());
        let received = |comm, started: Started| {
            started.map_or_else(|error| raise(comm, error), |active| progress::wait(shim, active, status))
        };
        let left = |_, posted: Posted| {
            recv::complete(shim, posted, status, None, |into, found| {
                open::MPI_Mrecv_any(into.ptr(), into.count(), into.datatype(), message.ptr(), found)
            })
        };
        receive(shim, span, message, pass, received, left)
    };
    imrecv(Imrecv): |shim, call, pass| {
        let arguments::Imrecv { buf, count, datatype, message, request } = call;
        let span = Span::new(buf, count, datatype);
        shim.trace_matched_receive(CallKind::Irecv, &span, message.get());
        let received = |comm, started| progress::hand_out(shim, comm, started, request);
        let left = |comm, posted: Posted| {
            let (into, mut inner) = (posted.span(), REQUEST_NULL);
            let (buf, count, datatype) = (into.ptr(), into.count(), into.datatype());
            // The MPI may call the program's handler, whose calls come back here.
            let started = called(open::MPI_Imrecv_any(buf, count, datatype, message.ptr(), &raw mut inner));
            received(comm, started.map(|()| Active::new(inner, Finish::Receive(Box::new(posted)))))
        };
        receive(shim, span, message, pass, received, left)
    };
}

/// The program's handle of a message, and its status.
type Handed = (MPI_Message, MPI_Status);

/// Matches a message now, or, with `block`, as soon as there is one.
fn take(shim: &Shim, peers: &Arc<Peers>, of: Match, block: bool) -> Result<Option<Handed>, Error> {
    while let Some(mut first) = find(shim, peers, of, block)? {
        let its = Match { source: first.status.MPI_SOURCE, tag: first.status.MPI_TAG, ..of };
        if first.is_here {
            let unreceived = first.unexpected.take(its).ok_or(ERR_INTERN)?;
            drop(first.unexpected);
            return Ok(Some(hand_out(shim, unreceived, first.status)?));
        }
        if let Some((message, status)) = match_one(its).map_err(Error::raised)? {
            leave(shim, peers, of.comm, message, &status);
            return Ok(Some((message, status)));
        }
    }
    Ok(None)
}

/// The program's handle for a message that the MPI has matched, and its status. For a program whose other calls do not look into the unexpected
/// queue: only this message is taken from the MPI. If it may be a frame, waits until its length is known.
#[cfg(not(shim))]
pub(crate) fn hand_out_alone(
    shim: &Shim,
    peers: &Arc<Peers>,
    comm: MPI_Comm,
    (message, status): Handed,
) -> Result<Handed, c_int> {
    let mut unreceived = Unreceived::matched(comm, peers, message, &status);
    let seen = progress::until(shim, || unreceived.look(shim).transpose()).map_err(Error::code)?;
    hand_out(shim, unreceived, seen)
}

/// The program's handle for a message from the unexpected queue.
fn hand_out(shim: &Shim, unreceived: Unreceived, seen: MPI_Status) -> Result<Handed, c_int> {
    let Some(message) = unreceived.message() else { return Ok((stand_in(shim, unreceived)?, seen)) };
    leave(shim, &unreceived.peers, unreceived.comm, message, &seen);
    Ok((message, seen))
}

/// Leaves the message with the MPI; the program gets the MPI's handle.
fn leave(shim: &Shim, peers: &Arc<Peers>, comm: MPI_Comm, message: MPI_Message, status: &MPI_Status) {
    if peers.may_be_damaged_frame(status, received_bytes(status)) {
        shim.matched.put(message, Taken::Left { comm, peers: Arc::clone(peers) });
    }
}

/// Makes a message handle for a message that has been received.
fn stand_in(shim: &Shim, unreceived: Unreceived) -> Result<MPI_Message, c_int> {
    let _turn = crate::locked(&shim.own_turn);
    let (mut request, mut handle, mut status) = (REQUEST_NULL, MESSAGE_NULL, empty_status());
    // SAFETY: an empty message from this process to itself; this communicator and tag have no other use.
    unsafe {
        ok(real::MPI_Isend(ptr::null(), 0, BYTE, 0, STAND_IN, shim.own_comm, &raw mut request))?;
        ok(real::MPI_Mprobe(0, STAND_IN, shim.own_comm, &raw mut handle, &raw mut status))?;
    }
    shim.matched.put(handle, Taken::Received { unreceived, stand_in: request });
    Ok(handle)
}

/// Receives a matched message: one that has been received before, or one that was left with the MPI.
fn receive(
    shim: &Shim,
    span: Span,
    message: Out<MPI_Message>,
    pass: impl Fn() -> c_int,
    received: impl FnOnce(MPI_Comm, Started) -> c_int,
    left: impl FnOnce(MPI_Comm, Posted) -> c_int,
) -> c_int {
    let handle = message.get();
    match shim.matched.take(handle) {
        None => pass(),
        // The MPI must report that itself. The program may receive the message by another call.
        Some(taken) if shim.refused(&span) => {
            let received_on = match &taken {
                Taken::Received { unreceived, .. } => Some(unreceived.comm),
                Taken::Left { .. } => None,
            };
            shim.matched.put(handle, taken);
            let code = pass();
            // The stand-in is on a communicator of the layer, which has no handler of the program. MPICH calls that of `MPI_COMM_WORLD` all the same.
            if let Some(comm) = received_on.filter(|_| code != SUCCESS && shim.family == Family::OpenMpi) {
                return raise(comm, code);
            }
            // An MPI that does not check all of it has received the message.
            if message.get() != handle {
                drop(shim.matched.take(handle));
            }
            code
        }
        Some(Taken::Received { unreceived, stand_in }) => {
            let comm = unreceived.comm;
            match discard(message, stand_in) {
                Ok(()) => received(comm, unreceived.into_receive(shim, &shim.requests, &span)),
                Err(code) => raise(comm, code),
            }
        }
        // No frame fits.
        Some(Taken::Left { .. }) if span.bytes() < Some(SHORTEST) => pass(),
        Some(Taken::Left { comm, peers }) => {
            let message = Envelope::new(span, ANY_SOURCE, ANY_TAG, comm);
            let posted = Posted::new(shim, &message, peers, false);
            posted.map_or_else(|code| raise(comm, code), |posted| left(comm, posted))
        }
    }
}

/// Receives the empty stand-in message, which sets the program's handle to null as the real receive would.
fn discard(message: Out<MPI_Message>, mut sent: MPI_Request) -> Result<(), c_int> {
    let mut status = empty_status();
    // SAFETY: a handle and a request from `stand_in`. (Freeing the request there would be simpler, but crashes MPICH.)
    unsafe {
        ok(real::MPI_Mrecv(ptr::null_mut(), 0, BYTE, message.ptr(), &raw mut status))?;
        ok(real::MPI_Wait(&raw mut sent, &raw mut status))
    }
}
