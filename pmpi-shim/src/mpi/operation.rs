//! A pending operation of the MPI: its request, and what is known of it; and generalized requests, which the layer completes.

use crate::mpi::{open, real, span::set_received_bytes, sys::*};
use std::ptr;

/// The state of an operation, as far as known.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    UnderWay,
    Complete(MPI_Status),
    /// It failed, with this code. The status has the message's source, if the MPI reports it.
    Failed(c_int, MPI_Status),
}

/// Returns the state of a request without changing it (`MPI_Request_get_status`).
pub(crate) fn look(request: MPI_Request) -> Look {
    ask(request).0
}

/// The same, and whether the MPI has called the error handler.
fn ask(request: MPI_Request) -> (Look, bool) {
    let (mut flag, mut status) = (0, empty_status());
    // SAFETY: our own request, which this call does not change; both output pointers are valid. MPICH calls the error handler here, hence `open`.
    let code = unsafe { open::MPI_Request_get_status(request, &raw mut flag, &raw mut status) };
    match (code, flag) {
        (SUCCESS, 0) => (Look::UnderWay, false),
        // Open MPI reports a failure only in the status, if at all.
        (SUCCESS, _) if status.MPI_ERROR == SUCCESS => (Look::Complete(status), false),
        (SUCCESS, _) => (Look::Failed(status.MPI_ERROR, status), false),
        _ => (Look::Failed(code, status), true),
    }
}

/// An operation that has been started.
pub(crate) struct Operation {
    pub(crate) request: MPI_Request,
    /// Completion does not free the request, whose handle is only here. `look` may call an error handler of the program.
    pub(crate) is_persistent: bool,
    /// The state found by `look`, once it is not `UnderWay`.
    seen: Option<Look>,
}

impl Operation {
    pub(crate) fn new(request: MPI_Request) -> Self {
        Self { request, is_persistent: false, seen: None }
    }

    /// An operation with a persistent request.
    pub(crate) fn persistent(request: MPI_Request) -> Self {
        Self { is_persistent: true, ..Self::new(request) }
    }

    /// Returns its state. If it is over, its request may have been replaced, and if it failed, the MPI has called the error handler.
    pub(crate) fn look(&mut self) -> Look {
        if let Some(seen) = self.seen {
            return seen;
        }
        let look = if self.is_persistent { self.complete() } else { self.ask() };
        if !matches!(look, Look::UnderWay) {
            self.seen = Some(look);
        }
        look
    }

    /// Asks the MPI. If it has called the error handler, it is not asked again: another request replaces the failed one.
    fn ask(&mut self) -> Look {
        let (look, is_told) = ask(self.request);
        if is_told && let Ok(completed) = completed::<UNDEFINED, UNDEFINED>() {
            // SAFETY: our own request, which is over.
            unsafe { real::MPI_Request_free(&raw mut self.request) };
            self.request = completed;
        }
        look
    }

    /// Tests a persistent request. In MPICH from 4.3 on, and in Intel MPI, `MPI_Request_get_status` makes a complete one inactive: later completion
    /// calls return an empty status and no error, or treat it as null. So it is completed at once, and another request replaces it for those calls.
    fn complete(&mut self) -> Look {
        let (mut flag, mut status) = (0, empty_status());
        // SAFETY: our own request, valid output pointers.
        let code = unsafe { open::MPI_Test(&raw mut self.request, &raw mut flag, &raw mut status) };
        if code == SUCCESS && flag == 0 {
            return Look::UnderWay;
        }
        if let Ok(completed) = completed::<UNDEFINED, UNDEFINED>() {
            drop(std::mem::replace(self, Self::new(completed)));
        }
        if code == SUCCESS { Look::Complete(status) } else { Look::Failed(code, status) }
    }

    /// The outcome, after the MPI has completed it with this status and without an error: the one found by `look`, if it has been called. The error
    /// handler has been called for an error.
    pub(crate) fn outcome(&self, status: &mut MPI_Status) -> Result<(), c_int> {
        match self.seen {
            None | Some(Look::UnderWay) => Ok(()),
            Some(Look::Complete(seen)) => {
                *status = seen;
                Ok(())
            }
            Some(Look::Failed(code, seen)) => {
                *status = seen;
                Err(code)
            }
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        if self.is_persistent && self.request != REQUEST_NULL {
            // SAFETY: our own request that is used nowhere else.
            unsafe { real::MPI_Request_free(&raw mut self.request) };
        }
    }
}

/// A request that is complete from the start, with this source and tag in its status: a generalized request, so that its handle is unique in all
/// calls of the MPI.
pub(crate) fn completed<const SOURCE: c_int, const TAG: c_int>() -> Result<MPI_Request, c_int> {
    let inner = pending::<SOURCE, TAG>()?;
    // SAFETY: a request that has just been started.
    ok(unsafe { PMPI_Grequest_complete(inner) })?;
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
