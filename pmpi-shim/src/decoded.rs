//! A message that is decoded into memory of ours, before the program asks for it.

use crate::context::Context;
use crate::streams::{Arriving, Next, Target};
use crate::waiting;
use mpress::{Buffer, Incoming};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};
use std::{ptr, slice};

/// Such a message, or what has come of it.
pub(crate) struct Decoded {
    pub(crate) content: Content,
    /// How long that took so far.
    pub(crate) time: Duration,
    /// In bytes, of the whole message.
    pub(crate) len: usize,
}

/// Where it is.
pub(crate) enum Content {
    Whole(Buffer),
    Stream(Box<Arriving>),
}

impl Decoded {
    /// Decodes what has come from rank `source` of the world, if it is a frame of a message of at most `most` bytes: all of it, or the head
    /// of a stream. `None`: it is for its receive to say what it is.
    pub(crate) fn begin(context: &Context, wire: &[u8], source: c_int, most: usize) -> Option<Self> {
        if !context.engine.is_frame(wire) {
            return None;
        }
        let incoming = context.engine.open(wire).ok()?;
        let len = incoming.raw_len();
        if len > most {
            return None;
        }
        let start = Instant::now();
        let buffer = context.engine.buffer(len)?;
        let content = match incoming.stream() {
            // SAFETY: the buffer lasts as long as the stream, which owns it.
            Some(stream) => Content::Stream(Box::new(unsafe {
                Arriving::new(context, (stream, &incoming), source, Target::Buffer(buffer))
            })),
            None => Content::Whole(whole(context, &incoming, buffer)?),
        };
        Some(Self { content, time: start.elapsed(), len })
    }

    /// Memory that it takes, in bytes: the message, and room for chunks of it that come.
    pub(crate) fn memory(&self) -> usize {
        match &self.content {
            Content::Whole(_) => self.len,
            Content::Stream(stream) => self.len.saturating_add(stream.room_for_chunks()),
        }
    }

    /// Takes the next chunk, if it has come.
    pub(crate) fn advance(&mut self, context: &Context) -> Next {
        let Content::Stream(stream) = &mut self.content else { return Next::Over };
        let start = Instant::now();
        let next = stream.take_next(context);
        if next == Next::Taken {
            self.time += start.elapsed();
        }
        next
    }

    /// Nobody wants it; the rest of a stream is dropped as it comes.
    pub(crate) fn discard(self, context: &Context) {
        if let Content::Stream(stream) = self.content {
            let _lost = stream.drop_rest(context);
        }
    }
}

/// Decodes a frame.
fn whole(context: &Context, incoming: &Incoming<'_>, mut buffer: Buffer) -> Option<Buffer> {
    let len = incoming.raw_len();
    let room = ptr::from_mut(buffer.room().get_mut(..len)?);
    // SAFETY: initialised bytes seen as possibly uninitialised ones; `decode` writes only initialised ones.
    let out = unsafe { slice::from_raw_parts_mut(room.cast::<MaybeUninit<u8>>(), len) };
    waiting::coding(|| context.engine.decode(incoming, out)).ok()?;
    buffer.set_len(len);
    Some(buffer)
}
