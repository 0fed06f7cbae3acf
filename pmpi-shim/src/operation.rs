//! An operation of the MPI's: its request, and what is known of it.

use crate::generalized;
use crate::mpi::{open, real};
use crate::sys::*;
use std::ffi::c_int;

/// What became of an operation, as far as a look tells.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    UnderWay,
    Complete(MPI_Status),
    /// With this code. Whose message it was is in the status, where the MPI says it.
    Failed(c_int, MPI_Status),
}

/// Looks at a request, and leaves it as it is (`MPI_Request_get_status`).
pub(crate) fn look(request: MPI_Request) -> Look {
    let (mut flag, mut status) = (0, empty_status());
    // SAFETY: one of our own requests, which this call does not change; both places may be written.
    let code = unsafe { real::MPI_Request_get_status(request, &raw mut flag, &raw mut status) };
    match (code, flag) {
        (SUCCESS, 0) => Look::UnderWay,
        // Open MPI tells of the failure in the status alone.
        (SUCCESS, _) if status.MPI_ERROR == SUCCESS => Look::Complete(status),
        (SUCCESS, _) => Look::Failed(status.MPI_ERROR, status),
        _ => Look::Failed(code, status),
    }
}

/// An operation that has been started.
pub(crate) struct Operation {
    pub(crate) request: MPI_Request,
    /// Completion does not free the request. Only this operation has its handle.
    is_persistent: bool,
    /// What a look has found, once that is not `UnderWay`.
    seen: Option<Look>,
}

impl Operation {
    pub(crate) fn new(request: MPI_Request) -> Self {
        Self { request, is_persistent: false, seen: None }
    }

    /// One whose request is persistent.
    pub(crate) fn persistent(request: MPI_Request) -> Self {
        Self { is_persistent: true, ..Self::new(request) }
    }

    /// Looks at it. If it is over, its request may be another one afterwards, and the MPI has called the error handler if it has failed.
    pub(crate) fn look(&mut self) -> Look {
        if let Some(seen) = self.seen {
            return seen;
        }
        let look = if self.is_persistent { self.complete() } else { look(self.request) };
        if !matches!(look, Look::UnderWay) {
            self.seen = Some(look);
        }
        look
    }

    /// Whether a look may call an error handler of the program's.
    pub(crate) fn may_call_back(&self) -> bool {
        self.is_persistent
    }

    /// Tests a persistent request. In MPICH from 4.3 on, and in Intel MPI, a look at one that is complete makes it inactive: the calls that
    /// complete it give an empty status and no error, or take it for none. So it is completed at once, and another request takes its place,
    /// for these calls.
    fn complete(&mut self) -> Look {
        let (mut flag, mut status) = (0, empty_status());
        // SAFETY: a request of ours, valid output pointers.
        let code = unsafe { open::MPI_Test(&raw mut self.request, &raw mut flag, &raw mut status) };
        if code == SUCCESS && flag == 0 {
            return Look::UnderWay;
        }
        if let Ok(completed) = generalized::completed(None) {
            drop(std::mem::replace(self, Self::new(completed)));
        }
        if code == SUCCESS { Look::Complete(status) } else { Look::Failed(code, status) }
    }

    /// The outcome, where the MPI has completed it with this status and without an error: that which was seen before, if it was. The error
    /// handler has heard of an error.
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
            // SAFETY: a request of ours that is used nowhere else.
            unsafe { real::MPI_Request_free(&raw mut self.request) };
        }
    }
}
