//! The combined calls: a receive and a send of ours, started together.

use crate::recv::{self, wait};
use crate::requests::Active;
use crate::send::{self, Mode};
use crate::span::Envelope;
use crate::state::{Shim, raise};
use crate::sys::*;
use std::ffi::c_int;

/// Whether either half needs us.
fn ours(shim: &Shim, out: &Envelope, into: &Envelope) -> bool {
    shim.framed_send(out).is_some() || shim.meets_frames(into).is_some()
}

/// Sendrecv.
pub(crate) unsafe fn blocking(
    shim: &Shim,
    out: Envelope,
    into: Envelope,
    status: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    if !ours(shim, &out, &into) {
        return pass();
    }
    // SAFETY: the program's own arguments.
    unsafe {
        match start(shim, &out, &into, false) {
            Ok((receive, send)) => finish(shim, receive, send, status),
            Err(code) => raise(into.comm, code),
        }
    }
}

/// Sendrecv_replace. What goes out is copied before anything can come in.
pub(crate) unsafe fn replace(
    shim: &Shim,
    out: Envelope,
    into: Envelope,
    status: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    if !ours(shim, &out, &into) {
        return pass();
    }
    // SAFETY: the program's own arguments.
    unsafe {
        match start(shim, &out, &into, true) {
            Ok((receive, send)) => finish(shim, receive, send, status),
            Err(code) => raise(into.comm, code),
        }
    }
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
        match start(shim, &out, &into, true) {
            Ok((receive, send)) => {
                shim.orphans.adopt(send, true);
                *request = shim.requests.hand_out(receive);
                SUCCESS
            }
            Err(code) => raise(into.comm, code),
        }
    }
}

/// Starts both. The send is prepared first if it must not see what the receive brings, but posted last.
unsafe fn start(
    shim: &Shim,
    out: &Envelope,
    into: &Envelope,
    detached: bool,
) -> Result<(Active, Active), c_int> {
    // SAFETY: the caller vouches for both messages. A detached send has copied its message when `send::start` returns,
    // so it goes first; otherwise the receive does, as in the MPI.
    unsafe {
        if detached {
            let send = send::start(shim, Mode::Standard, out, true)?;
            return Ok((recv::start_any(shim, into)?, send));
        }
        let receive = recv::start_any(shim, into)?;
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
