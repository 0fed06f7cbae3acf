//! A message decoded into our own memory before the program asks for it.

use crate::messages::context::Context;
use crate::messages::streams::{Arriving, Next, Target};
use mpress::Buffer;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// Such a message, in progress or complete.
pub(crate) struct Decoded {
    pub(crate) content: Content,
    /// Decoding time so far.
    pub(crate) time: Duration,
    /// Length of the whole message in bytes.
    pub(crate) len: usize,
}

/// The location of the message.
pub(crate) enum Content {
    Whole(Buffer),
    Stream(Box<Arriving>),
}

impl Decoded {
    /// Decodes what has come from rank `source` of the world, if it is a frame, or the head of a stream, of a message of at most `most`
    /// bytes. `None`: the receive will determine what it is.
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
        let content = match incoming.stream() {
            Some(stream) => {
                let target = Target::Buffer(context.engine.buffer(len)?);
                // SAFETY: the buffer lives as long as the stream, which owns it.
                let arriving = unsafe { Arriving::new(context, (stream, &incoming), source, target) };
                Content::Stream(Box::new(arriving))
            }
            None => {
                let decode = |out: &mut _| context.engine.decode(&incoming, out);
                Content::Whole(context.decoded(len, decode).ok()?)
            }
        };
        Some(Self { content, time: start.elapsed(), len })
    }

    /// Memory it uses, in bytes: the message, and room for incoming chunks.
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

    /// The message is not wanted; the rest of a stream is dropped as it comes.
    pub(crate) fn discard(self, context: &Context) {
        if let Content::Stream(stream) = self.content {
            let _lost = stream.drop_rest(context);
        }
    }
}
