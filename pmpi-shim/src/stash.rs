//! Messages that had to be received before the program asked for them: only a frame's header tells the length that a
//! probe must report, and only receiving a frame shows its header.
//!
//! For each communicator and source the stash holds the *earliest* messages that have not been received: with a frame,
//! everything the same source sent before it is taken too. So a receive that looks here first, and then in the MPI's own
//! queue, never overtakes.

use crate::deliver::{Delivered, completed, land};
use crate::peers::Peers;
use crate::requests::{Active, Finish};
use crate::span::{Span, received_bytes};
use crate::state::{self, Error, Handle, Shim, called};
use crate::sys::*;
use crate::table::real;
use mpress::Buffer;
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

/// A message that has arrived.
pub(crate) struct Arrived {
    comm: usize,
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    wire: Buffer,
    framed: bool,
    raw_len: usize,
}

impl Arrived {
    /// Receives a matched message, whose status is `status`.
    pub(crate) unsafe fn receive(
        shim: &Shim,
        comm: MPI_Comm,
        peers: &Peers,
        message: &mut MPI_Message,
        status: &MPI_Status,
    ) -> Result<Self, Error> {
        let len = received_bytes(status);
        let mut wire = shim.engine.buffer(len).ok_or(ERR_NO_MEM)?;
        wire.set_len(len);
        let bytes = shim.byte_span(wire.as_mut_ptr(), len)?;
        let mut received = empty_status();
        // SAFETY: a message matched before, and room for all of it.
        called(unsafe {
            real::MPI_Mrecv(bytes.span.ptr, bytes.count(), bytes.span.datatype, message, &raw mut received)
        })?;
        let framed = peers.framed(status.MPI_SOURCE) && shim.engine.is_frame(&wire);
        // The length of a damaged frame is not known; the receive will say what is wrong with it.
        let opened = if framed { shim.engine.open(&wire).ok() } else { None };
        let raw_len = opened.map_or(len, |incoming| incoming.raw_len());
        Ok(Self { comm: comm.key(), source: status.MPI_SOURCE, tag: status.MPI_TAG, wire, framed, raw_len })
    }

    fn matches(&self, comm: MPI_Comm, source: c_int, tag: c_int) -> bool {
        self.comm == comm.key()
            && (source == ANY_SOURCE || source == self.source)
            && (tag == ANY_TAG || tag == self.tag)
    }

    /// What a probe reports.
    pub(crate) fn seen(&self) -> Delivered {
        Delivered { source: self.source, tag: self.tag, bytes: self.raw_len }
    }

    /// Puts the message into the buffer of a receive.
    ///
    /// # Safety
    /// `span` must be what the caller of a receive function gave.
    pub(crate) unsafe fn deliver(self, shim: &Shim, span: &Span) -> (Delivered, Result<(), c_int>) {
        let capacity = span.bytes().unwrap_or(0);
        // SAFETY: the caller vouches for the span; the wire is a buffer of our own.
        let result = unsafe { land(shim, &self.wire, self.framed, span, capacity) };
        (self.seen(), result.map(|_| ()))
    }

    /// The same for a receive that has a request: gives one that is complete, and reports a failure when waited for.
    ///
    /// # Safety
    /// As for [`deliver`](Self::deliver).
    pub(crate) unsafe fn deliver_as_request(
        self,
        shim: &Shim,
        span: &Span,
        comm: MPI_Comm,
    ) -> Result<Active, c_int> {
        // SAFETY: the caller vouches for the span.
        let (delivered, result) = unsafe { self.deliver(shim, span) };
        let mut active = completed(Some(delivered))?;
        if let Err(code) = result {
            active.finish = Finish::Failed(comm, code);
        }
        Ok(active)
    }
}

/// The stash. A receive holds its read lock from looking here until the MPI has its posted receive, and whoever moves
/// messages from the MPI to here holds the write lock: no message can slip past a waiting receive.
#[derive(Default)]
pub(crate) struct Stash {
    arrived: RwLock<Vec<Arrived>>,
    count: AtomicUsize,
}

