//! Light receives: most nonblocking receives bring raw messages into contiguous memory of their own. The shim looks at such a message when it has come, and
//! until then keeps only what it needs for that: no record, no claim on the memory.
//!
//! The calls that may find light receives are listed in `build/exports.rs`. All others first make records of them
//! ([`settle_light`](crate::progress::settle_light)), and so does a receive that is not light.

use crate::messages::context::Context;
use crate::messages::peers::Peers;
use crate::messages::posted::Posted;
use crate::messages::waiting;
use crate::mpi::operation::Operation;
use crate::mpi::span::received_bytes;
use crate::mpi::sys::*;
use crate::operations::requests::{Active, Finish, Record};
use mpress::FRONT;
use std::ops::Range;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The greatest number of light receives; they are looked up one by one.
pub(crate) const MOST: usize = 32;

/// A light receive.
pub(crate) struct Receive {
    request: MPI_Request,
    memory: *mut u8,
    len: usize,
    comm: MPI_Comm,
    peers: Arc<Peers>,
}

/// All light receives.
#[derive(Default)]
pub(crate) struct Light {
    receives: Mutex<Vec<Receive>>,
    count: AtomicUsize,
}

impl Light {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Receive>) -> R) -> R {
        let mut receives = self.receives.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut receives);
        self.count.store(receives.len(), Ordering::Release);
        result
    }

    /// Whether there may be one more, into this memory: it is apart from that of the others.
    pub(crate) fn has_room_for(&self, memory: *mut u8, len: usize) -> bool {
        let memory = range(memory, len);
        self.change(|receives| {
            let is_apart = |one: &Receive| {
                let other = range(one.memory, one.len);
                other.end <= memory.start || memory.end <= other.start
            };
            receives.len() < MOST && receives.iter().all(is_apart)
        })
    }

    /// Takes out all receives, with their requests.
    pub(crate) fn take_all(&self) -> impl Iterator<Item = (MPI_Request, Receive)> + use<> {
        self.change(std::mem::take).into_iter().map(|receive| (receive.request, receive))
    }

    /// Takes out the receive with this request.
    pub(crate) fn take(&self, request: MPI_Request) -> Option<Receive> {
        if self.is_empty() {
            return None;
        }
        self.change(|receives| {
            let at = receives.iter().position(|receive| receive.request == request)?;
            Some(receives.swap_remove(at))
        })
    }

    /// Adds a receive, or puts back one that has not completed.
    pub(crate) fn put(&self, receive: Receive) {
        self.change(|receives| receives.push(receive));
    }
}

impl Receive {
    pub(crate) fn new(
        request: MPI_Request,
        (memory, len): (*mut u8, usize),
        comm: MPI_Comm,
        peers: Arc<Peers>,
    ) -> Self {
        Self { request, memory, len, comm, peers }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The length of the message, if it may be a frame, or a damaged one.
    fn may_be_frame(&self, status: &MPI_Status) -> Option<usize> {
        Some(received_bytes(status)).filter(|&len| self.peers.may_be_damaged_frame(status, len))
    }

    /// Whether a frame has come.
    ///
    /// # Safety
    /// It must have completed without an error, with this status.
    pub(crate) unsafe fn has_frame(&self, context: &Context, status: &MPI_Status) -> bool {
        // SAFETY: memory that the program lends until the receive is finished; the shortest frame is longer than its front.
        self.may_be_frame(status).is_some()
            && context.engine.is_frame(unsafe { slice::from_raw_parts(self.memory, FRONT) })
    }

    /// Counts a raw message.
    pub(crate) fn count(&self, status: &MPI_Status) {
        if mpress::Engine::counts(self.len)
            && let Some(received) = self.may_be_frame(status)
        {
            waiting::received(received);
        }
    }

    /// The record of the receive. `pending`: it has not completed.
    pub(crate) fn into_record(self, context: &Context, pending: bool) -> Box<Record> {
        let Self { request, memory, len, comm, peers } = self;
        let posted = Posted::bytes(context, (memory, len), peers, comm, pending);
        let active = Active::of(Operation::new(request), Finish::Receive(posted));
        Box::new(Record { active: Some(active), template: None })
    }
}

fn range(memory: *mut u8, len: usize) -> Range<usize> {
    memory.addr()..memory.addr().saturating_add(len)
}
