//! Requests: operations under way that have something left to do when the MPI has completed them.

use crate::context::Context;
use crate::error::{Result, ok};
use crate::posted::{self, Posted};
use mpi::ffi::{self, MPI_Request, MPI_Status};
use mpi::point_to_point::Status;
use mpi::request::{Scope, StaticScope};
use mpress::Buffer;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;
use std::time::Instant;

/// What an operation needs until it is complete, and then.
pub(crate) enum Completion {
    /// Nothing: the MPI uses the program's buffer.
    Plain,
    /// A frame that is being sent.
    Frame(Arc<Context>, Buffer),
    /// A receive that may bring a frame.
    Receive(Posted),
}

impl Completion {
    /// Waits for the operation, and gives its status.
    ///
    /// # Safety
    /// As for [`end`](Self::end); the request must be that of this operation.
    pub(crate) unsafe fn wait(self, request: &mut MPI_Request) -> Result<MPI_Status> {
        let (start, mut status) = (Some(Instant::now()), posted::empty_status());
        // SAFETY: an active request, and a place for its status.
        let code = unsafe { ffi::MPI_Wait(request, &raw mut status) };
        // SAFETY: as for this.
        unsafe { self.end(code, status, start) }
    }

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

/// An operation under way, like [`mpi::request::Request`], registered with a scope of rsmpi's
/// ([`mpi::request::scope`]).
///
/// A receive has its message in the buffer only after [`wait`](Self::wait) or [`test`](Self::test): these decode it. A request
/// that is dropped waits, and decodes, so that no message is lost. If it cannot be delivered, being damaged or too long, the
/// drop panics, as every drop of an unfinished request does in rsmpi: nobody else would be told. A request that is dropped by a
/// panic neither waits nor completes; its scope then ends the program, as in rsmpi.
#[must_use]
pub struct Request<'a, D: ?Sized, S: Scope<'a> = StaticScope> {
    raw: MPI_Request,
    /// `None` once complete.
    completion: Option<Completion>,
    data: *const D,
    scope: S,
    // As in rsmpi: invariant, so that the buffer is borrowed for as long as the scope lasts.
    phantom: PhantomData<Cell<&'a ()>>,
}

impl<'a, D: ?Sized, S: Scope<'a>> Request<'a, D, S> {
    /// An operation that was started.
    ///
    /// # Safety
    /// `raw` must be active and not persistent; `data` be borrowed for `'a`, mutably for a receive, and what `completion` refers
    /// to be part of it.
    pub(crate) unsafe fn new(raw: MPI_Request, completion: Completion, data: *const D, scope: S) -> Self {
        scope.register();
        Self { raw, completion: Some(completion), data, scope, phantom: PhantomData }
    }

    /// Waits until the operation is complete, and decodes what it brought.
    ///
    /// # Errors
    /// [`Error::Frame`](crate::Error::Frame), [`Error::Truncated`](crate::Error::Truncated), and errors of the MPI where its
    /// error handler comes back. The request is complete then, too.
    pub fn wait(mut self) -> Result<Status> {
        self.complete()
    }

    /// The same without the status.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_without_status(mut self) -> Result<()> {
        self.complete().map(|_| ())
    }

    /// The same; gives the buffer.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_for_data(mut self) -> Result<&'a D> {
        self.complete()?;
        // SAFETY: borrowed for 'a, and the operation that used it is over.
        Ok(unsafe { &*self.data })
    }

    /// Whether the operation is complete: if so, its status, and what it brought is decoded; else the request.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn test(mut self) -> Result<std::result::Result<Status, Self>> {
        let (start, mut done, mut status) = (Some(Instant::now()), 0, posted::empty_status());
        // SAFETY: an active request, and places for the answers.
        let code = unsafe { ffi::MPI_Test(&raw mut self.raw, &raw mut done, &raw mut status) };
        if code == SUCCESS && done == 0 {
            return Ok(Err(self));
        }
        // SAFETY: the MPI has completed it; the buffer is borrowed for 'a.
        self.ended(|completion| unsafe { completion.end(code, status, start) }).map(Ok)
    }

    fn complete(&mut self) -> Result<Status> {
        let mut raw = self.raw;
        // SAFETY: an active request; the buffer is borrowed for 'a.
        self.ended(|completion| unsafe { completion.wait(&mut raw) })
    }

    /// Ends the operation, once.
    fn ended(&mut self, end: impl FnOnce(Completion) -> Result<MPI_Status>) -> Result<Status> {
        let completion = self.completion.take().unwrap_or(Completion::Plain);
        // SAFETY: registered by `new`, and unregistered only here, since an operation ends once.
        unsafe { self.scope.unregister() };
        end(completion).map(posted::status)
    }
}

const SUCCESS: i32 = ffi::MPI_SUCCESS as i32;

impl<'a, D: ?Sized, S: Scope<'a>> Drop for Request<'a, D, S> {
    #[allow(clippy::panic, reason = "documented: a message that nobody would be told of")]
    fn drop(&mut self) {
        if self.completion.is_none() {
            return;
        }
        if std::thread::panicking() {
            // What it waits for may never come. The buffers stay as they are; the scope ends the program.
            mem::forget(self.completion.take());
            return;
        }
        if let Err(error) = self.complete() {
            panic!("a request was dropped without being completed, and {error}");
        }
    }
}

impl<'a, D: ?Sized, S: Scope<'a>> fmt::Debug for Request<'a, D, S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = self.completion.is_none();
        formatter.debug_struct("Request").field("done", &done).finish_non_exhaustive()
    }
}

/// Waits for one of several requests and takes it out of the list; gives its place there and its status. `None` if the list is
/// empty.
///
/// # Errors
/// As [`Request::wait`]; the request that failed is taken out, too.
pub fn wait_any<'a, D: ?Sized, S: Scope<'a>>(
    requests: &mut Vec<Request<'a, D, S>>,
) -> Result<Option<(usize, Status)>> {
    let start = Some(Instant::now());
    let mut raw: Vec<MPI_Request> = requests.iter().map(|request| request.raw).collect();
    let count = i32::try_from(raw.len()).unwrap_or(i32::MAX);
    let (mut index, mut status) = (-1, posted::empty_status());
    // SAFETY: so many active requests, and places for the answers.
    let code = unsafe { ffi::MPI_Waitany(count, raw.as_mut_ptr(), &raw mut index, &raw mut status) };
    let Some(index) = usize::try_from(index).ok().filter(|&index| index < requests.len()) else {
        return ok(code).map(|()| None);
    };
    // SAFETY: the MPI has completed it; the buffer is borrowed for 'a.
    let status = requests.remove(index).ended(|completion| unsafe { completion.end(code, status, start) })?;
    Ok(Some((index, status)))
}
