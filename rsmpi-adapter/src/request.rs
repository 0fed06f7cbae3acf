//! Requests: operations under way that have something left to do when the MPI has completed them.

use crate::error::{Result, ok};
use crate::exchange::Messages;
use crate::message::{Completion, Message};
use crate::posted;
use mpi::ffi::{self, MPI_Request, MPI_Status};
use mpi::point_to_point::Status;
use mpi::request::{Scope, StaticScope};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ops::ControlFlow::{self, Break, Continue};
use std::time::Instant;

/// What is under way.
pub(crate) enum Operation {
    Message(Message),
    /// The messages of a collective operation.
    Collective(Messages),
}

impl Operation {
    /// Waits for it, and gives its status; that of a collective operation is empty.
    ///
    /// # Safety
    /// The program's buffers must still be there.
    unsafe fn wait(self) -> Result<MPI_Status> {
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            match self {
                Self::Message(message) => message.wait(),
                Self::Collective(messages) => messages.wait().map(|()| posted::empty_status()),
            }
        }
    }

    /// Its outcome, if it is complete; else the operation.
    ///
    /// # Safety
    /// As for [`wait`](Self::wait).
    unsafe fn test(self) -> ControlFlow<Result<MPI_Status>, Self> {
        // SAFETY: the caller vouches for the buffers.
        unsafe {
            match self {
                Self::Message(message) => message.test().map_continue(Self::Message),
                Self::Collective(messages) => messages
                    .test()
                    .map_continue(Self::Collective)
                    .map_break(|outcome| outcome.map(|()| posted::empty_status())),
            }
        }
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
    /// `None` once complete.
    operation: Option<Operation>,
    data: *const D,
    scope: S,
    // As in rsmpi: invariant, so that the buffer is borrowed for as long as the scope lasts.
    phantom: PhantomData<Cell<&'a ()>>,
}

impl<'a, D: ?Sized, S: Scope<'a>> Request<'a, D, S> {
    /// An operation that was started.
    ///
    /// # Safety
    /// `data` must be borrowed for `'a`, mutably for a receive, and so must all that the operation refers to.
    pub(crate) unsafe fn new(operation: Operation, data: *const D, scope: S) -> Self {
        scope.register();
        Self { operation: Some(operation), data, scope, phantom: PhantomData }
    }

    /// A collective operation that was started.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    pub(crate) unsafe fn collective(messages: Messages, data: *const D, scope: S) -> Self {
        // SAFETY: as above.
        unsafe { Self::new(Operation::Collective(messages), data, scope) }
    }

    /// An operation that rsmpi started.
    pub(crate) fn plain(request: mpi::request::Request<'a, D, S>) -> Self {
        // SAFETY: rsmpi has borrowed the buffers for 'a; it leaves the scope, which is entered again.
        unsafe {
            let (request, data, scope) = request.into_raw();
            Self::new(Operation::Message(Message { request, completion: Completion::Plain }), data, scope)
        }
    }

    /// Waits until the operation is complete, and decodes what it brought. The status of a collective operation says nothing.
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
        match self.poll() {
            Some(outcome) => outcome.map(Ok),
            None => Ok(Err(self)),
        }
    }

    fn poll(&mut self) -> Option<Result<Status>> {
        // SAFETY: the buffers are borrowed for 'a.
        match unsafe { self.operation.take()?.test() } {
            Continue(operation) => {
                self.operation = Some(operation);
                None
            }
            Break(outcome) => Some(self.ended(outcome)),
        }
    }

    fn complete(&mut self) -> Result<Status> {
        let Some(operation) = self.operation.take() else {
            return Ok(posted::status(posted::empty_status()));
        };
        // SAFETY: the buffers are borrowed for 'a.
        let outcome = unsafe { operation.wait() };
        self.ended(outcome)
    }

    /// The operation, which was taken, is over.
    fn ended(&mut self, outcome: Result<MPI_Status>) -> Result<Status> {
        // SAFETY: registered by `new`, and unregistered only here, since an operation is taken once.
        unsafe { self.scope.unregister() };
        outcome.map(posted::status)
    }
}

impl<'a, D: ?Sized, S: Scope<'a>> Drop for Request<'a, D, S> {
    #[allow(clippy::panic, reason = "documented: a message that nobody would be told of")]
    fn drop(&mut self) {
        if self.operation.is_none() {
            return;
        }
        if std::thread::panicking() {
            // What it waits for may never come. The buffers stay as they are; the scope ends the program.
            mem::forget(self.operation.take());
            return;
        }
        if let Err(error) = self.complete() {
            panic!("a request was dropped without being completed, and {error}");
        }
    }
}

impl<'a, D: ?Sized, S: Scope<'a>> fmt::Debug for Request<'a, D, S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = self.operation.is_none();
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
    let raw = requests.iter().map(|request| match &request.operation {
        Some(Operation::Message(message)) => Some(message.request),
        _ => None,
    });
    let Some(mut raw) = raw.collect::<Option<Vec<MPI_Request>>>() else { return poll_any(requests) };
    let start = Some(Instant::now());
    let count = i32::try_from(raw.len()).unwrap_or(i32::MAX);
    let (mut index, mut status) = (-1, posted::empty_status());
    // SAFETY: so many active requests, and places for the answers.
    let code = unsafe { ffi::MPI_Waitany(count, raw.as_mut_ptr(), &raw mut index, &raw mut status) };
    let index = usize::try_from(index).ok().filter(|&index| index < requests.len());
    let Some((index, mut request)) = index.map(|index| (index, requests.remove(index))) else {
        return ok(code).map(|()| None);
    };
    let outcome = match request.operation.take() {
        // SAFETY: the MPI has completed it; the buffer is borrowed for 'a.
        Some(Operation::Message(message)) => unsafe { message.completion.end(code, status, start) },
        _ => ok(code).map(|()| status),
    };
    Ok(Some((index, request.ended(outcome)?)))
}

/// The same where the MPI does not know what all of them wait for.
fn poll_any<'a, D: ?Sized, S: Scope<'a>>(
    requests: &mut Vec<Request<'a, D, S>>,
) -> Result<Option<(usize, Status)>> {
    loop {
        for index in 0..requests.len() {
            if let Some(outcome) = requests[index].poll() {
                drop(requests.remove(index));
                return Ok(Some((index, outcome?)));
            }
        }
        std::thread::yield_now();
    }
}
