//! Generalized requests, which we complete ourselves, with a status of our own.

use crate::mpi::span::set_received_bytes;
use crate::mpi::sys::*;
use std::ffi::{c_int, c_void};

/// The status of a delivered message.
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
        set_received_bytes(&mut status, self.bytes);
        status
    }
}

/// A request that is complete from the start, with this status (an empty one for `None`): a generalized
/// request, so that its handle is unique in all calls of the MPI.
pub(crate) fn completed(delivered: Option<Delivered>) -> Result<MPI_Request, c_int> {
    let inner = pending(delivered)?;
    // SAFETY: a request that has just been started.
    ok(unsafe { PMPI_Grequest_complete(inner) })?;
    Ok(inner)
}

/// A request that is completed by `PMPI_Grequest_complete`, then with this status.
pub(crate) fn pending(delivered: Option<Delivered>) -> Result<MPI_Request, c_int> {
    let state = Box::into_raw(Box::new(delivered));
    let mut inner = REQUEST_NULL;
    // SAFETY: the callbacks expect this state; `free` is called once, with the request.
    ok(unsafe { PMPI_Grequest_start(Some(query), Some(free), Some(cancel), state.cast(), &raw mut inner) })?;
    Ok(inner)
}

unsafe extern "C" fn query(state: *mut c_void, status: *mut MPI_Status) -> c_int {
    // SAFETY: MPI passes the state of `pending` and a valid status.
    unsafe {
        let delivered = *state.cast::<Option<Delivered>>();
        let (source, tag, bytes) =
            delivered.map_or((UNDEFINED, UNDEFINED, 0), |d| (d.source, d.tag, d.bytes));
        (*status).MPI_SOURCE = source;
        (*status).MPI_TAG = tag;
        set_received_bytes(&mut *status, bytes);
        PMPI_Status_set_cancelled(status, 0);
    }
    SUCCESS
}

unsafe extern "C" fn free(state: *mut c_void) -> c_int {
    // SAFETY: MPI passes the state of `pending`, once.
    drop(unsafe { Box::from_raw(state.cast::<Option<Delivered>>()) });
    SUCCESS
}

unsafe extern "C" fn cancel(_: *mut c_void, _: c_int) -> c_int {
    SUCCESS // the request is complete, or of a collective, which cannot be cancelled
}
