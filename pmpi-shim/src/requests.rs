//! Requests under way that need something done when they complete, by the handle the program has.

mod few;
mod under_way;

pub(crate) use few::Few;
pub(crate) use under_way::UnderWay;

use crate::context::Context;
use crate::error::{Kept, raise};
use crate::handle::{Handle, HandleMap};
use crate::mpi::open;
use crate::operation::{Look, Operation};
use crate::peers::Peers;
use crate::posted::{Bounce, Posted};
use crate::span::{Envelope, OwnedType, store_status};
use crate::streams::Departing;
use crate::sys::*;
use crate::waiting;
use crate::wire::Wire;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// An operation under way.
pub(crate) struct Active {
    /// The MPI's own. For a persistent request it is not the one the program holds.
    pub(crate) operation: Operation,
    pub(crate) finish: Finish,
    /// What the program knows of it already, by its own `MPI_Request_get_status`.
    done: Option<(MPI_Status, Result<(), Kept>)>,
}

/// What is to be done at completion.
pub(crate) enum Finish {
    Nothing,
    /// Free the memory that was sent, after the last of the sends that share it.
    Send(Arc<Wire>),
    /// The same of a message that is as long as the program gave it.
    Packed(#[allow(dead_code, reason = "held until then")] Arc<Wire>),
    Receive(Posted),
    /// The same for a message that goes in chunks.
    Stream(Box<Departing>),
    /// Free the memory that a message is received into, which nobody wants any more.
    Forget(#[allow(dead_code, reason = "held until then")] Bounce),
    /// A collective of ours: its messages are to be waited for.
    Collective(MPI_Comm, UnderWay),
    /// Report an error that was found when the message was delivered.
    Failed(MPI_Comm, c_int),
}

/// A failure: the communicator whose handler it goes to, null if none is to be called, and the code.
pub(crate) type Failure = (MPI_Comm, c_int);

impl Active {
    pub(crate) fn new(request: MPI_Request, finish: Finish) -> Self {
        Self::of(Operation::new(request), finish)
    }

    pub(crate) fn of(operation: Operation, finish: Finish) -> Self {
        Self { operation, finish, done: None }
    }

    /// Does what is to be done, once the MPI has completed the operation without an error.
    ///
    /// # Safety
    /// `status` must be what the MPI gave at completion.
    pub(crate) unsafe fn finish(
        &mut self,
        context: &Context,
        status: &mut MPI_Status,
    ) -> Result<(), Failure> {
        let comm = match &self.finish {
            Finish::Receive(posted) => posted.comm(),
            Finish::Failed(comm, _) | Finish::Collective(comm, _) => *comm,
            Finish::Nothing | Finish::Send(_) | Finish::Packed(_) | Finish::Stream(_) | Finish::Forget(_) => {
                COMM_SELF
            }
        };
        if let Some((known, outcome)) = self.done.take() {
            *status = known;
            return outcome.map_err(|error| (comm, error.tell()));
        }
        if let Err(code) = self.operation.outcome(status) {
            self.abandon(context, status.MPI_SOURCE);
            return Err((COMM_NULL, code)); // its handler has been called
        }
        match std::mem::replace(&mut self.finish, Finish::Nothing) {
            Finish::Nothing | Finish::Packed(_) | Finish::Forget(_) | Finish::Stream(_) => Ok(()),
            Finish::Send(wire) => {
                waiting::sent(wire.len());
                Ok(())
            }
            // SAFETY: the caller vouches for the completion.
            Finish::Receive(posted) => unsafe { posted.finish(context, status) }.map_err(|code| (comm, code)),
            // Its request is complete only once it has been advanced to its end.
            Finish::Collective(comm, messages) => messages.outcome().map_err(|code| (comm, code)),
            Finish::Failed(comm, code) => Err((comm, code)),
        }
    }

    /// What becomes of an operation that a call of the MPI's has completed, with this code: it is finished or abandoned.
    ///
    /// # Safety
    /// As for [`finish`](Self::finish).
    pub(crate) unsafe fn settle(
        &mut self,
        context: &Context,
        code: c_int,
        status: &mut MPI_Status,
    ) -> Result<(), c_int> {
        if code != SUCCESS {
            self.abandon(context, status.MPI_SOURCE);
            return Err(code);
        }
        // SAFETY: the caller vouches for the completion.
        unsafe { self.finish(context, status) }.map_err(|(_, code)| code)
    }

    /// Moves it on; says whether the MPI may be asked to complete its request. Of a message in chunks, and of a collective of ours, the MPI
    /// does not know all.
    pub(crate) fn advance(&mut self, context: &Context) -> bool {
        if self.done.is_some() {
            return true;
        }
        match &mut self.finish {
            Finish::Receive(posted) => posted.advance(context, || self.operation.look()),
            Finish::Stream(stream) => stream.advance(self.operation.request),
            Finish::Collective(..) => self.advance_collective(context),
            Finish::Nothing
            | Finish::Send(_)
            | Finish::Packed(_)
            | Finish::Forget(_)
            | Finish::Failed(..) => true,
        }
    }

    /// Whether the MPI may be asked to complete its request, and would not wait.
    pub(crate) fn is_complete(&mut self, context: &Context) -> bool {
        // An error is for the call that completes it.
        self.advance(context) && !matches!(self.operation.look(), Look::UnderWay)
    }

    /// Whether it moves on only if it is advanced.
    pub(crate) fn is_moving(&self) -> bool {
        match &self.finish {
            Finish::Stream(..) | Finish::Collective(..) => true,
            Finish::Receive(posted) => posted.is_arriving(),
            _ => false,
        }
    }

    /// Starts what is held: from then on the MPI does all that others wait for.
    pub(crate) fn start_held(&mut self) {
        match &mut self.finish {
            Finish::Stream(stream) => stream.start_held(),
            Finish::Collective(_, messages) => messages.start_held(),
            _ => {}
        }
    }

    /// Whether it must be done before `MPI_Finalize` is, although no request of the program's waits for it: its receiver has begun to
    /// take it.
    pub(crate) fn is_bound(&self) -> bool {
        matches!(&self.finish, Finish::Stream(stream) if stream.is_matched())
    }

    /// Finishes it if it has completed, with its `status`; `None` if it has not.
    pub(crate) fn test(&mut self, context: &Context, status: &mut MPI_Status) -> Option<Result<(), c_int>> {
        if !self.advance(context) {
            return None;
        }
        let mut flag = 0;
        // SAFETY: a request of ours and valid output pointers; it has completed when `settle` is called.
        unsafe {
            let code = open::MPI_Test(&raw mut self.operation.request, &raw mut flag, status);
            (code != SUCCESS || flag != 0).then(|| self.settle(context, code, status))
        }
    }

    /// The MPI completed the operation with an error. It may still read what it was given to send, and write where it was told
    /// to: that memory is not given back.
    ///
    /// `source`: as the status has it, whose message it was; negative where it is not known.
    pub(crate) fn abandon(&mut self, context: &Context, source: c_int) {
        match std::mem::replace(&mut self.finish, Finish::Nothing) {
            Finish::Receive(posted) => posted.abandon(context, source),
            Finish::Stream(stream) => stream.abandon(),
            other => std::mem::forget(other),
        }
    }

    /// The same for a request that stays with the program: what came out is kept for when it is waited for.
    ///
    /// # Safety
    /// As for [`finish`](Self::finish).
    pub(crate) unsafe fn finish_early(&mut self, context: &Context, status: &mut MPI_Status) {
        // SAFETY: as above.
        let result = unsafe { self.finish(context, status) };
        if let Err((comm, code)) = result {
            self.finish = Finish::Failed(comm, code);
        }
        self.done = Some((*status, result.map_err(|(_, code)| Kept::new(code))));
    }

    /// Waits for it in the MPI, and stores its status where the program wants it. Nothing else is moved on meanwhile.
    ///
    /// # Safety
    /// `status` must be a status or `MPI_STATUS_IGNORE`.
    pub(crate) unsafe fn wait(mut self, context: &Context, status: *mut MPI_Status) -> c_int {
        let mut found = empty_status();
        while matches!(self.finish, Finish::Stream(..) | Finish::Collective(..)) && !self.advance(context) {
            std::thread::yield_now();
        }
        // SAFETY: a request of ours, a status of ours.
        let code = unsafe { open::MPI_Wait(&raw mut self.operation.request, &raw mut found) };
        if code != SUCCESS {
            self.abandon(context, found.MPI_SOURCE);
            // SAFETY: the caller vouches for the place.
            unsafe { store_status(status, &found) };
            return code;
        }
        // SAFETY: the request has just completed with this status.
        let result = unsafe { self.finish(context, &mut found) };
        // SAFETY: the caller vouches for the place.
        unsafe { store_status(status, &found) };
        result.map_or_else(|(comm, code)| raise(comm, code), |()| SUCCESS)
    }
}

/// The send modes of MPI.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Standard,
    Synchronous,
    Ready,
    /// A frame is a copy already, so the program's attached buffer is not needed for it.
    Buffered,
}

impl Mode {
    /// The name of its call, as samples of messages have it.
    pub(crate) fn name(self, blocking: bool) -> &'static str {
        match (self, blocking) {
            (Self::Standard, true) => "send",
            (Self::Synchronous, true) => "ssend",
            (Self::Ready, true) => "rsend",
            (Self::Buffered, true) => "bsend",
            (Self::Standard, false) => "isend",
            (Self::Synchronous, false) => "issend",
            (Self::Ready, false) => "irsend",
            (Self::Buffered, false) => "ibsend",
        }
    }
}

