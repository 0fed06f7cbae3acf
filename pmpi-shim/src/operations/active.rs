//! A pending operation of the program or of the layer, and what remains to be done when the MPI has completed it; what each start of a persistent
//! request begins.

use crate::messages::error::{Error, Failure, Untold, raise};
use crate::messages::{
    context::Context, peers::Origin, posted::Bounce, posted::Posted, recorder::Receive, streams::Departing,
    wire::Wire,
};
use crate::mpi::{
    arguments::Out, open, operation, operation::Look, operation::Operation, span::Envelope, span::OwnedType,
    sys::*,
};
use mpress::waiting;
use std::{collections::VecDeque, sync::Arc};

/// A pending operation.
pub(crate) struct Active {
    /// The MPI's operation. For a persistent request it is not the one whose handle the program has.
    pub(crate) operation: Operation,
    pub(crate) finish: Finish,
    /// The send of the same call from the program's memory: the request is not complete before it.
    first: Option<Box<Active>>,
    /// The outcome, if the program knows it already from `MPI_Request_get_status`.
    done: Option<(MPI_Status, Outcome)>,
}

/// An operation that a call has started, or an error.
pub(crate) type Started = Result<Active, Error>;

/// An outcome that has yet to be told.
type Outcome = Result<(), (Origin, Untold)>;

/// The work to be done on completion.
pub(crate) enum Finish {
    Nothing,
    /// Frees the memory that was sent, after the last of the sends that share it.
    Send(Arc<Wire>),
    Receive(Box<Posted>),
    /// Like `Send`, for a message in chunks.
    Stream(Box<Departing>),
    /// Frees the memory of a received message that is not wanted.
    Forget(#[allow(dead_code, reason = "held until then")] Bounce),
    /// Waits for the messages of one of the layer's collectives.
    Collective(Origin, UnderWay),
    /// Reports the error of a collective.
    Failed(Origin, c_int),
}

impl Active {
    pub(crate) fn new(request: MPI_Request, finish: Finish) -> Self {
        Self::of(Operation::new(request), finish)
    }

    pub(crate) fn of(operation: Operation, finish: Finish) -> Self {
        Self { operation, finish, first: None, done: None }
    }

    /// The receive of a combined call whose `send` is from the program's memory.
    pub(crate) fn after(self, send: Self) -> Self {
        Self { first: Some(Box::new(send)), ..self }
    }

    /// Whether the MPI alone completes its request.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.finish, Finish::Nothing) && self.first.is_none()
    }

    /// Whether it is a receive alone.
    pub(crate) fn is_receive(&self) -> bool {
        matches!(self.finish, Finish::Receive(_)) && self.first.is_none()
    }

    /// Does the work, after the MPI has completed the operation without an error.
    ///
    /// # Safety
    /// `seen` must be the MPI's status at completion.
    pub(crate) unsafe fn finish(&mut self, context: &Context, seen: &mut MPI_Status) -> Result<(), Failure> {
        if let Some((known, outcome)) = self.done.take() {
            *seen = known;
            return outcome.map_err(|(origin, error)| (origin.handler(), error.tell()));
        }
        if let Err(code) = self.operation.outcome(seen) {
            self.abandon(context, seen.MPI_SOURCE);
            return Err((COMM_NULL, code)); // its handler has already been called
        }
        match std::mem::replace(&mut self.finish, Finish::Nothing) {
            Finish::Nothing | Finish::Forget(_) => Ok(()),
            Finish::Stream(stream) => {
                waiting::sent(stream.wire_len());
                Ok(())
            }
            Finish::Send(wire) => {
                wire.sent();
                Ok(())
            }
            // SAFETY: the caller vouches for the completion.
            Finish::Receive(posted) => unsafe { posted.finish(context, seen) },
            // Its request is complete only when all messages are.
            Finish::Collective(origin, messages) => messages.outcome.map_err(|code| (origin.handler(), code)),
            Finish::Failed(origin, code) => Err((origin.handler(), code)),
        }
    }

    /// Finishes or abandons an operation that a call of the MPI has completed with this code.
    ///
    /// # Safety
    /// As for [`finish`](Self::finish).
    unsafe fn settle(
        &mut self,
        context: &Context,
        code: c_int,
        status: &mut MPI_Status,
    ) -> Result<(), Failure> {
        if code != SUCCESS {
            self.abandon(context, status.MPI_SOURCE);
            return Err((COMM_NULL, code));
        }
        // SAFETY: the caller vouches for the completion.
        unsafe { self.finish(context, status) }
    }

