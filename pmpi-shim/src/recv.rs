//! The receive calls, blocking and nonblocking.

use crate::deliver;
use crate::peers::Peers;
use crate::posted::Posted;
use crate::requests::{Active, Finish};
use crate::span::{Envelope, store_status};
use crate::state::{Shim, raise};
use crate::sys::*;
use crate::table::real;
use mpress::FLOOR;
use std::ffi::c_int;
use std::sync::Arc;

impl Shim {
    /// The peers of a receive that may bring a frame, or find its message in the stash. `None`: the MPI's own call does
    /// all that is needed.
    pub(crate) fn meets_frames(&self, message: &Envelope) -> Option<Arc<Peers>> {
        let capacity = message.span.bytes()?;
        // A short buffer cannot hold a frame. It can meet the stash; but without threads the stash cannot fill up
        // between this look and the receive.
        if capacity < FLOOR && !self.multiple && self.stash.is_empty() {
            return None;
        }
        if message.tag < 0 && message.tag != ANY_TAG {
            return None;
        }
        self.peers(message.comm).filter(|peers| peers.framed(message.peer))
    }
}

/// Recv.
pub(crate) unsafe fn blocking(
    shim: &Shim,
    message: Envelope,
    status: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.meets_frames(&message) else { return pass() };
    // SAFETY: the program's own arguments.
    unsafe {
        match start(shim, &message, &peers) {
            Ok(active) => wait(shim, active, status),
            Err(code) => raise(message.comm, code),
        }
    }
}

/// Irecv.
pub(crate) unsafe fn nonblocking(
    shim: &Shim,
    message: Envelope,
    request: *mut MPI_Request,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.meets_frames(&message) else { return pass() };
    // SAFETY: the program's own arguments.
    match unsafe { start(shim, &message, &peers) } {
        Ok(active) => {
            // SAFETY: the place the program gave.
            unsafe { *request = shim.requests.hand_out(active) };
            SUCCESS
        }
        Err(code) => raise(message.comm, code),
    }
}

/// Starts a receive that `meets_frames`: from the stash, or from the MPI.
///
/// # Safety
/// `message` must be what the caller of a receive function gave.
pub(crate) unsafe fn start(shim: &Shim, message: &Envelope, peers: &Arc<Peers>) -> Result<Active, c_int> {
    let Envelope { span, peer, tag, comm } = *message;
    loop {
        if let Some(arrived) = shim.stash.take(comm, peer, tag) {
            // SAFETY: the caller vouches for the span.
            let (delivered, result) = unsafe { arrived.deliver(shim, &span) };
            let mut active = deliver::completed(Some(delivered))?;
            if let Err(code) = result {
                active.finish = Finish::Failed(comm, code);
            }
            return Ok(active);
        }
        let held = shim.stash.hold();
        if held.find(comm, peer, tag).is_none() {
            // SAFETY: the caller vouches for the message.
            return unsafe { post(shim, message, peers) };
        }
    }
}

unsafe fn post(shim: &Shim, message: &Envelope, peers: &Arc<Peers>) -> Result<Active, c_int> {
    let Envelope { span, peer, tag, comm } = *message;
    let mut inner = REQUEST_NULL;
    let capacity = span.bytes().unwrap_or(0);
    // SAFETY: the caller vouches for the message; what is posted lasts until the request completes.
    unsafe {
        if capacity < FLOOR {
            ok(irecv_as_is(message, &raw mut inner))?;
            return Ok(Active::new(inner, Finish::Nothing));
        }
        let posted = Posted::new(shim, message, capacity, Arc::clone(peers))?;
        ok(real::MPI_Irecv(
            posted.ptr(),
            posted.count(),
            posted.datatype(),
            peer,
            tag,
            comm,
            &raw mut inner,
        ))?;
        Ok(Active::new(inner, Finish::Receive(posted)))
    }
}

/// Starts a receive, whether it meets frames or not.
///
/// # Safety
/// As for [`start`].
pub(crate) unsafe fn start_any(shim: &Shim, message: &Envelope) -> Result<Active, c_int> {
    // SAFETY: the caller vouches for the message.
    unsafe {
        if let Some(peers) = shim.meets_frames(message) {
            return start(shim, message, &peers);
        }
        let mut inner = REQUEST_NULL;
        ok(irecv_as_is(message, &raw mut inner))?;
        Ok(Active::new(inner, Finish::Nothing))
    }
}

/// Waits for an operation of our own and stores its status where the program wants it.
///
/// # Safety
/// `status` must be a status or `MPI_STATUS_IGNORE`.
pub(crate) unsafe fn wait(shim: &Shim, mut active: Active, status: *mut MPI_Status) -> c_int {
    let mut found = empty_status();
    // SAFETY: a request of ours, a status of ours.
    let code = unsafe { real::MPI_Wait(&raw mut active.inner, &raw mut found) };
    if code != SUCCESS {
        return code;
    }
    // SAFETY: the request has just completed with this status.
    let result = unsafe { active.finish(shim, &mut found) };
    // SAFETY: the caller vouches for the place.
    unsafe { store_status(status, &found) };
    result.map_or_else(|(comm, code)| raise(comm, code), |()| SUCCESS)
}

/// The MPI's own nonblocking receive into the program's buffer.
unsafe fn irecv_as_is(message: &Envelope, request: *mut MPI_Request) -> c_int {
    let Envelope { span, peer, tag, comm } = *message;
    // SAFETY: the caller vouches for the message.
    unsafe {
        if let Ok(count) = c_int::try_from(span.count) {
            return real::MPI_Irecv(span.ptr, count, span.datatype, peer, tag, comm, request);
        }
        #[cfg(mpi_large_count)]
        {
            real::MPI_Irecv_c(span.ptr, span.count, span.datatype, peer, tag, comm, request)
        }
        #[cfg(not(mpi_large_count))]
        ERR_INTERN
    }
}
