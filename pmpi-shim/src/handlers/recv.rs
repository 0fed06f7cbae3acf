//! The receive calls, blocking and nonblocking.

use crate::messages::{error::called, error::raise, peers::Peers, posted::Posted};
use crate::mpi::span::{Envelope, Span, is_tag};
use crate::mpi::{arguments, arguments::Out, open, operation::Operation, operation::completed, real, sys::*};
use crate::operations::active::{Active, Finish, Started};
use crate::operations::{prefetch::LONG, state::Shim};
use crate::progress;
use mpress::{SHORTEST, waiting};
use mpress_record::CallKind;
use std::sync::Arc;

impl Shim {
    /// The peers of a receive of `capacity` bytes that may bring a frame, or whose message may be in the unexpected queue. `None`: the MPI's own call
    /// is sufficient.
    pub(crate) fn meets_frames(&self, message: &Envelope, capacity: usize) -> Option<Arc<Peers>> {
        // A short buffer cannot hold a frame. Its message may be in the unexpected queue; but without threads the unexpected queue cannot fill up
        // between this check and the receive.
        if capacity < SHORTEST && !self.multiple && self.unexpected.is_empty() {
            return None;
        }
        self.probe_peers(message.asked()).filter(|_| !self.refused(&message.span))
    }

    /// Tells the predictor of a receive call, if messages are prefetched.
    #[inline]
    pub(crate) fn expect_more(&self, message: &Envelope) {
        if !self.prefetch.is_on() {
            return;
        }
        let is_wild = message.peer == ANY_SOURCE || message.tag == ANY_TAG;
        // Shorter receives, except those with wildcards, bring no frame.
        let capacity = message.span.bytes().unwrap_or(0);
        if is_wild || capacity >= SHORTEST {
            self.expect_after(message.asked(), capacity >= LONG);
        }
    }

    /// Tells the predictor of a matched probe, or of a receive whose message `may_be_long`.
    pub(crate) fn expect_after(&self, of: Match, may_be_long: bool) {
        if self.prefetch.is_on()
            && let Some(peers) = self.probe_peers(of)
        {
            self.prefetch.observe(self, of, may_be_long, &peers);
        }
    }

    /// The peers of a receive whose elements are unpacked faster here, so that its message is received packed.
    fn unpacks(&self, message: &Envelope, capacity: usize) -> Option<Arc<Peers>> {
        if message.peer == PROC_NULL || !self.reordered(&message.span, capacity) {
            return None;
        }
        self.all_peers(message.comm).filter(|_| self.accepts(message, true))
    }

    /// Whether the MPI accepts the arguments of a message on a valid communicator. `wildcards`: in a receive.
    pub(super) fn accepts(&self, message: &Envelope, wildcards: bool) -> bool {
        let Envelope { span, peer, tag, comm } = *message;
        (is_tag(tag) || (wildcards && tag == ANY_TAG))
            && (peer == PROC_NULL
                || (wildcards && peer == ANY_SOURCE)
                || self.all_peers(comm).is_some_and(|peers| peers.has(peer)))
            && !self.refused(&span)
    }

    /// Whether a blocking receive may be the MPI's own, with our memory in place of the program's: the unexpected queue is empty, no other thread can
    /// fill it, and nothing needs to be advanced meanwhile.
    pub(super) fn receives_at_once(&self) -> bool {
        !self.multiple && self.unexpected.is_empty() && self.may_wait()
    }

    /// The peers of a receive for which the MPI's own call is not sufficient.
    pub(super) fn needs_us(&self, message: &Envelope) -> Option<Arc<Peers>> {
        let capacity = message.span.bytes()?;
        self.meets_frames(message, capacity).or_else(|| self.unpacks(message, capacity))
    }

    /// The program asks for a message by a receive call; the result is that of `needs_us`.
    fn asks(&self, kind: CallKind, message: &Envelope) -> Option<Arc<Peers>> {
        self.trace(kind, message);
        self.expect_more(message);
        self.needs_us(message)
    }
}

handlers! {
    recv(Recv): |shim, call, pass| {
        let message = call.message();
        let Some(peers) = shim.asks(CallKind::Recv, &message) else { return pass() };
        waiting::during_long(&shim.engine, message.span.bytes().unwrap_or(0), || {
            if shim.receives_at_once() {
                return in_one_call(shim, &message, &peers, call.status);
            }
            let wait = |active| progress::wait(shim, active, call.status);
            start(shim, &message, &peers, true).map_or_else(|error| raise(message.comm, error), wait)
        })
    };
    irecv(Irecv): |shim, call, pass| {
        let message = call.message();
        let Some(peers) = shim.asks(CallKind::Irecv, &message) else { return pass() };
        progress::hand_out(shim, message.comm, start(shim, &message, &peers, false), call.request)
    };
}