    /// Advances the operation; returns whether its request may be passed to the MPI for completion. The MPI does not know all parts of a message in
    /// chunks, or of one of the layer's collectives.
    pub(crate) fn advance(&mut self, context: &Context) -> bool {
        if self.done.is_some() {
            return true;
        }
        // The MPI has called the handler for an error of the send.
        drop(self.first.take_if(|send| send.test(context, &mut empty_status()).is_some()));
        let is_ready = match &mut self.finish {
            Finish::Receive(posted) => posted.advance(context, || self.operation.look()),
            Finish::Stream(stream) => stream.advance(self.operation.request),
            Finish::Collective(..) => self.advance_collective(context),
            Finish::Nothing | Finish::Send(_) | Finish::Forget(_) | Finish::Failed(..) => true,
        };
        is_ready && self.first.is_none()
    }

    /// Whether its request may be passed to the MPI for completion, and the MPI would not wait.
    pub(crate) fn is_complete(&mut self, context: &Context) -> bool {
        // An error is reported by the call that completes it.
        self.advance(context) && !matches!(self.operation.look(), Look::UnderWay)
    }

    /// The greatest number of bytes that may come or go.
    pub(crate) fn longest(&self) -> usize {
        match &self.finish {
            Finish::Receive(posted) => posted.capacity(),
            Finish::Send(wire) => wire.len(),
            Finish::Stream(_) | Finish::Collective(..) => usize::MAX,
            Finish::Nothing | Finish::Forget(_) | Finish::Failed(..) => 0,
        }
    }

    /// Whether `advance` may say that its request is not to be passed to the MPI yet.
    pub(crate) fn may_move(&self, context: &Context) -> bool {
        match &self.finish {
            _ if self.first.is_some() => true,
            Finish::Receive(posted) => {
                posted.is_arriving() || context.engine.chunk(posted.capacity()).is_some()
            }
            Finish::Stream(..) | Finish::Collective(..) => true,
            _ => false,
        }
    }

    /// Whether it makes progress only if it is advanced.
    pub(crate) fn is_moving(&self) -> bool {
        match &self.finish {
            Finish::Stream(..) | Finish::Collective(..) => true,
            Finish::Receive(posted) => posted.is_arriving(),
            _ => false,
        }
    }

    /// Whether it must complete before `MPI_Finalize` does, although it belongs to no request of the program: its receiver has begun to receive it.
    pub(crate) fn is_bound(&self) -> bool {
        matches!(&self.finish, Finish::Stream(stream) if stream.is_matched())
    }

    /// Finishes the operation if it is complete, and sets `status`; `None` if it is pending.
    pub(crate) fn test(&mut self, context: &Context, status: &mut MPI_Status) -> Option<Result<(), c_int>> {
        if !self.advance(context) {
            return None;
        }
        let mut flag = 0;
        // SAFETY: our own request, and valid output pointers; it is complete when `settle` is called.
        unsafe {
            let code = open::MPI_Test(&raw mut self.operation.request, &raw mut flag, status);
            let is_over = code != SUCCESS || flag != 0;
            is_over.then(|| self.settle(context, code, status).map_err(|(_, code)| code))
        }
    }

    /// The MPI completed the operation with an error. It may still access the memory of the send or receive, so that is not freed.
    ///
    /// `source`: the message's source, from the status; negative if unknown.
    pub(crate) fn abandon(&mut self, context: &Context, source: c_int) {
        match std::mem::replace(&mut self.finish, Finish::Nothing) {
            Finish::Receive(posted) => posted.abandon(context, source),
            Finish::Stream(stream) => stream.abandon(),
            other => std::mem::forget(other),
        }
    }

    /// A call that was left by a jump has ended it. The MPI may still access its memory, but the program's memory is free.
    pub(crate) fn leave(self) {
        match self.finish {
            Finish::Receive(posted) => drop(posted),
            Finish::Stream(stream) => stream.abandon(),
            other => std::mem::forget(other),
        }
        std::mem::forget(self.operation);
    }

    /// Whether a receive has brought more than there is room for. The call that completes it reports that.
    pub(crate) fn is_truncated(&self, status: &MPI_Status) -> bool {
        matches!(&self.finish, Finish::Receive(posted) if posted.is_truncated(status))
    }