/// What a persistent request does each time it is started.
pub(crate) struct Template {
    pub(crate) action: Action,
    pub(crate) message: Envelope,
    /// Of its communicator, which the program may free and start the request all the same.
    pub(crate) peers: Option<Arc<Peers>>,
    /// The program may free the datatype and start the request all the same.
    pub(crate) _datatype: Option<OwnedType>,
}

impl Template {
    /// Whether the program has not freed the communicator.
    pub(crate) fn is_of_a_live_communicator(&self) -> bool {
        self.peers.as_ref().is_some_and(|peers| peers.handler_of(self.message.comm) != COMM_NULL)
    }
}

/// The two things a persistent request can do.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    Send(Mode),
    Receive,
}

/// A request of the program's.
pub(crate) struct Record {
    pub(crate) active: Option<Active>,
    pub(crate) template: Option<Template>,
}

/// The records, by the program's handle. A record is taken out before the MPI completes its request, since the MPI may
/// give the same handle to another thread's request as soon as that has happened.
#[derive(Default)]
pub(crate) struct Requests {
    records: Mutex<HandleMap<Box<Record>>>,
    count: AtomicUsize,
}

impl Requests {
    /// Whether there are none. What another thread adds at the same moment cannot be a request of this call.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Keeps a record if there is anything to be done at completion, and gives the handle for the program.
    pub(crate) fn hand_out(&self, active: Active) -> MPI_Request {
        let handle = active.operation.request;
        if !matches!(active.finish, Finish::Nothing) {
            self.put(handle, Box::new(Record { active: Some(active), template: None }));
        }
        handle
    }

