//! Generalized requests of ours: they are complete when we say so, with the status that we give.

use crate::span::set_received_bytes;
use crate::sys::*;
use std::ffi::{c_int, c_void};

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
        set_received_bytes(&mut status, self.bytes);
        status
    }
}

/// A request that is complete from the start and whose status says this (an empty status for `None`): a generalized
/// request, so that it is one of its own to every call of the MPI.
pub(crate) fn completed(delivered: Option<Delivered>) -> Result<MPI_Request, c_int> {
    let inner = generalized(delivered)?;
    // SAFETY: a request that has just been started.
    ok(unsafe { PMPI_Grequest_complete(inner) })?;
    Ok(inner)
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
        set_received_bytes(&mut *status, bytes);
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