impl Stash {
    /// Whether nothing waits here.
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// The first message that matches, as a probe reports it.
    pub(crate) fn find(&self, comm: MPI_Comm, source: c_int, tag: c_int) -> Option<Delivered> {
        self.hold().find(comm, source, tag)
    }

    /// The first message that matches.
    pub(crate) fn take(&self, comm: MPI_Comm, source: c_int, tag: c_int) -> Option<Arrived> {
        if self.is_empty() {
            return None;
        }
        let mut arrived = self.arrived.write().unwrap_or_else(PoisonError::into_inner);
        let at = arrived.iter().position(|message| message.matches(comm, source, tag))?;
        let message = arrived.remove(at);
        self.count.store(arrived.len(), Ordering::Release);
        Some(message)
    }

    /// Keeps others from moving messages here until dropped.
    pub(crate) fn hold(&self) -> Held<'_> {
        Held(self.arrived.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Moves messages of `source` here, in order, up to the first one with `tag`. It may be gone by now, if another
    /// thread was faster.
    pub(crate) unsafe fn pull(
        &self,
        shim: &Shim,
        comm: MPI_Comm,
        peers: &Peers,
        source: c_int,
        tag: c_int,
    ) -> Result<(), Error> {
        let mut arrived = self.arrived.write().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (mut flag, mut message, mut status) = (0, MESSAGE_NULL, empty_status());
            // SAFETY: the program's own communicator, a source that sent something, places for the answers.
            unsafe {
                called(real::MPI_Improbe(
                    source,
                    ANY_TAG,
                    comm,
                    &raw mut flag,
                    &raw mut message,
                    &raw mut status,
                ))?;
                if flag == 0 {
                    return Ok(());
                }
                arrived.push(Arrived::receive(shim, comm, peers, &mut message, &status)?);
            }
            self.count.store(arrived.len(), Ordering::Release);
            if status.MPI_TAG == tag {
                return Ok(());
            }
        }
    }
}

/// The stash, held still.
pub(crate) struct Held<'a>(RwLockReadGuard<'a, Vec<Arrived>>);

impl Held<'_> {
    pub(crate) fn find(&self, comm: MPI_Comm, source: c_int, tag: c_int) -> Option<Delivered> {
        self.0.iter().find(|message| message.matches(comm, source, tag)).map(Arrived::seen)
    }
}

/// A communicator is gone: so are its messages.
pub(crate) fn forget(comm: usize) {
    if let Some(shim) = state::shared().filter(|shim| !shim.stash.is_empty()) {
        let mut arrived = shim.stash.arrived.write().unwrap_or_else(PoisonError::into_inner);
        arrived.retain(|message| message.comm != comm);
        shim.stash.count.store(arrived.len(), Ordering::Release);
    }
}

/// A message that a matched probe took.
pub(crate) enum Taken {
    /// It may be a frame, and had to be received.
    Received {
        comm: MPI_Comm,
        arrived: Arrived,
        /// The send of the empty message whose handle the program has.
        stand_in: MPI_Request,
    },
    /// It is none, or what damage has left of one: its receive will see.
    Left { comm: MPI_Comm, peers: Arc<Peers> },
}

/// Messages that matched probes took, by the handle that the program has for them.
#[derive(Default)]
pub(crate) struct Matched {
    messages: Mutex<HashMap<usize, Taken>>,
    count: AtomicUsize,
}

impl Matched {
    pub(crate) fn put(&self, handle: MPI_Message, taken: Taken) {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.insert(handle.key(), taken);
        self.count.store(messages.len(), Ordering::Release);
    }

    pub(crate) fn take(&self, handle: MPI_Message) -> Option<Taken> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let found = messages.remove(&handle.key());
        self.count.store(messages.len(), Ordering::Release);
        found
    }
}
