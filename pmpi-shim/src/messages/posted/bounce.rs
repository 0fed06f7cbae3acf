//! The layer's own buffer, for a message that must not go to the program's memory yet.

use crate::messages::context::Context;
use crate::mpi::span::ByteSpan;
use mpress::{Buffer, Counted};
use std::ffi::c_int;

/// Our own buffer that a message is received into.
pub(crate) struct Bounce {
    pub(crate) bytes: ByteSpan,
    pub(crate) buffer: Buffer,
    /// The last byte of a message of this length is received with a gap of one byte, see [`Family::overruns`](crate::mpi::family::Family::overruns).
    split: Option<usize>,
    _counted: Option<Counted>,
}

impl Bounce {
    /// Room for a message of up to `capacity` bytes; `None` if memory is short.
    pub(super) fn new(context: &Context, capacity: usize) -> Result<Option<Self>, c_int> {
        let Some(mut buffer) = context.engine.buffer(capacity + 1) else { return Ok(None) };
        let room = buffer.room().as_mut_ptr();
        let split = Some(capacity).filter(|capacity| context.family.overruns() && *capacity > 0);
        let bytes = match split {
            Some(_) => context.absolute(&[(room, capacity - 1), (room.wrapping_add(capacity), 1)])?,
            None => context.byte_span(room, capacity)?,
        };
        Ok(Some(Self { bytes, buffer, split, _counted: Some(context.received.add(capacity)) }))
    }

    /// Room for a message of exactly `len` bytes.
    pub(crate) fn exact(context: &Context, len: usize) -> Result<Self, c_int> {
        let mut buffer = context.room(len)?;
        let bytes = context.byte_span(buffer.room().as_mut_ptr(), len)?;
        Ok(Self { bytes, buffer, split: None, _counted: None })
    }

    /// The message of `len` bytes that was received.
    pub(super) fn received(self, len: usize) -> Buffer {
        let mut buffer = self.buffer;
        if self.split == Some(len) {
            buffer.room().copy_within(len..=len, len - 1);
        }
        buffer.set_len(len);
        buffer
    }
}
