//! The end of a receive: the message is written to the program's memory, or given up.

use super::{Came, Place, Posted};
use crate::messages::{
    context::Context, elements::land, error::Failure, receive_memory::Memory, streams::Arriving,
};
use crate::mpi::span::{Span, is_cancelled, set_received_bytes};
use crate::mpi::sys::*;
use mpress::{FRONT, HEADER_LEN};
use std::time::Instant;

impl Posted {
    /// Writes the message to the program's buffer, and sets the status accordingly.
    ///
    /// # Safety
    /// The receive must have completed without an error, with this `status`.
    pub(crate) unsafe fn finish(self, context: &Context, status: &mut MPI_Status) -> Result<(), Failure> {
        let handler = self.peers.handler_of(self.comm);
        // SAFETY: the caller vouches for the completion.
        let outcome = unsafe { self.write(context, status) };
        context.receive_memory.settle(context);
        outcome.map_err(|code| (handler, code))
    }

    unsafe fn write(mut self, context: &Context, status: &mut MPI_Status) -> Result<(), c_int> {
        let is_ours = matches!(self.place, Place::Bounce(_));
        if is_ours && is_cancelled(status) {
            self.place = Place::Emptied;
            return Ok(());
        }
        if self.came.is_none() {
            // SAFETY: the caller vouches for the completion.
            unsafe { self.look(context, status) };
        }
        // Most messages are not compressed, and nothing more need be asked of the MPI.
        if matches!(self.came, Some(Came::InPlace)) || !is_ours && is_cancelled(status) {
            return Ok(());
        }
        let landed = match self.came.take() {
            None | Some(Came::InPlace) => return Ok(()),
            Some(Came::Elsewhere(wire, is_frame)) => self.land(context, &wire, is_frame),
            Some(Came::Stream(stream)) if stream.is_dropped() => match stream.drop_rest(context) {
                Some(error) => Err(error.tell()),
                None => Ok(0),
            },
            Some(Came::Stream(mut stream)) => {
                while !stream.advance(context) {
                    std::thread::yield_now();
                }
                stream.finish().and_then(|(len, buffer)| match buffer {
                    Some(raw) => self.land(context, &raw, false),
                    None => Ok(len),
                })
            }
            Some(Came::Failed(code)) => Err(code),
        };
        if landed.is_err() && matches!(self.place, Place::Program(..)) {
            wipe(context, &self.memory);
        }
        set_received_bytes(status, landed?);
        Ok(())
    }

    /// Copies a message or a frame from our own buffer to the program's; returns the length of the message in bytes.
    fn land(&mut self, context: &Context, wire: &[u8], is_frame: bool) -> Result<usize, c_int> {
        let memory = self.memory;
        let ahead = self.ahead.map(|decoding| (decoding, Instant::now()));
        let write = |span: &Span| land(context, wire, is_frame, span);
        let is_ours = matches!(self.place, Place::Program(..)) || memory.capacity == 0;
        let claim = if is_ours { None } else { context.receive_memory.free(&memory) };
        let landed = if is_ours || claim.is_some() {
            write(&memory.span)
        } else {
            context.room(memory.capacity).and_then(|mut message| {
                let count = MPI_Count::try_from(memory.capacity).map_err(|_| ERR_INTERN)?;
                // SAFETY: room for this number of bytes.
                let len = write(&unsafe { Span::new(message.room().as_mut_ptr().cast(), count, BYTE) })?;
                message.set_len(len);
                context.receive_memory.keep(context, memory, message, self._held.take());
                Ok(len)
            })
        };
        drop(claim);
        if let Some((decoding, start)) = ahead {
            context.ahead.delivered(decoding, start.elapsed());
        }
        landed
    }

    /// The MPI completed the receive with an error. The buffer is not freed: Open MPI 4.1 completes a receive with `MPI_ERR_TRUNCATE` before all of a
    /// long message has come, and writes the rest to it later.
    ///
    /// `source`: the message's source, if the MPI reported it. If the message was the head of a stream, its tail is dropped.
    pub(crate) fn abandon(mut self, context: &Context, source: c_int) {
        let mut stream = None;
        if let Some(Came::Elsewhere(wire, _)) = self.came.take() {
            stream = context.engine.torn(&wire);
            std::mem::forget(wire);
        }
        let held = self._held.take();
        match std::mem::replace(&mut self.place, Place::Emptied) {
            Place::Program(bytes, _claim) => {
                let see = |front: &[u8]| (context.engine.is_frame(front), context.engine.torn(front));
                // SAFETY: the MPI has completed the receive.
                if let Ok((true, torn)) = unsafe { self.memory.front(context, see) } {
                    stream = stream.or(torn);
                    wipe(context, &self.memory);
                }
                std::mem::forget((bytes, held));
            }
            Place::Bounce(mut bounce) => {
                stream = bounce.buffer.room().get(..FRONT).and_then(|front| context.engine.torn(front));
                std::mem::forget((bounce, held));
            }
            Place::Emptied => std::mem::forget(held),
        }
        if let Some(stream) = stream {
            Arriving::drop_tail(context, stream, self.peers.world_rank(source));
        }
        context.receive_memory.settle(context);
    }
}

/// Overwrites what looks like a frame, so that the program does not send it on (`docs/format/frame.md`).
fn wipe(context: &Context, memory: &Memory) {
    // An error is being reported already.
    let _ = land(context, &[0; HEADER_LEN], false, &memory.span);
}
