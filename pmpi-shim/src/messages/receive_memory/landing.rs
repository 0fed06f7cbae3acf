//! The memory that a program lends for receives: frames in it, and messages that wait until nothing else is pending there.

use super::{Memory, ReceiveMemory, Waiting};
use crate::messages::{context::Context, elements::land};
use crate::mpi::span::{OwnedType, Span, packed_len};
use crate::mpi::{device, sys::*};
use mpress::{Buffer, FRONT};
use std::{slice, sync::Arc, sync::atomic::Ordering};

impl Memory {
    /// The memory of a receive, lent by the program, and a reference to its datatype.
    pub(crate) fn lent(context: &Context, span: &Span) -> Result<(Self, Option<OwnedType>), c_int> {
        let capacity = span.bytes().ok_or(ERR_INTERN)?;
        if let Some(span) = context.as_bytes(span).filter(|bytes| !device::is_device(bytes.ptr())) {
            return Ok((Self { span, capacity, contiguous: true }, None));
        }
        let mut span = *span;
        let held = context.hold(&mut span)?;
        Ok((Self { span, capacity, contiguous: false }, held))
    }

    /// The same as bytes, if its elements have no gaps.
    pub(crate) fn as_bytes(&self, context: &Context) -> Option<Self> {
        context.as_bytes(&self.span).map(|span| Self { span, ..*self })
    }

    /// Copies the first `len` bytes of a message from this memory.
    fn read(&self, context: &Context, len: usize) -> Result<Buffer, c_int> {
        let size = packed_len(1, self.span.datatype()).filter(|&size| size > 0).ok_or(ERR_INTERN)?;
        let count = len.div_ceil(size);
        let first = MPI_Count::try_from(count).map_err(|_| ERR_INTERN)?.min(self.span.count());
        // SAFETY: the first of them; the span's own promise.
        let elements = unsafe { Span::new(self.span.ptr(), first, self.span.datatype()) };
        let mut buffer = context.packed(&elements, count * size)?;
        buffer.set_len(len);
        Ok(buffer)
    }

    /// Passes the first [`FRONT`] bytes of a message in this memory, which has room for a frame, to a closure.
    ///
    /// # Safety
    /// The receive must be over.
    pub(crate) unsafe fn front<R>(
        &self,
        context: &Context,
        see: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, c_int> {
        if self.contiguous && self.capacity >= FRONT {
            // SAFETY: contiguous elements of at least this length, the span's own promise, which the MPI no longer writes.
            return Ok(see(unsafe { slice::from_raw_parts(self.span.ptr().cast::<u8>(), FRONT) }));
        }
        Ok(see(&self.read(context, FRONT)?))
    }

    /// The frame of a receive that has completed with `received` bytes, if it got one. The error is the code for a lack of memory.
    ///
    /// # Safety
    /// As for [`front`](Self::front).
    pub(crate) unsafe fn frame(&self, context: &Context, received: usize) -> Result<Option<Buffer>, c_int> {
        // SAFETY: the caller vouches for the receive.
        let is_frame = unsafe { self.front(context, |front| context.engine.is_frame(front))? };
        is_frame.then(|| self.read(context, received.min(self.capacity))).transpose()
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
        let mut kept = crate::locked(&self.kept);
        // It overwrites those for the same memory that are not longer.
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
        let mut kept = crate::locked(&self.kept);
        kept.retain(|Waiting { memory, message, .. }| {
            let Some(_claim) = self.free(memory) else { return true };
            // The receive that was pending in this memory has ended just now, so the program still lends it. There is room for the message.
            let _ = land(context, message, false, &memory.span);
            false
        });
        self.has_kept.store(!kept.is_empty(), Ordering::Release);
    }
}
