//! A receive that may bring a frame: posted as bytes, set right when it completes.
//!
//! A frame is shorter than its message, so it fits the program's buffer. It is taken out of there and decoded into it. A buffer
//! that is not one run of bytes is filled from one of ours.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::span::{Bytes, Span};
use mpi::ffi::{self, MPI_Status};
use mpi::point_to_point::Status;
use mpress::{Buffer, HEADER_LEN, SHORTEST};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::slice;
use std::sync::Arc;
use std::time::Instant;

/// A posted receive, to be kept until it completes.
pub(crate) struct Posted {
    context: Arc<Context>,
    /// The program's buffer.
    span: Span,
    bytes: Bytes,
    /// Where the MPI writes, if not there.
    bounce: Option<Buffer>,
}

impl Posted {
    /// Prepares a receive. `None` where no frame can come: then it is the MPI's alone.
    pub(crate) fn new(context: Arc<Context>, span: &Span, source: mpi::Rank) -> Result<Option<Self>> {
        if span.len() < SHORTEST || !context.peers.framed(source) {
            return Ok(None);
        }
        let bounce = if span.kind.is_some() { None } else { Some(context.buffer(span.len())?) };
        Ok(Some(Self { context, span: span.clone(), bytes: Bytes::new(span.len())?, bounce }))
    }

    /// What to receive into: address, count and datatype.
    pub(crate) fn place(&mut self) -> (*mut c_void, mpi::Count, ffi::MPI_Datatype) {
        let ptr =
            self.bounce.as_mut().map_or(self.span.ptr, |buffer| buffer.room().as_mut_ptr().cast::<c_void>());
        (ptr, self.bytes.count, self.bytes.datatype)
    }

    /// Puts what came into the program's buffer as the program expects it, and makes the status say so. The wait for it began
    /// at `start`.
    ///
    /// # Safety
    /// The receive must have completed without an error, and `status` be what it gave; the program's buffer must still be there.
    pub(crate) unsafe fn finish(self, status: &mut MPI_Status, start: Option<Instant>) -> Result<()> {
        let context = &self.context;
        if self.bounce.is_none() {
            // SAFETY: initialised bytes, one run of them, with room for a frame.
            let front = unsafe { slice::from_raw_parts(self.span.ptr.cast::<u8>(), HEADER_LEN) };
            // Most messages are none; to ask for their length takes longer than to look.
            if !context.engine.is_frame(front) {
                return Ok(());
            }
        }
        let received = received_bytes(status);
        let may_be_frame = received >= SHORTEST && context.peers.framed(status.MPI_SOURCE);
        let frame = match self.bounce {
            Some(mut buffer) => {
                buffer.set_len(received);
                if !may_be_frame || !context.engine.is_frame(&buffer) {
                    context.unpack(&buffer, &self.span)?;
                    return Ok(());
                }
                buffer
            }
            None if !may_be_frame => return Ok(()),
            None => {
                // SAFETY: the MPI has written so many bytes into the buffer, which is one run of them.
                let bytes = unsafe { slice::from_raw_parts_mut(self.span.ptr.cast::<u8>(), received) };
                let mut frame = context.buffer(received)?;
                frame.set_len(received);
                frame.copy_from_slice(bytes);
                // What the program sees after an error must not look like a frame when it sends that on.
                bytes[..HEADER_LEN].fill(0);
                frame
            }
        };
        context.waited(0, received, start);
        // SAFETY: the caller vouches for the buffer, which `frame` is no part of.
        let len = unsafe { land(context, &frame, &self.span)? };
        set_received_bytes(status, len);
        Ok(())
    }

    /// Takes care that what is left of a receive that failed does not look like a frame when the program sends it on
    /// (`docs/format/frame.md`).
    ///
    /// # Safety
    /// The program's buffer must still be there, and be initialised.
    pub(crate) unsafe fn wipe(&self) {
        if self.bounce.is_none() {
            // SAFETY: the caller vouches for the buffer, which is one run of bytes with room for a frame.
            let front = unsafe { slice::from_raw_parts_mut(self.span.ptr.cast::<u8>(), HEADER_LEN) };
            if self.context.engine.is_frame(front) {
                front.fill(0);
            }
        }
    }
}

/// Decodes a frame into elements, and says how many bytes the message has.
///
/// # Safety
/// The elements must be the caller's alone, and the frame no part of them.
pub(crate) unsafe fn land(context: &Context, frame: &[u8], span: &Span) -> Result<usize> {
    let incoming = context.engine.open(frame)?;
    let len = incoming.raw_len();
    if len > span.len() {
        return Err(Error::Truncated { message: len, room: span.len() });
    }
    // SAFETY: the caller vouches for the elements.
    if let Some(room) = unsafe { span.room(len) } {
        context.engine.decode(&incoming, room)?;
        return Ok(len);
    }
    let mut buffer = context.buffer(len)?;
    let room: *mut [u8] = &raw mut buffer.room()[..len];
    // SAFETY: initialised bytes seen as possibly uninitialised ones; `decode` writes only initialised ones.
    context.engine.decode(&incoming, unsafe { &mut *(room as *mut [MaybeUninit<u8>]) })?;
    buffer.set_len(len);
    context.unpack(&buffer, span)?;
    Ok(len)
}

/// Bytes of the message that a status tells of.
pub(crate) fn received_bytes(status: &MPI_Status) -> usize {
    let mut bytes = 0;
    // SAFETY: a status and a place for the answer.
    unsafe { ffi::MPI_Get_elements_x(status, ffi::RSMPI_UINT8_T, &raw mut bytes) };
    usize::try_from(bytes).unwrap_or(0)
}

pub(crate) fn set_received_bytes(status: &mut MPI_Status, bytes: usize) {
    let bytes = ffi::MPI_Count::try_from(bytes).unwrap_or(ffi::MPI_Count::MAX);
    // SAFETY: a status and a predefined type.
    unsafe { ffi::MPI_Status_set_elements_x(status, ffi::RSMPI_UINT8_T, bytes) };
}

/// A status to be filled in.
pub(crate) fn empty_status() -> MPI_Status {
    // SAFETY: a C struct of numbers.
    unsafe { std::mem::zeroed() }
}

/// A status as rsmpi has it.
pub(crate) fn status(raw: MPI_Status) -> Status {
    Status::from_raw(raw)
}
