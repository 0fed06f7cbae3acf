//! Writes an arrived message to the program's buffer.

use crate::messages::context::Context;
use crate::messages::error::truncated;
use crate::messages::waiting;
use crate::mpi::span::{Layout, Span};
use mpress::{Buffer, FrameError};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::{ptr, slice};

/// Writes an arrived frame or plain message to `span`, and returns the length of the message in bytes.
///
/// # Safety
/// `span` must be the buffer of a receive call, `capacity` its length in bytes, and `wire` not part of it.
pub(crate) unsafe fn land(
    context: &Context,
    wire: &[u8],
    is_frame: bool,
    span: &Span,
    capacity: usize,
) -> Result<usize, c_int> {
    if !is_frame {
        // SAFETY: the caller vouches for the span.
        return unsafe { land_raw(context, wire, span, capacity) };
    }
    let incoming = context.engine.open(wire).map_err(|error| context.damage(error))?;
    let len = incoming.raw_len();
    if len > capacity {
        return Err(truncated(len, capacity));
    }
    match context.layout(span) {
        Layout::Contiguous(_) => {
            // SAFETY: contiguous elements with room for `len` bytes, disjoint from `wire`.
            let out = unsafe { slice::from_raw_parts_mut(span.ptr.cast::<MaybeUninit<u8>>(), len) };
            waiting::coding(|| context.engine.decode(&incoming, out))
                .map_err(|error| context.damage(error))?;
        }
        Layout::Typed(_) => {
            let buffer = context.decoded(len, |out| context.engine.decode(&incoming, out))?;
            // SAFETY: the caller vouches for the span, which has room for `len` bytes.
            unsafe { context.scatter(&buffer, span)? };
        }
    }
    Ok(len)
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
        buffer.set_len(len);
        Ok(buffer)
    }
}

/// Like [`land`], for a message without a frame.
///
/// # Safety
/// As for [`land`].
pub(crate) unsafe fn land_raw(
    context: &Context,
    raw: &[u8],
    span: &Span,
    capacity: usize,
) -> Result<usize, c_int> {
    if raw.len() > capacity {
        return Err(truncated(raw.len(), capacity));
    }
    match context.layout(span) {
        // SAFETY: contiguous elements with room for `raw`, which is disjoint from them.
        Layout::Contiguous(_) => unsafe {
            ptr::copy_nonoverlapping(raw.as_ptr(), span.ptr.cast::<u8>(), raw.len());
        },
        // SAFETY: the caller vouches for the span.
        Layout::Typed(_) => unsafe { context.scatter(raw, span)? },
    }
    Ok(raw.len())
}
