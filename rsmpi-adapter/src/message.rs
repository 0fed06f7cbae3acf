//! Messages under way: what the MPI has to complete, and what is left to do then.

use crate::context::Context;
use crate::error::{Result, ok};
use crate::posted::{self, Posted};
use mpi::ffi::{self, MPI_Request, MPI_Status};
use mpress::Buffer;
use std::mem;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;
use std::time::Instant;

/// A message under way. The program's buffer must be there until it has ended.
pub(crate) struct Message {
    pub(crate) request: MPI_Request,
    pub(crate) completion: Completion,
}

impl Message {
    /// Waits for it, and gives its status.
    ///
    /// # Safety
    /// The program's buffer must still be there.
    pub(crate) unsafe fn wait(mut self) -> Result<MPI_Status> {
        let (start, mut status) = (Some(Instant::now()), posted::empty_status());
        // SAFETY: an active request, and a place for its status; for the rest the caller vouches.
        unsafe {
            let code = ffi::MPI_Wait(&raw mut self.request, &raw mut status);
            self.completion.end(code, status, start)
        }
    }

    /// Its outcome, if it is complete; else the message.
    ///
    /// # Safety
    /// As for [`wait`](Self::wait).
    pub(crate) unsafe fn test(mut self) -> ControlFlow<Result<MPI_Status>, Self> {
        let (start, mut done, mut status) = (Some(Instant::now()), 0, posted::empty_status());
        // SAFETY: as above.
        unsafe {
            let code = ffi::MPI_Test(&raw mut self.request, &raw mut done, &raw mut status);
            if ok(code).is_ok() && done == 0 {
                return Continue(self);
            }
            Break(self.completion.end(code, status, start))
        }
    }
}

/// What an operation needs until it is complete, and then.
pub(crate) enum Completion {
    /// Nothing: the MPI uses the program's buffer.
    Plain,
    /// A frame that is being sent, perhaps to several ranks.
    Frame(Arc<Context>, Arc<Buffer>),
    /// A receive that may bring a frame.
    Receive(Posted),
}

impl Completion {
    /// The MPI has completed the operation, with this error code and this status; the wait for that began at `start`. Gives the
    /// status that the program is to see.
    ///
    /// # Safety
    /// The program's buffer must still be there.
    pub(crate) unsafe fn end(
        self,
        code: i32,
        mut status: MPI_Status,
        start: Option<Instant>,
    ) -> Result<MPI_Status> {
        if let Err(error) = ok(code) {
            if let Self::Receive(posted) = &self {
                // SAFETY: the caller vouches for the buffer.
                unsafe { posted.wipe() };
            }
            // The MPI may still write into buffers of a receive that failed: Open MPI 4.1 ends one with `MPI_ERR_TRUNCATE`
            // before all of the message has come.
            mem::forget(self);
            return Err(error);
        }
        match self {
            Self::Plain => {}
            Self::Frame(context, frame) => context.waited(frame.len(), 0, start),
            // SAFETY: the caller vouches for the buffer.
            Self::Receive(posted) => unsafe { posted.finish(&mut status, start)? },
        }
        Ok(status)
    }
}
