//! Putting a message that has arrived into the program's buffer, and requests that are complete from the start.

use crate::requests::{Active, Finish};
use crate::span::{Layout, Span};
use crate::state::Shim;
use crate::sys::*;
use crate::traffic;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::{ptr, slice};

/// What a delivered message's status says.
#[derive(Clone, Copy)]
pub(crate) struct Delivered {
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) bytes: usize,
}

impl Delivered {
    pub(crate) fn status(&self) -> MPI_Status {
        let mut status = empty_status();
        status.MPI_SOURCE = self.source;
        status.MPI_TAG = self.tag;
        crate::span::set_received_bytes(&mut status, self.bytes);
        status
    }
}

/// Puts what arrived, a frame or a plain message, into `span`, and says how many bytes the message has.
///
/// # Safety
/// `span` must be the buffer of a receive call, `capacity` its length in bytes, and `wire` not part of it.
pub(crate) unsafe fn land(
    shim: &Shim,
    wire: &[u8],
    framed: bool,
    span: &Span,
    capacity: usize,
) -> Result<usize, c_int> {
    if !framed {
        // SAFETY: the caller vouches for the span.
        return unsafe { land_raw(shim, wire, span, capacity) };
    }
    let incoming = shim.engine.open(wire).map_err(|_| shim.damaged)?;
    let len = incoming.raw_len();
    if len > capacity {
        return Err(ERR_TRUNCATE);
    }
    match shim.layout(span) {
        Layout::Contiguous(_) => {
            // SAFETY: contiguous elements with room for `len` bytes, apart from `wire`.
            let out = unsafe { slice::from_raw_parts_mut(span.ptr.cast::<MaybeUninit<u8>>(), len) };
            traffic::coding(|| shim.engine.decode(&incoming, out)).map_err(|_| shim.damaged)?;
        }
        Layout::Typed => {
            let mut buffer = shim.engine.buffer(len).ok_or(ERR_NO_MEM)?;
            let room = ptr::from_mut(&mut buffer.room()[..len]);
            // SAFETY: initialised bytes seen as possibly uninitialised ones; `decode` writes only initialised ones.
            let out = unsafe { slice::from_raw_parts_mut(room.cast::<MaybeUninit<u8>>(), len) };
            traffic::coding(|| shim.engine.decode(&incoming, out)).map_err(|_| shim.damaged)?;
            buffer.set_len(len);
            // SAFETY: the caller vouches for the span, which has room for `len` bytes.
            unsafe { shim.scatter(&buffer, span)? };
        }
    }
    Ok(len)
}

/// The same for a message without a frame.
///
/// # Safety
/// As for [`land`].
pub(crate) unsafe fn land_raw(shim: &Shim, raw: &[u8], span: &Span, capacity: usize) -> Result<usize, c_int> {
    if raw.len() > capacity {
        return Err(ERR_TRUNCATE);
    }
    match shim.layout(span) {
        // SAFETY: contiguous elements with room for `raw`, which is not part of them.
        Layout::Contiguous(_) => unsafe {
            ptr::copy_nonoverlapping(raw.as_ptr(), span.ptr.cast::<u8>(), raw.len());
        },
        // SAFETY: the caller vouches for the span.
        Layout::Typed => unsafe { shim.scatter(raw, span)? },
    }
    Ok(raw.len())
}

/// A request that is complete from the start and whose status says this (an empty status for `None`): a generalized
/// request, so that it is one of its own to every call of the MPI.
pub(crate) fn completed(delivered: Option<Delivered>) -> Result<Active, c_int> {
    let inner = generalized(delivered)?;
    // SAFETY: a request that has just been started.
    ok(unsafe { PMPI_Grequest_complete(inner) })?;
    Ok(Active::new(inner, Finish::Nothing))
}

/// A request that is complete when `PMPI_Grequest_complete` says so, with an empty status.
pub(crate) fn pending() -> Result<MPI_Request, c_int> {
    generalized(None)
}

fn generalized(delivered: Option<Delivered>) -> Result<MPI_Request, c_int> {
    let state = Box::into_raw(Box::new(delivered));
    let mut inner = REQUEST_NULL;
    // SAFETY: the callbacks take the state to be what it is; `free` is called once, with the request.
    ok(unsafe { PMPI_Grequest_start(Some(query), Some(free), Some(cancel), state.cast(), &raw mut inner) })?;
    Ok(inner)
}

unsafe extern "C" fn query(state: *mut c_void, status: *mut MPI_Status) -> c_int {
    // SAFETY: MPI calls back with the state of `completed` and a valid status.
    unsafe {
        let delivered = *state.cast::<Option<Delivered>>();
        let (source, tag, bytes) =
            delivered.map_or((UNDEFINED, UNDEFINED, 0), |d| (d.source, d.tag, d.bytes));
        (*status).MPI_SOURCE = source;
        (*status).MPI_TAG = tag;
        crate::span::set_received_bytes(&mut *status, bytes);
        PMPI_Status_set_cancelled(status, 0);
    }
    SUCCESS
}

unsafe extern "C" fn free(state: *mut c_void) -> c_int {
    // SAFETY: MPI calls back once with the state of `completed`.
    drop(unsafe { Box::from_raw(state.cast::<Option<Delivered>>()) });
    SUCCESS
}

unsafe extern "C" fn cancel(_: *mut c_void, _: c_int) -> c_int {
    SUCCESS // it is complete, so there is nothing to cancel
}
