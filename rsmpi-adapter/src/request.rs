//! Requests of the layer's nonblocking operations.

use crate::context::Context;
use crate::error::Result;
use mpi::ffi;
use mpi::point_to_point::Status;
use mpi::request::{Scope, StaticScope};
use mpress_layer::{Layer, MPI_Request, REQUEST_NULL, calls};
use std::cell::Cell;
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;

/// A pending operation.
struct Operation {
    request: MPI_Request,
    context: Arc<Context>,
}

/// A pending operation, like [`mpi::request::Request`], registered with one of rsmpi's scopes ([`mpi::request::scope`]). rsmpi's `WaitGuard`,
/// `CancelGuard` and `RequestCollection` do not take it; a `Vec` and [`wait_any`] do for the latter.
///
/// A receive has its message in the buffer only after [`wait`](Self::wait) or [`test`](Self::test), which decode it. Dropping a request
/// waits and decodes, so that no message is lost. If the message is damaged or too long, the drop panics, because it cannot return the
/// error; in rsmpi, every drop of an unfinished request panics. A request dropped during a panic neither waits nor completes; its scope
/// then ends the program, as in rsmpi.
#[must_use]
pub struct Request<'a, D: ?Sized, S: Scope<'a> = StaticScope> {
    /// `None` once complete.
    operation: Option<Operation>,
    data: *const D,
    scope: S,
    // Invariant, as in rsmpi, so that the buffer is borrowed for the scope's whole lifetime.
    phantom: PhantomData<Cell<&'a ()>>,
}

impl<'a, D: ?Sized, S: Scope<'a>> Request<'a, D, S> {
    /// Starts an operation by a call that sets the request.
    ///
    /// # Safety
    /// `data`, and everything else that the operation refers to, must be borrowed for `'a`, mutably for a receive.
    pub(crate) unsafe fn start(
        context: Arc<Context>,
        data: *const D,
        scope: S,
        call: impl FnOnce(Option<&Layer>, *mut MPI_Request) -> c_int,
    ) -> Result<Self> {
        let mut request = REQUEST_NULL;
        context.outcome(call(context.layer(), &raw mut request))?;
        scope.register();
        Ok(Self { operation: Some(Operation { request, context }), data, scope, phantom: PhantomData })
    }

    /// Waits until the operation is complete, and decodes the message received. The status of a collective operation is undefined.
    ///
    /// # Errors
    /// [`Error::Frame`](crate::Error::Frame), [`Error::Truncated`](crate::Error::Truncated), and errors of the MPI if the communicator's
    /// error handler returns. The request is complete after an error, too.
    pub fn wait(mut self) -> Result<Status> {
        self.complete()
    }

    /// Like [`wait`](Self::wait), without the status.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_without_status(mut self) -> Result<()> {
        self.complete().map(|_| ())
    }

    /// Like [`wait`](Self::wait), and returns the buffer.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_for_data(mut self) -> Result<&'a D> {
        self.complete()?;
        // SAFETY: the data is borrowed for 'a, and the operation that used it is complete.
        Ok(unsafe { &*self.data })
    }

    /// Tests whether the operation is complete. If so, decodes the message received and returns the status; otherwise returns the request.
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
        let Operation { request, context } = self.operation.as_mut()?;
        let (mut done, mut status) = (0, empty_status());
        let place = (&raw mut status).cast();
        // SAFETY: the request is pending and the output pointers are valid; the buffers are borrowed for 'a.
        let code = unsafe { calls::MPI_Test(context.layer(), request, &raw mut done, place) };
        let is_over = code != mpress_layer::SUCCESS || done != 0;
        is_over.then(|| self.ended(code, status))
    }

    fn complete(&mut self) -> Result<Status> {
        let mut status = empty_status();
        let Some(Operation { request, context }) = self.operation.as_mut() else {
            return Ok(Status::from_raw(status));
        };
        // SAFETY: as above.
        let code = unsafe { calls::MPI_Wait(context.layer(), request, (&raw mut status).cast()) };
        self.ended(code, status)
    }

    /// Takes the operation, which is complete.
    fn ended(&mut self, code: c_int, status: ffi::MPI_Status) -> Result<Status> {
        let Some(operation) = self.operation.take() else { return Ok(Status::from_raw(status)) };
        // SAFETY: `start` registered the request. It is unregistered only here, where the operation is taken.
        unsafe { self.scope.unregister() };
        operation.context.outcome(code).map(|()| Status::from_raw(status))
    }
}

impl<'a, D: ?Sized, S: Scope<'a>> Drop for Request<'a, D, S> {
    #[allow(clippy::panic, reason = "documented: an error that could not be reported otherwise")]
    fn drop(&mut self) {
        if self.operation.is_none() {
            return;
        }
        if std::thread::panicking() {
            // Its peer may never answer. The buffers stay allocated, because the scope ends the program.
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

/// Waits for one of several requests, removes it from the list, and returns its index and status. Returns `None` if the list is empty.
/// Requests of several communicators are polled in turn, which keeps the processor busy.
///
/// # Errors
/// As [`Request::wait`]; the request that failed is removed, too.
pub fn wait_any<'a, D: ?Sized, S: Scope<'a>>(
    requests: &mut Vec<Request<'a, D, S>>,
) -> Result<Option<(usize, Status)>> {
    let Some(context) =
        requests.first().and_then(|first| first.operation.as_ref()).map(|first| &first.context)
    else {
        return Ok(None);
    };
    let context = Arc::clone(context);
    let raw = requests.iter().map(|request| {
        let operation = request.operation.as_ref().filter(|one| Arc::ptr_eq(&one.context, &context))?;
        Some(operation.request)
    });
    let Some(mut raw) = raw.collect::<Option<Vec<MPI_Request>>>() else { return poll_any(requests) };
    let count = c_int::try_from(raw.len()).unwrap_or(c_int::MAX);
    let (mut index, mut status) = (-1, empty_status());
    let place = (&raw mut status).cast();
    // SAFETY: `count` pending requests and valid output pointers; the buffers are borrowed for 'a.
    let code = unsafe { calls::MPI_Waitany(context.layer(), count, raw.as_mut_ptr(), &raw mut index, place) };
    match usize::try_from(index).ok().filter(|&index| index < requests.len()) {
        Some(index) => Ok(Some((index, requests.remove(index).ended(code, status)?))),
        None => context.outcome(code).map(|()| None),
    }
}

/// [`wait_any`] for requests of several communicators.
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

/// A status to be filled in.
pub(crate) fn empty_status() -> ffi::MPI_Status {
    // SAFETY: the status is a C struct of integers.
    unsafe { mem::zeroed() }
}
