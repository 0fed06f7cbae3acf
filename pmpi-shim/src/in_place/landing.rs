//! Moving frames out of the program's memory, and messages into memory that receives share.

use super::{Claim, InPlace, Memory, overlapping};
use crate::context::Context;
use crate::span::Span;
use crate::sys::*;
use mpress::{Buffer, FRONT};
use std::ffi::c_int;
use std::slice;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

impl Memory {
    /// Copies the first `len` bytes of a message from this memory.
    ///
    /// # Safety
    /// The program must have lent the memory.
    pub(crate) unsafe fn read(&self, context: &Context, len: usize) -> Result<Buffer, c_int> {
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

    /// Whether this memory begins with a frame.
    ///
    /// # Safety
    /// The program must have lent the memory, which must have room for a frame.
    pub(crate) unsafe fn holds_frame(&self, context: &Context) -> Result<bool, c_int> {
        // SAFETY: the caller vouches for the memory.
        unsafe { self.front(context, |front| context.engine.is_frame(front)) }
    }

    /// Passes the first [`FRONT`] bytes of a message in this memory to a closure.
    ///
    /// # Safety
    /// As for [`holds_frame`](Self::holds_frame).
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
}

/// Writes bytes to memory, and the bytes that they replace to `before`. Another thread may be receiving there, inside the MPI: each byte
/// that it writes is either replaced, and then in `before`, or remains.
///
/// # Safety
/// The memory must have as many bytes as both slices.
unsafe fn exchange(memory: *mut u8, bytes: &[u8], before: &mut [u8]) {
    const WORD: usize = size_of::<u64>();
    // SAFETY: the caller vouches for the memory; single bytes are aligned.
    let one = |i: usize, byte: u8| unsafe { AtomicU8::from_ptr(memory.add(i)) }.swap(byte, Ordering::Relaxed);
    let head = memory.align_offset(WORD).min(bytes.len());
    let words = head + (bytes.len() - head) / WORD * WORD;
    for i in (0..head).chain(words..bytes.len()) {
        before[i] = one(i, bytes[i]);
    }
    let (bytes, before) = (bytes[head..words].chunks_exact(WORD), before[head..words].chunks_exact_mut(WORD));
    for (i, (bytes, before)) in bytes.zip(before).enumerate() {
        let mut word = [0; WORD];
        word.copy_from_slice(bytes);
        // SAFETY: as above; the address is aligned after the head.
        let place = unsafe { AtomicU64::from_ptr(memory.add(head + i * WORD).cast()) };
        before.copy_from_slice(&place.swap(u64::from_ne_bytes(word), Ordering::Relaxed).to_ne_bytes());
    }
}

impl InPlace {
    /// Writes a message to memory of a receive that has no claim. `write` writes it to that memory, or to other bytes.
    ///
    /// # Safety
    /// The program must have lent the memory.
    pub(crate) unsafe fn land(
        self: &Arc<Self>,
        context: &Context,
        memory: &Memory,
        write: impl FnOnce(&Span) -> Result<usize, c_int>,
    ) -> Result<usize, c_int> {
        // While the claim is held, a receive that is posted there gets our own buffer.
        let claim = if memory.capacity > 0 { self.hold(memory, &memory.range()) } else { None };
        if claim.is_some() || memory.capacity == 0 {
            return write(&memory.span);
        }
        let _alone = self.landing.write().unwrap_or_else(PoisonError::into_inner);
        let starts: Vec<usize> = overlapping(&self.lock(), &memory.range()).collect();
        let is_contiguous = |start| self.lock().get(start).is_none_or(|one| one.memory.contiguous);
        if memory.contiguous && starts.iter().all(is_contiguous) {
            let mut buffer = context.room(memory.capacity)?;
            let len = write(&Span::new(buffer.room().as_mut_ptr().cast(), memory.span.count, BYTE))?;
            buffer.set_len(len);
            let mut before = context.room(len)?;
            before.set_len(len);
            // SAFETY: the program's memory has room for the message.
            unsafe { exchange(memory.span.ptr.cast(), &buffer, &mut before) };
            for start in starts {
                self.covered(start, |one| one.put(memory.span.ptr.addr(), start, &before, &buffer));
            }
            return Ok(len);
        }
        // The MPI writes the message, so no other thread may write there meanwhile.
        // SAFETY: memory of pending receives, until the end of this function.
        let before: Vec<_> = starts.iter().map(|&start| unsafe { self.read(context, start) }).collect();
        let result = write(&memory.span);
        for (&start, before) in starts.iter().zip(before) {
            // SAFETY: as above.
            if let Some((before, after)) = before.zip(unsafe { self.read(context, start) }) {
                self.covered(start, |one| one.covered.put(0, &before, &after));
            }
        }
        result
    }

    /// The whole content of a pending receive's memory. `None` if memory is short.
    unsafe fn read(&self, context: &Context, start: usize) -> Option<Buffer> {
        let memory = self.lock().get(&start).filter(|one| !one.taken)?.memory;
        // SAFETY: the caller vouches for the memory.
        unsafe { memory.read(context, memory.capacity) }.ok()
    }

    /// The frame of a receive that has completed with `received` bytes, if it got one.
    ///
    /// # Errors
    /// The code of a damaged frame, or of a lack of memory.
    ///
    /// # Safety
    /// The program must have lent the memory, which must have room for a frame.
    pub(crate) unsafe fn take(
        &self,
        context: &Context,
        claim: Option<&Claim>,
        memory: &Memory,
        received: usize,
    ) -> Result<Option<Buffer>, c_int> {
        let _whole = self.landing.read().unwrap_or_else(PoisonError::into_inner);
        let covered = claim.and_then(|claim| {
            let mut pending = self.lock();
            let one = pending.get_mut(&claim.start)?;
            one.taken = true;
            Some(std::mem::take(&mut one.covered)).filter(|covered| !covered.is_empty())
        });
        // SAFETY: the caller vouches for the memory.
        unsafe {
            match covered {
                Some(covered) => {
                    let now = memory.read(context, received)?;
                    covered.frame(&context.engine, now).map_err(|_| context.damaged)
                }
                None if memory.holds_frame(context)? => memory.read(context, received).map(Some),
                None => Ok(None),
            }
        }
    }
}
