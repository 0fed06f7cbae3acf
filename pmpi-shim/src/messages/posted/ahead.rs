//! A receive that begins before the program asks for its message. The message goes to the layer's own buffer, and is decoded there if the program
//! will most likely ask for it next.

use super::{Bounce, Came, Lent, Place, Posted};
use crate::messages::streams::{Arriving, Next, Target};
use crate::messages::{context::Context, peers::Peers, receive_memory::Memory};
use crate::mpi::sys::*;
use mpress::waiting;
use std::{sync::Arc, time::Instant};

impl Posted {
    /// A receive of this kind. The program lends memory for it only when it asks for the message.
    pub(crate) fn early(peers: Arc<Peers>, comm: MPI_Comm, bounce: Bounce) -> Self {
        let memory = Memory::nothing();
        let place = Place::Bounce(bounce);
        Self { place, memory, peers, comm, came: None, ahead: None, _held: None }
    }

    /// The program asks for the message, and lends this memory.
    pub(crate) fn adopt(&mut self, (memory, held): Lent) {
        (self.memory, self._held) = (memory, held);
    }

    /// The length of the message of a frame that has come; `None` for a plain message, or a damaged frame.
    pub(crate) fn message_len(&self, context: &Context) -> Option<usize> {
        let Place::Bounce(Bounce { buffer, .. }) = &self.place else { return None };
        Some(context.engine.open(buffer).ok()?.raw_len())
    }

    /// Decodes a frame that has come from rank `source` of the world, or begins to if it is the head of a stream, if its message has at most `most`
    /// bytes. If that fails, the receive decodes it later, or determines what it is. Returns what [`message_len`](Self::message_len) would have.
    pub(crate) fn decode_ahead(&mut self, context: &Context, source: c_int, most: usize) -> Option<usize> {
        let Place::Bounce(Bounce { buffer, .. }) = &self.place else { return None };
        let incoming = context.engine.open(buffer).ok()?;
        let (len, start) = (incoming.raw_len(), Instant::now());
        if len > most {
            return Some(len);
        }
        let came = match incoming.stream() {
            Some(stream) => context.engine.buffer(len).map(|room| {
                // SAFETY: the buffer lives as long as the stream, which owns it.
                let stream =
                    unsafe { Arriving::new(context, (stream, &incoming), source, Target::Buffer(room)) };
                Came::Stream(Box::new(stream))
            }),
            None => {
                let decoded = context.decoded(len, |out| context.engine.decode(&incoming, out)).ok();
                decoded.map(|message| {
                    waiting::received(buffer.len());
                    Came::Elsewhere(message, false)
                })
            }
        };
        if came.is_some() {
            (self.place, self.came, self.ahead) = (Place::Emptied, came, Some(start.elapsed()));
        }
        Some(len)
    }

    /// Takes the next chunk of a stream that is decoded ahead, if it has come.
    pub(crate) fn take_next(&mut self, context: &Context) -> Next {
        let (Some(Came::Stream(stream)), Some(time)) = (&mut self.came, &mut self.ahead) else {
            return Next::Over;
        };
        let start = Instant::now();
        let next = stream.take_next(context);
        if next == Next::Taken {
            *time += start.elapsed();
        }
        next
    }

    /// Our own memory that it uses, in bytes.
    pub(crate) fn own_memory(&self) -> usize {
        match (&self.came, &self.place) {
            (Some(Came::Stream(stream)), _) => stream.memory(),
            (Some(Came::Elsewhere(buffer, _)), _) | (_, Place::Bounce(Bounce { buffer, .. })) => buffer.len(),
            _ => 0,
        }
    }

    /// The program will not ask for the message. The rest of a stream is dropped as it comes. A frame that has not been decoded counts as lost
    /// (`docs/format/frame.md`, section "Notes"). Returns the buffer that the MPI may still write to.
    pub(crate) fn discard(mut self, context: &Context) -> Option<Bounce> {
        if let Some(Came::Stream(stream)) = self.came.take() {
            let _lost = stream.drop_rest(context);
        }
        std::mem::replace(&mut self.place, Place::Emptied).into_bounce()
    }
}