    pub(crate) fn put(&self, handle: MPI_Request, record: Box<Record>) {
        self.change(|records| records.insert(handle.key(), record));
    }

    pub(crate) fn put_all(&self, kept: impl Iterator<Item = (MPI_Request, Box<Record>)>) {
        let mut kept = kept.peekable();
        if kept.peek().is_some() {
            self.change(|records| records.extend(kept.map(|(handle, record)| (handle.key(), record))));
        }
    }

    pub(crate) fn take(&self, handle: MPI_Request) -> Option<Box<Record>> {
        if self.is_empty() { None } else { self.change(|records| records.remove(&handle.key())) }
    }

    /// The records of several requests; `None` if none has one.
    pub(crate) fn take_all(&self, handles: &[MPI_Request]) -> Option<Few<Option<Box<Record>>>> {
        if self.is_empty() {
            return None;
        }
        let taken = self.change(|records| Few::of(handles, |handle| records.remove(&handle.key())));
        taken.iter().any(Option::is_some).then_some(taken)
    }

    /// Does this to every operation that no call of the program's is about.
    pub(crate) fn each(&self, mut work: impl FnMut(&mut Active)) {
        if !self.is_empty() {
            self.change(|records| {
                records.values_mut().filter_map(|record| record.active.as_mut()).for_each(&mut work);
            });
        }
    }

    fn change<R>(&self, change: impl FnOnce(&mut HandleMap<Box<Record>>) -> R) -> R {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut records);
        self.count.store(records.len(), Ordering::Release);
        result
    }
}
