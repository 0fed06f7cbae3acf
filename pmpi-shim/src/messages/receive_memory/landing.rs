//! Frames in the program's memory, and messages that wait until nothing is pending in theirs.

use super::{Memory, ReceiveMemory, Waiting};
use crate::messages::context::Context;
use crate::mpi::span::{OwnedType, Span};
use crate::mpi::sys::*;
use mpress::{Buffer, FRONT};
use std::ffi::c_int;
use std::slice;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

impl Memory {
    /// Copies the first `len` bytes of a message from this memory.
    ///
    /// # Safety
    /// The program must have lent the memory.
    unsafe fn read(&self, context: &Context, len: usize) -> Result<Buffer, c_int> {
        let mut elements = self.span;
        let size = Span { count: 1, ..elements }.bytes().filter(|&size| size > 0).ok_or(ERR_INTERN)?;
        let count = len.div_ceil(size);
        elements.count = MPI_Count::try_from(count).map_err(|_| ERR_INTERN)?;
        let mut buffer = context.room(count * size)?;
        buffer.set_len(count * size);
        // SAFETY: the caller vouches for the memory, which has at least this number of elements.
        unsafe {
            if self.contiguous {
                buffer.copy_from_slice(slice::from_raw_parts(elements.ptr.cast::<u8>(), count * size));
            } else {
                context.gather(&elements, &mut buffer)?;
            }
        }
        buffer.set_len(len);
        Ok(buffer)
    }

    /// Passes the first [`FRONT`] bytes of a message in this memory to a closure.
    ///
    /// # Safety
    /// The program must have lent the memory, which must have room for a frame.
    pub(crate) unsafe fn front<R>(
        &self,
        context: &Context,
        see: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, c_int> {
        // SAFETY: the caller vouches for the memory; a frame is longer than [`FRONT`].
        unsafe {
            if self.contiguous {
                return Ok(see(slice::from_raw_parts(self.span.ptr.cast::<u8>(), FRONT)));
            }
            Ok(see(&self.read(context, FRONT)?))
        }
    }

    /// The frame of a receive that has completed with `received` bytes, if it got one.
    ///
    /// # Errors
    /// The code of a lack of memory.
    ///
    /// # Safety
    /// As for [`front`](Self::front).
    pub(crate) unsafe fn frame(&self, context: &Context, received: usize) -> Result<Option<Buffer>, c_int> {
        let received = received.min(self.capacity);
        // SAFETY: the caller vouches for the memory.
        unsafe {
            let is_frame = self.front(context, |front| context.engine.is_frame(front))?;
            is_frame.then(|| self.read(context, received)).transpose()
        }
    }
}

impl ReceiveMemory {
    /// Keeps a message until nothing is pending in its memory.
    pub(crate) fn keep(
        self: &Arc<Self>,
        context: &Context,
        memory: Memory,
        message: Buffer,
        held: Option<OwnedType>,
    ) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // It covers those that it is as long as.
        let (range, len) = (memory.range(), message.len());
        kept.retain(|old| old.memory.range() != range || old.message.len() > len);
        kept.push(Waiting { memory, message, _held: held });
        self.has_kept.store(true, Ordering::Release);
        drop(kept);
        // It may have become free meanwhile.
        self.settle(context);
    }

    /// Writes the messages that were kept to memory that has become free. To be called whenever a claim has ended.
    pub(crate) fn settle(self: &Arc<Self>, context: &Context) {
        if !self.has_kept.load(Ordering::Acquire) {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|Waiting { memory, message, .. }| {
            let Some(_claim) = self.free(memory) else { return true };
            let to = memory.span.ptr.cast::<u8>();
            // SAFETY: the receive that was pending in this memory has ended just now, so the program still lends it. There is room for the message.
            unsafe {
                match memory.contiguous {
                    true => to.copy_from_nonoverlapping(message.as_ptr(), message.len()),
                    false => _ = context.scatter(message, &memory.span),
                }
            }
            false
        });
        self.has_kept.store(!kept.is_empty(), Ordering::Release);
    }
}
