//! Generalized requests, which the layer completes. Their statuses have no bytes.

use crate::mpi::{span::set_received_bytes, sys::*};
use std::ptr;

/// A request that is complete from the start, with this source and tag in its status: a generalized request, so that its handle is unique in all
/// calls of the MPI.
pub(crate) fn completed<const SOURCE: c_int, const TAG: c_int>() -> Result<MPI_Request, c_int> {
    let inner = pending::<SOURCE, TAG>()?;
    ok(PMPI_Grequest_complete(inner))?;
    Ok(inner)
}

/// The same for a request that is completed by `PMPI_Grequest_complete`.
pub(crate) fn pending<const SOURCE: c_int, const TAG: c_int>() -> Result<MPI_Request, c_int> {
    let (query, state, mut inner) = (query::<SOURCE, TAG>, ptr::null_mut(), REQUEST_NULL);
    // SAFETY: the callbacks need no state; a valid output pointer.
    ok(unsafe { PMPI_Grequest_start(Some(query), Some(free), Some(cancel), state, &raw mut inner) })?;
    Ok(inner)
}

unsafe extern "C" fn query<const SOURCE: c_int, const TAG: c_int>(
    _: *mut c_void,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: MPI passes a valid status.
    unsafe {
        (*status).MPI_SOURCE = SOURCE;
        (*status).MPI_TAG = TAG;
        set_received_bytes(&mut *status, 0);
        PMPI_Status_set_cancelled(&mut *status, 0);
    }
    SUCCESS
}

unsafe extern "C" fn free(_: *mut c_void) -> c_int {
    SUCCESS
}

unsafe extern "C" fn cancel(_: *mut c_void, _: c_int) -> c_int {
    SUCCESS // the request is complete, or of a collective, which cannot be cancelled
}
