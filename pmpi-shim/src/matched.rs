//! Mprobe, Improbe, Mrecv and Imrecv. A framed message that a matched probe took is received at once, to know its
//! length; the program gets the handle of an empty message to ourselves in its place.

use crate::peers::Peers;
use crate::span::{Span, received_bytes, store_status};
use crate::stash::{Arrived, Taken};
use crate::state::{Error, Shim, called, raise};
use crate::sys::*;
use crate::table::real;
use std::ffi::c_int;
use std::ptr;
use std::sync::PoisonError;

/// The tag of empty messages to ourselves (0 is that of copies).
const STAND_IN: c_int = 1;

/// Mprobe.
pub(crate) unsafe fn mprobe(
    shim: &Shim,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.probe_peers(source, tag, comm) else { return pass() };
    loop {
        // SAFETY: the program's own arguments and places. With threads the MPI must not block (as in `probe`).
        unsafe {
            match take(shim, &peers, source, tag, comm, !shim.multiple) {
                Ok(Some((handle, seen))) => {
                    *message = handle;
                    store_status(status, &seen);
                    return SUCCESS;
                }
                Ok(None) => std::thread::yield_now(),
                Err(code) => return raise(comm, code),
            }
        }
    }
}

/// Improbe.
#[allow(clippy::too_many_arguments, reason = "MPI's own list")]
pub(crate) unsafe fn improbe(
    shim: &Shim,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    flag: *mut c_int,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.probe_peers(source, tag, comm) else { return pass() };
    // SAFETY: the program's own arguments and places.
    unsafe {
        match take(shim, &peers, source, tag, comm, false) {
            Ok(taken) => {
                *flag = c_int::from(taken.is_some());
                if let Some((handle, seen)) = taken {
                    *message = handle;
                    store_status(status, &seen);
                }
                SUCCESS
            }
            Err(code) => raise(comm, code),
        }
    }
}

/// Matches a message now, or, with `block`, as soon as there is one.
unsafe fn take(
    shim: &Shim,
    peers: &Peers,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    block: bool,
) -> Result<Option<(MPI_Message, MPI_Status)>, Error> {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        if let Some(arrived) = shim.stash.take(comm, source, tag) {
            return Ok(Some(stand_in(shim, comm, arrived)?));
        }
        let (mut flag, mut message, mut status) = (1, MESSAGE_NULL, empty_status());
        called(if block {
            real::MPI_Mprobe(source, tag, comm, &raw mut message, &raw mut status)
        } else {
            real::MPI_Improbe(source, tag, comm, &raw mut flag, &raw mut message, &raw mut status)
        })?;
        if flag == 0 {
            return Ok(None);
        }
        if !peers.arrived_framed(&status, received_bytes(&status)) {
            return Ok(Some((message, status)));
        }
        let arrived = Arrived::receive(shim, comm, peers, &mut message, &status)?;
        Ok(Some(stand_in(shim, comm, arrived)?))
    }
}

/// Gives a received message a handle of its own.
unsafe fn stand_in(
    shim: &Shim,
    comm: MPI_Comm,
    arrived: Arrived,
) -> Result<(MPI_Message, MPI_Status), c_int> {
    let _turn = shim.own_turn.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut request, mut handle, mut status) = (REQUEST_NULL, MESSAGE_NULL, empty_status());
    // SAFETY: an empty message from this process to itself; nobody else uses this communicator and tag.
    unsafe {
        ok(real::MPI_Isend(ptr::null(), 0, BYTE, 0, STAND_IN, shim.own_comm, &raw mut request))?;
        ok(real::MPI_Mprobe(0, STAND_IN, shim.own_comm, &raw mut handle, &raw mut status))?;
    }
    let seen = arrived.seen().status();
    shim.matched.put(handle, Taken { comm, arrived, stand_in: request });
    Ok((handle, seen))
}

/// Mrecv.
pub(crate) unsafe fn mrecv(
    shim: &Shim,
    span: Span,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the program's own arguments and places.
    unsafe {
        let Some(Taken { comm, arrived, stand_in }) = shim.matched.take(*message) else { return pass() };
        if let Err(code) = discard(message, stand_in) {
            return raise(comm, code);
        }
        let (delivered, result) = arrived.deliver(shim, &span);
        store_status(status, &delivered.status());
        result.map_or_else(|code| raise(comm, code), |()| SUCCESS)
    }
}

/// Imrecv.
pub(crate) unsafe fn imrecv(
    shim: &Shim,
    span: Span,
    message: *mut MPI_Message,
    request: *mut MPI_Request,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the program's own arguments and places.
    unsafe {
        let Some(Taken { comm, arrived, stand_in }) = shim.matched.take(*message) else { return pass() };
        if let Err(code) = discard(message, stand_in) {
            return raise(comm, code);
        }
        match arrived.deliver_as_request(shim, &span, comm) {
            Ok(active) => {
                *request = shim.requests.hand_out(active);
                SUCCESS
            }
            Err(code) => raise(comm, code),
        }
    }
}

/// Receives the empty message that stood in, which sets the program's handle to null as the real receive would.
unsafe fn discard(message: *mut MPI_Message, mut sent: MPI_Request) -> Result<(), c_int> {
    let mut status = empty_status();
    // SAFETY: a handle and a request from `stand_in`. (To free the request there would be simpler; MPICH does not survive it.)
    unsafe {
        ok(real::MPI_Mrecv(ptr::null_mut(), 0, BYTE, message, &raw mut status))?;
        ok(real::MPI_Wait(&raw mut sent, &raw mut status))
    }
}
