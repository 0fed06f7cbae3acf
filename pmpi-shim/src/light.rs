//! Light receives: most nonblocking receives bring raw messages into contiguous memory of their own. The shim looks at such a message when it has come, and
//! until then keeps only what it needs for that: no record, no claim on the memory.
//!
//! The calls that may find light receives are listed in `build/exports.rs`. All others first make records of them ([`Shim::settle_light`]), and so does a
//! receive that is not light: records of receives and light receives do not coexist.

use crate::device;
use crate::error::{Error, called};
use crate::mpi::real;
use crate::operation::Operation;
use crate::peers::Peers;
use crate::posted::Posted;
use crate::requests::{Active, Finish, Record};
use crate::span::{Envelope, received_bytes};
use crate::state::Shim;
use crate::sys::*;
use crate::waiting;
use mpress::FRONT;
use std::ffi::c_int;
use std::ops::Range;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of light receives; they are looked up one by one.
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

    /// Puts back a receive that has not completed.
    pub(crate) fn put(&self, receive: Receive) {
        self.change(|receives| receives.push(receive));
    }
}

impl Receive {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn range(&self) -> Range<usize> {
        self.memory.addr()..self.memory.addr().saturating_add(self.len)
    }

    /// Whether a frame has come.
    ///
    /// # Safety
    /// It must have completed without an error, with this status.
    pub(crate) unsafe fn has_frame(&self, shim: &Shim, status: &MPI_Status) -> bool {
        // SAFETY: memory that the program lends until the receive is finished; a frame is longer than its front.
        self.peers.may_be_frame(status, received_bytes(status))
            && shim.engine.is_frame(unsafe { slice::from_raw_parts(self.memory, FRONT) })
    }

    /// Counts a raw message.
    pub(crate) fn count(&self, status: &MPI_Status) {
        if mpress::Engine::counts(self.len) {
            let received = received_bytes(status);
            if self.peers.may_be_frame(status, received) {
                waiting::received(received);
            }
        }
    }

    /// The record of the receive. `pending`: it has not completed.
    pub(crate) fn into_record(self, shim: &Shim, pending: bool) -> Box<Record> {
        let Self { request, memory, len, comm, peers } = self;
        let posted = Posted::bytes(shim, (memory, len), peers, comm, pending);
        let active = Active::of(Operation::new(request), Finish::Receive(posted));
        Box::new(Record { active: Some(active), template: None })
    }
}

impl Shim {
    /// Starts a receive that `meets_frames` as a light one. `None` if it cannot be one: nothing has been started.
    ///
    /// # Safety
    /// `message` must be what the caller of a receive function gave.
    pub(crate) unsafe fn start_light(
        &self,
        message: &Envelope,
        peers: &Arc<Peers>,
    ) -> Option<Result<MPI_Request, Error>> {
        let Envelope { span, peer, tag, comm } = *message;
        // With threads, receives and completions may cross. A layer's program calls its functions directly.
        if !cfg!(shim) || self.multiple || !self.stash.is_empty() || !self.requests.is_empty() {
            return None;
        }
        let len = span.bytes().filter(|&len| self.engine.chunk(len).is_none())?;
        let count = c_int::try_from(len).ok()?;
        // What is contiguous only by its definition may lie elsewhere than at its address.
        self.kinds.predefined(span.datatype)?;
        let memory = span.ptr.cast::<u8>();
        let range = memory.addr()..memory.addr().saturating_add(len);
        let is_free = |receives: &mut Vec<Receive>| {
            let is_apart = |one: &Receive| one.range().end <= range.start || range.end <= one.range().start;
            receives.len() < MOST && receives.iter().all(is_apart)
        };
        if self.in_place.is_used() || device::is_device(span.ptr) || !self.light.change(is_free) {
            return None;
        }
        let mut request = REQUEST_NULL;
        // SAFETY: the caller vouches for the memory.
        let code = unsafe { real::MPI_Irecv(span.ptr, count, BYTE, peer, tag, comm, &raw mut request) };
        Some(called(code).map(|()| {
            self.light.put(Receive { request, memory, len, comm, peers: Arc::clone(peers) });
            request
        }))
    }

    /// Makes records of all light receives.
    pub(crate) fn settle_light(&self) {
        if self.light.is_empty() {
            return;
        }
        for receive in self.light.change(std::mem::take) {
            let request = receive.request;
            self.requests.put(request, receive.into_record(self, true));
        }
    }
}