    /// Finishes a request that stays with the program: the outcome is kept until the program completes it.
    ///
    /// # Safety
    /// As for [`finish`](Self::finish).
    pub(crate) unsafe fn finish_early(&mut self, context: &Context, status: &mut MPI_Status) {
        if let Some((known, _)) = &self.done {
            *status = *known;
            return;
        }
        let origin = match &self.finish {
            Finish::Receive(posted) => posted.origin(),
            Finish::Failed(origin, _) | Finish::Collective(origin, _) => origin.clone(),
            _ => Origin { comm: COMM_SELF, peers: None },
        };
        // SAFETY: as above.
        let outcome = unsafe { self.finish(context, status) }.map_err(|(comm, code)| {
            // The MPI has already called the handler for an error of its own.
            let origin = if comm == COMM_NULL { Origin { comm, peers: None } } else { origin };
            (origin, Untold::new(code))
        });
        self.done = Some((*status, outcome));
    }

    /// Waits for the operation in the MPI, and stores its status where the program wants it. Nothing is advanced meanwhile: a message in chunks, or a
    /// collective, must be complete.
    pub(crate) fn wait(mut self, context: &Context, status: Out<MPI_Status>) -> c_int {
        let mut found = empty_status();
        // SAFETY: our own request and status, with which it has just completed.
        let result = unsafe {
            let code = open::MPI_Wait(&raw mut self.operation.request, &raw mut found);
            self.settle(context, code, &mut found)
        };
        status.store(&found);
        result.map_or_else(|(comm, code)| raise(comm, code), |()| SUCCESS)
    }
}

/// Pending messages. The first error is kept; the others are waited for all the same.
pub(crate) struct UnderWay {
    pub(crate) sends: VecDeque<Active>,
    pub(crate) receives: VecDeque<Active>,
    pub(crate) outcome: Result<(), c_int>,
}

impl UnderWay {
    pub(crate) fn new() -> Self {
        Self { sends: VecDeque::new(), receives: VecDeque::new(), outcome: Ok(()) }
    }

    pub(crate) fn note(&mut self, outcome: Result<(), c_int>) {
        self.outcome = self.outcome.and(outcome);
    }

    /// The number of messages that have not completed.
    pub(crate) fn left(&self) -> usize {
        self.sends.len() + self.receives.len()
    }

    /// Finishes the messages that have completed.
    pub(crate) fn test(&mut self, context: &Context) {
        let mut outcome = self.outcome;
        for list in [&mut self.receives, &mut self.sends] {
            list.retain_mut(|active| match active.test(context, &mut empty_status()) {
                None => true,
                Some(result) => {
                    outcome = outcome.and(result);
                    false
                }
            });
        }
        self.outcome = outcome;
    }

    /// A request that is complete when all messages are. A single send does not need a generalized request.
    pub(crate) fn into_request(mut self, origin: Origin) -> Result<Active, c_int> {
        if self.outcome.is_ok()
            && self.receives.is_empty()
            && self.sends.len() == 1
            && let Some(only) = self.sends.pop_front()
        {
            return Ok(only);
        }
        match operation::pending::<UNDEFINED, UNDEFINED>() {
            Ok(request) => Ok(Active::new(request, Finish::Collective(origin, self))),
            Err(code) => {
                // Not freed, since the MPI still accesses its memory.
                std::mem::forget(self);
                Err(code)
            }
        }
    }
}

impl Active {
    /// Advances a collective; returns whether it is complete. If so, its request is complete, too.
    fn advance_collective(&mut self, context: &Context) -> bool {
        let Finish::Collective(origin, messages) = &mut self.finish else { return true };
        messages.test(context);
        if messages.left() > 0 {
            return false;
        }
        // SAFETY: the request of `into_request`, completed once: after this it is no longer treated as a collective.
        let completed = ok(unsafe { PMPI_Grequest_complete(self.operation.request) });
        self.finish = match messages.outcome.and(completed) {
            Ok(()) => Finish::Nothing,
            Err(code) => Finish::Failed(origin.clone(), code),
        };
        true
    }
}

/// The send modes of MPI.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Standard,
    Synchronous,
    Ready,
    Buffered,
}

impl Mode {
    /// The name of the call, as used in samples of messages.
    pub(crate) fn name(self, blocking: bool) -> &'static str {
        let names = if blocking {
            ["send", "ssend", "rsend", "bsend"]
        } else {
            ["isend", "issend", "irsend", "ibsend"]
        };
        names[self as usize]
    }
}

/// The operation that each start of a persistent request begins.
pub(crate) struct Template {
    pub(crate) action: Action,
    pub(crate) message: Envelope,
    /// Its communicator, which the program may free and still start the request.
    pub(crate) origin: Origin,
    /// A reference to the datatype, which the program may free and still start the request.
    pub(crate) _datatype: Option<OwnedType>,
    /// What is recorded of each start.
    pub(crate) traced: Option<Receive>,
}

/// The operations of persistent requests.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    Send(Mode),
    Receive,
}