/// The MPI's own blocking receive ([`Shim::receives_at_once`]).
fn in_one_call(shim: &Shim, message: &Envelope, peers: &Arc<Peers>, status: Out<MPI_Status>) -> c_int {
    let Envelope { peer, tag, comm, .. } = *message;
    // Short buffers do not come here (`meets_frames`).
    let posted = match Posted::new(shim, message, Arc::clone(peers), true) {
        Ok(posted) => posted,
        Err(code) => return raise(comm, code),
    };
    // SAFETY: receives into the span. The MPI may call the program's error handler here, hence `open`.
    unsafe {
        complete(shim, posted, status, Some(comm), |into, found| {
            open::MPI_Recv_any(into.ptr(), into.count(), into.datatype(), peer, tag, comm, found)
        })
    }
}

/// Makes the MPI's blocking receive into a posted buffer, and delivers the message. `own`: the communicator that the call names. It gets the error
/// even if the program is freeing it: a callback may receive then.
///
/// # Safety
/// `receive` must receive into the span that it is given.
pub(super) unsafe fn complete(
    shim: &Shim,
    posted: Posted,
    status: Out<MPI_Status>,
    own: Option<MPI_Comm>,
    receive: impl FnOnce(Span, *mut MPI_Status) -> c_int,
) -> c_int {
    let mut found = empty_status();
    // SAFETY: the posted receive is kept until the call returns.
    let code = receive(unsafe { posted.span() }, &raw mut found);
    let result = if code == SUCCESS {
        // SAFETY: the caller vouches for the receive.
        unsafe { posted.finish(shim, &mut found) }
    } else {
        posted.abandon(shim, found.MPI_SOURCE);
        Ok(())
    };
    status.store(&found);
    result.map_or_else(|(comm, code)| raise(own.unwrap_or(comm), code), |()| code)
}

/// Starts a receive that `meets_frames`: from the unexpected queue, or from the MPI.
pub(super) fn start(shim: &Shim, message: &Envelope, peers: &Arc<Peers>, own_handler: bool) -> Started {
    let of = message.asked();
    loop {
        if let Some(unreceived) = shim.unexpected.take(of) {
            return unreceived.into_receive(shim, &shim.requests, &message.span);
        }
        let held = shim.unexpected.hold();
        if !held.has(of) {
            return post(shim, message, peers, own_handler);
        }
    }
}

fn post(shim: &Shim, message: &Envelope, peers: &Arc<Peers>, own_handler: bool) -> Started {
    if message.span.bytes().unwrap_or(0) < SHORTEST {
        return as_is(shim, message, own_handler);
    }
    let posted = Posted::new(shim, message, Arc::clone(peers), false)?;
    // SAFETY: it is kept with the request.
    let into = Envelope { span: unsafe { posted.span() }, ..*message };
    let mut active = as_is(shim, &into, own_handler)?;
    active.finish = Finish::Receive(Box::new(posted));
    Ok(active)
}

/// Starts a receive, whether or not it meets frames.
pub(crate) fn start_any(shim: &Shim, message: &Envelope, own_handler: bool) -> Started {
    if message.peer == PROC_NULL {
        // The status of MPICH's own nonblocking receive from `MPI_PROC_NULL` is wrong.
        return Ok(Active::new(completed::<PROC_NULL, ANY_TAG>()?, Finish::Nothing));
    }
    match shim.needs_us(message) {
        Some(peers) => start(shim, message, &peers, own_handler),
        None => as_is(shim, message, own_handler),
    }
}

/// The MPI's own nonblocking receive.
///
/// `own_handler`: an error must be reported to the communicator's error handler, as by the program's own call. If the MPI reports errors of other
/// requests elsewhere, the request is a persistent one.
pub(crate) fn as_is(shim: &Shim, message: &Envelope, own_handler: bool) -> Started {
    let Envelope { span, peer, tag, comm } = *message;
    let own_handler = own_handler && !shim.family.calls_own_handler();
    let mut inner = REQUEST_NULL;
    // SAFETY: the span's own promise, and valid output pointers.
    unsafe {
        let start = if own_handler { real::MPI_Recv_init_any } else { real::MPI_Irecv_any };
        called(start(span.ptr(), span.count(), span.datatype(), peer, tag, comm, &raw mut inner))?;
        if !own_handler {
            return Ok(Active::new(inner, Finish::Nothing));
        }
        let mut operation = Operation::persistent(inner);
        called(real::MPI_Start(&raw mut operation.request))?;
        Ok(Active::of(operation, Finish::Nothing))
    }
}
