//! Writes an arrived message to the program's buffer.

use crate::messages::{context::Context, error::truncated};
use crate::mpi::span::Span;
use mpress::{Buffer, FrameError, waiting};
use std::{ffi::c_int, mem::MaybeUninit, slice};

/// Writes an arrived frame or plain message to `span`, and returns the length of the message in bytes.
pub(crate) fn land(context: &Context, wire: &[u8], is_frame: bool, span: &Span) -> Result<usize, c_int> {
    if !is_frame {
        let len = fitting(wire.len(), span)?;
        return context.scatter(wire, span).map(|()| len);
    }
    let incoming = context.engine.open(wire).map_err(|error| context.damage(error))?;
    let len = fitting(incoming.raw_len(), span).inspect_err(|_| context.engine.refuse(&incoming))?;
    if context.layout(span).contiguous {
        // SAFETY: contiguous elements with room for `len` bytes; the span's own promise.
        let out = unsafe { slice::from_raw_parts_mut(span.ptr().cast::<MaybeUninit<u8>>(), len) };
        waiting::coding(|| context.engine.decode(&incoming, out)).map_err(|error| context.damage(error))?;
    } else {
        let buffer = context.decoded(len, |out| context.engine.decode(&incoming, out))?;
        context.scatter(&buffer, span)?;
    }
    Ok(len)
}

/// The length of a message, unless it is too long for its buffer.
fn fitting(len: usize, span: &Span) -> Result<usize, c_int> {
    let capacity = span.bytes().unwrap_or(0);
    if len > capacity { Err(truncated(len, capacity)) } else { Ok(len) }
}

impl Context {
    /// `len` bytes in our own memory, which `decode` writes.
    ///
    /// # Errors
    /// The code for damage, or for a lack of memory.
    pub(crate) fn decoded(
        &self,
        len: usize,
        decode: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<(), FrameError>,
    ) -> Result<Buffer, c_int> {
        let mut buffer = self.room(len)?;
        // SAFETY: initialised bytes viewed as possibly uninitialised; `decode` writes only initialised bytes.
        let out = unsafe { slice::from_raw_parts_mut(buffer.room().as_mut_ptr().cast(), len) };
        waiting::coding(|| decode(out)).map_err(|error| self.damage(error))?;
        Ok(buffer)
    }
}
