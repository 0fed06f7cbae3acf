//! The combined calls: a receive and a send of ours, started together.

use crate::recv::{self, wait};
use crate::requests::Active;
use crate::send::{self, Mode};
use crate::span::Envelope;
use crate::state::{Error, Shim, raise};
use crate::sys::*;
use std::ffi::c_int;

/// Whether either half needs us.
fn ours(shim: &Shim, out: &Envelope, into: &Envelope) -> bool {
    shim.framed_send(out).is_some() || shim.meets_frames(into).is_some()
}

/// Sendrecv, and with `detached` Sendrecv_replace.
pub(crate) unsafe fn blocking(
    shim: &Shim,
    out: Envelope,
    into: Envelope,
    detached: bool,
    status: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    if !ours(shim, &out, &into) {
        return pass();
    }
    // SAFETY: the program's own arguments.
    shim.traffic.during(&shim.engine, || unsafe {
        match start(shim, &out, &into, Manner { detached, blocking: true }) {
            Ok((receive, send)) => finish(shim, receive, send, status),
            Err(error) => raise(into.comm, error),
        }
    })
}

/// Isendrecv and Isendrecv_replace. The program gets one request, the receive's; the send goes on from a copy.
#[cfg(mpi_large_count)]
pub(crate) unsafe fn nonblocking(
    shim: &Shim,
    out: Envelope,
    into: Envelope,
    request: *mut MPI_Request,
    pass: impl Fn() -> c_int,
) -> c_int {
    if !ours(shim, &out, &into) {
        return pass();
    }
    // SAFETY: the program's own arguments and places.
    unsafe {
        match start(shim, &out, &into, Manner { detached: true, blocking: false }) {
            Ok((receive, send)) => {
                shim.orphans.adopt(send, true);
                *request = shim.requests.hand_out(receive);
                SUCCESS
            }
            Err(code) => raise(into.comm, code),
        }
    }
}

/// How the call that the two halves belong to goes about them.
#[derive(Clone, Copy)]
struct Manner {
    /// What goes out is copied before anything can come in.
    detached: bool,
    /// The call itself reports errors of the receive; else the completion call does.
    blocking: bool,
}

/// Starts both.
unsafe fn start(
    shim: &Shim,
    out: &Envelope,
    into: &Envelope,
    manner: Manner,
) -> Result<(Active, Active), Error> {
    // SAFETY: the caller vouches for both messages.
    unsafe {
        if manner.detached {
            let send = send::start(shim, Mode::Standard, out, true)?;
            return Ok((recv::start_any(shim, into, manner.blocking)?, send));
        }
        let receive = recv::start_any(shim, into, manner.blocking)?;
        Ok((receive, send::start(shim, Mode::Standard, out, false)?))
    }
}

unsafe fn finish(shim: &Shim, receive: Active, send: Active, status: *mut MPI_Status) -> c_int {
    // SAFETY: two operations of ours, the place the program gave.
    unsafe {
        let sent = wait(shim, send, STATUS_IGNORE);
        let received = wait(shim, receive, status);
        if received == SUCCESS { sent } else { received }
    }
}
