//! The MPI's own sends: of a message unchanged, and of our memory in its place.

use crate::messages::error::{Error, called};
use crate::messages::wire::Wire;
use crate::mpi::real;
use crate::mpi::span::Envelope;
use crate::mpi::sys::*;
use crate::operations::active::{Active, Finish};
use crate::operations::persistent::Mode;
use std::ffi::c_int;

/// The MPI's own blocking send of a wire in place of the message.
pub(super) unsafe fn send_wire(mode: Mode, wire: &Wire, message: &Envelope) -> c_int {
    let send = match mode {
        Mode::Standard | Mode::Buffered => real::MPI_Send,
        Mode::Synchronous => real::MPI_Ssend,
        Mode::Ready => real::MPI_Rsend,
    };
    let Envelope { peer, tag, comm, .. } = *message;
    // SAFETY: the wire lives until the call returns.
    unsafe { send(wire.ptr(), wire.count(), wire.datatype(), peer, tag, comm) }
}

/// Starts a send of the message unchanged.
pub(super) unsafe fn as_is(mode: Mode, message: &Envelope) -> Result<Active, Error> {
    let mut inner = REQUEST_NULL;
    // SAFETY: the caller vouches for the message.
    called(unsafe { isend_as_is(mode, message, &raw mut inner) })?;
    Ok(Active::new(inner, Finish::Nothing))
}

/// Starts a message without data.
///
/// # Safety
/// `message` must have none.
pub(crate) unsafe fn start_empty(message: &Envelope) -> Result<Active, Error> {
    // SAFETY: the caller vouches for the message.
    unsafe { as_is(Mode::Standard, message) }
}

/// The MPI's own nonblocking send of a frame.
pub(super) unsafe fn isend_frame(mode: Mode, wire: &Wire, message: &Envelope) -> Result<MPI_Request, Error> {
    let start = match mode {
        Mode::Standard | Mode::Buffered => real::MPI_Isend,
        Mode::Synchronous => real::MPI_Issend,
        Mode::Ready => real::MPI_Irsend,
    };
    let mut inner = REQUEST_NULL;
    let Envelope { peer, tag, comm, .. } = *message;
    // SAFETY: the caller keeps the wire until the request completes.
    called(unsafe { start(wire.ptr(), wire.count(), wire.datatype(), peer, tag, comm, &raw mut inner) })?;
    Ok(inner)
}

/// The MPI's own nonblocking send of the message unchanged.
unsafe fn isend_as_is(mode: Mode, message: &Envelope, request: *mut MPI_Request) -> c_int {
    let Envelope { span, peer, tag, comm } = *message;
    // SAFETY: the caller vouches for the message.
    unsafe {
        if let Ok(count) = c_int::try_from(span.count) {
            let start = match mode {
                Mode::Standard => real::MPI_Isend,
                Mode::Synchronous => real::MPI_Issend,
                Mode::Ready => real::MPI_Irsend,
                Mode::Buffered => real::MPI_Ibsend,
            };
            return start(span.ptr, count, span.datatype, peer, tag, comm, request);
        }
        let start = match mode {
            Mode::Standard => real::MPI_Isend_c,
            Mode::Synchronous => real::MPI_Issend_c,
            Mode::Ready => real::MPI_Irsend_c,
            Mode::Buffered => real::MPI_Ibsend_c,
        };
        start(span.ptr, span.count, span.datatype, peer, tag, comm, request)
    }
}
