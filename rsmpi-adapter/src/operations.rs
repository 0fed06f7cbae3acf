//! Sending and receiving, blocking and immediate, on any communicator: what the traits are made of.

use crate::context::{Context, clock};
use crate::error::{Result, ok};
use crate::message::{Completion, Message};
use crate::posted::{self, Posted};
use crate::span::Span;
use mpi::ffi::{self, MPI_Comm, MPI_Status};
use mpi::{Rank, Tag};
use mpress::Buffer;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// The two modes of sending that compress. A buffered or a ready send of rsmpi's sends the message as it is.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    Standard,
    Synchronous,
}

/// Where a message comes from or goes to.
#[derive(Clone, Copy)]
pub(crate) struct Envelope {
    pub(crate) comm: MPI_Comm,
    pub(crate) rank: Rank,
    pub(crate) tag: Tag,
}

type Send = unsafe extern "C" fn(*const c_void, c_int, ffi::MPI_Datatype, c_int, c_int, MPI_Comm) -> c_int;

/// Sends a message.
///
/// # Safety
/// The elements must be initialised and stay as they are meanwhile.
pub(crate) unsafe fn send(context: &Context, span: &Span, to: Envelope, mode: Mode) -> Result<()> {
    let call: Send = match mode {
        Mode::Standard => ffi::MPI_Send,
        Mode::Synchronous => ffi::MPI_Ssend,
    };
    // SAFETY: elements that the caller vouches for, or the bytes of a frame, as many as an `int` can count.
    unsafe {
        let Some(frame) = context.frame(span, to.rank) else {
            return ok(call(span.ptr, span.count, span.datatype, to.rank, to.tag, to.comm));
        };
        let start = clock(frame.len());
        let (count, byte) = (frame.len() as c_int, ffi::RSMPI_UINT8_T);
        ok(call(frame.as_ptr().cast(), count, byte, to.rank, to.tag, to.comm))?;
        context.waited(frame.len(), 0, start);
    }
    Ok(())
}

/// Starts to send a message.
///
/// # Safety
/// The elements must be initialised and stay as they are until the message is complete.
pub(crate) unsafe fn immediate_send(
    context: &Arc<Context>,
    span: &Span,
    to: Envelope,
    mode: Mode,
) -> Result<Message> {
    // SAFETY: the caller vouches for the elements.
    unsafe {
        let frame = context.frame(span, to.rank).map(Arc::new);
        start(context, span, frame.as_ref(), to, mode)
    }
}

/// Starts to send a message to several ranks, encoded once; gives each to `started`.
///
/// # Safety
/// As for [`immediate_send`].
pub(crate) unsafe fn immediate_send_to_each(
    context: &Arc<Context>,
    span: &Span,
    comm: MPI_Comm,
    tag: Tag,
    ranks: impl Iterator<Item = Rank>,
    mut started: impl FnMut(Result<Message>),
) {
    // SAFETY: as above.
    unsafe {
        let frame = context.frame_for_many(span).map(Arc::new);
        for rank in ranks {
            let frame = frame.as_ref().filter(|_| context.peers.framed(rank));
            started(start(context, span, frame, Envelope { comm, rank, tag }, Mode::Standard));
        }
    }
}

/// Starts to send a message, as a frame if there is one.
unsafe fn start(
    context: &Arc<Context>,
    span: &Span,
    frame: Option<&Arc<Buffer>>,
    to: Envelope,
    mode: Mode,
) -> Result<Message> {
    let call = match mode {
        Mode::Standard => ffi::MPI_Isend,
        Mode::Synchronous => ffi::MPI_Issend,
    };
    // SAFETY: as for `send`; the frame lives in the completion.
    unsafe {
        let mut request = ffi::RSMPI_REQUEST_NULL;
        let (ptr, count, datatype) = match frame {
            None => (span.ptr.cast_const(), span.count, span.datatype),
            Some(frame) => (frame.as_ptr().cast(), frame.len() as c_int, ffi::RSMPI_UINT8_T),
        };
        ok(call(ptr, count, datatype, to.rank, to.tag, to.comm, &raw mut request))?;
        let completion = frame
            .map_or(Completion::Plain, |frame| Completion::Frame(Arc::clone(context), Arc::clone(frame)));
        Ok(Message { request, completion })
    }
}

/// Receives a message.
///
/// # Safety
/// The elements must be initialised, and the caller's alone.
pub(crate) unsafe fn receive(context: Arc<Context>, span: &Span, from: Envelope) -> Result<MPI_Status> {
    let mut status = posted::empty_status();
    let posted = Posted::new(context, span, from.rank)?;
    // SAFETY: room for the message, which the caller vouches for, and a place for the status.
    unsafe {
        let Some(mut posted) = posted else {
            let (ptr, count, datatype) = (span.ptr, span.count, span.datatype);
            ok(ffi::MPI_Recv(ptr, count, datatype, from.rank, from.tag, from.comm, &raw mut status))?;
            return Ok(status);
        };
        let (ptr, count, datatype) = posted.place();
        let start = clock(span.len());
        let code = ffi::MPI_Recv(ptr, count, datatype, from.rank, from.tag, from.comm, &raw mut status);
        Completion::Receive(posted).end(code, status, start)
    }
}

/// Starts to receive a message.
///
/// # Safety
/// The elements must be initialised, and be nobody else's until the request is complete.
pub(crate) unsafe fn immediate_receive(
    context: Arc<Context>,
    span: &Span,
    from: Envelope,
) -> Result<Message> {
    let mut posted = Posted::new(context, span, from.rank)?;
    let place = (span.ptr, span.count, span.datatype);
    let (ptr, count, datatype) = posted.as_mut().map_or(place, Posted::place);
    // SAFETY: room for the message, which the caller vouches for; a bounce buffer lives in the completion.
    unsafe {
        let mut request = ffi::RSMPI_REQUEST_NULL;
        ok(ffi::MPI_Irecv(ptr, count, datatype, from.rank, from.tag, from.comm, &raw mut request))?;
        Ok(Message { request, completion: posted.map_or(Completion::Plain, Completion::Receive) })
    }
}
