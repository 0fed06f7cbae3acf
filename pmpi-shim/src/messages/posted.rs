//! A receive that may bring a frame. It is posted in place of the program's, and decoded when it completes (`README.md`, "Frames").

mod finish;

use crate::messages::streams::{Arriving, Next, Target};
use crate::messages::{
    context::Context, error::truncated, peers::Origin, peers::Peers, receive_memory::Claim,
    receive_memory::Memory,
};
use crate::mpi::span::{ByteSpan, Envelope, OwnedType, Span, received_bytes};
use crate::mpi::{operation::Look, sys::*};
use mpress::{Buffer, Counted, waiting};
use std::{sync::Arc, time::Duration, time::Instant};

/// A posted receive, kept until it completes.
pub(crate) struct Posted {
    place: Place,
    memory: Memory,
    peers: Arc<Peers>,
    comm: MPI_Comm,
    /// Known once the receive has completed.
    came: Option<Came>,
    /// Decoding time before the program asked for the message, if it was decoded ahead.
    ahead: Option<Duration>,
    /// A reference to the datatype of the program, or to ours.
    _held: Option<OwnedType>,
}

/// What was received.
enum Came {
    /// A message, in the program's buffer.
    InPlace,
    /// A message or a frame (`true`), in our own buffer.
    Elsewhere(Buffer, bool),
    /// The head of a stream.
    Stream(Box<Arriving>),
    /// An error.
    Failed(c_int),
}

/// The buffer that the MPI writes to.
enum Place {
    /// The program's buffer, as these bytes if it is contiguous. It has no claim if nothing else is received meanwhile, or if memory was short.
    Program(Option<ByteSpan>, Option<Claim>),
    /// Our own buffer, whose content is then moved to the program's.
    Bounce(Bounce),
    /// None: the received data has been taken out.
    Emptied,
}

impl Posted {
    /// Prepares a receive. `alone`: nothing else is received until it completes.
    pub(crate) fn new(
        context: &Context,
        message: &Envelope,
        peers: Arc<Peers>,
        alone: bool,
    ) -> Result<Self, c_int> {
        let (mut memory, held) = Memory::lent(context, &message.span)?;
        let capacity = memory.capacity;
        let bytes = match memory.contiguous {
            true => Some(context.byte_span(memory.span.ptr().cast(), capacity)?),
            false => None,
        };
        let ends_anywhere = || context.family.takes_partial_elements() || !peers.frames_with(message.peer);
        let is_faster = || context.received.has_room(capacity) && context.reordered(&memory.span, capacity);
        let mut by_elements = !memory.contiguous && (!ends_anywhere() || is_faster());
        // Longer ones in a GPU's memory would need absolute addresses, for which an MPI cannot tell whose memory they are.
        if by_elements
            && c_int::try_from(capacity).is_ok()
            && let Some(bytes) = memory.as_bytes(context)
        {
            (memory, by_elements) = (bytes, false);
        }
        let (claim, free) = match by_elements {
            true => (None, false),
            false if alone => (None, !context.receive_memory.overlaps(&memory)),
            false => {
                let claim = context.receive_memory.claim(&memory);
                let free = claim.is_some();
                (claim, free)
            }
        };
        // Without memory for the buffer, a frame becomes an error of the MPI, or is damaged; but its sender does not wait for ever.
        let bounce = if free { None } else { Bounce::new(context, capacity)? };
        let place = bounce.map_or(Place::Program(bytes, claim), Place::Bounce);
        Ok(Self { place, memory, peers, comm: message.comm, came: None, ahead: None, _held: held })
    }

    /// The communicator whose error handler is called for a failure.
    pub(crate) fn origin(&self) -> Origin {
        Origin { comm: self.comm, peers: Some(Arc::clone(&self.peers)) }
    }

    /// The span to receive into.
    ///
    /// # Safety
    /// The posted receive must be kept until the operation is complete.
    pub(crate) unsafe fn span(&self) -> Span {
        match &self.place {
            // SAFETY: the program's memory, or ours, which the caller keeps.
            Place::Program(Some(bytes), _) | Place::Bounce(Bounce { bytes, .. }) => unsafe { bytes.span() },
            Place::Program(None, _) | Place::Emptied => self.memory.span,
        }
    }

    /// Decodes what has come of a message in chunks, once `look` says that the MPI has received its head. Returns whether the whole message has come,
    /// so that the request may be completed.
    pub(crate) fn advance(&mut self, context: &Context, look: impl FnOnce() -> Look) -> bool {
        if self.came.is_none() {
            // A smaller buffer has no room for a message in chunks.
            if context.engine.chunk(self.memory.capacity).is_none() {
                return true;
            }
            match look() {
                Look::UnderWay => return false,
                // SAFETY: the receive has completed without an error.
                Look::Complete(status) if received_bytes(&status) <= self.memory.capacity => unsafe {
                    self.look(context, &status);
                },
                Look::Complete(_) | Look::Failed(..) => return true, // reported by the call that completes it
            }
        }
        match &mut self.came {
            Some(Came::Stream(stream)) => stream.is_dropped() || stream.advance(context),
            _ => true,
        }
    }

    /// Examines the received data.
    ///
    /// # Safety
    /// The receive must have completed with this status.
    unsafe fn look(&mut self, context: &Context, status: &MPI_Status) {
        let received = received_bytes(status);
        let may_be_frame = self.peers.may_be_damaged_frame(status, received);
        let came = match std::mem::replace(&mut self.place, Place::Emptied) {
            Place::Bounce(bounce) => {
                let wire = bounce.received(received);
                let is_frame = may_be_frame && context.engine.is_frame(&wire);
                Came::Elsewhere(wire, is_frame)
            }
            Place::Emptied => Came::Failed(ERR_INTERN),
            Place::Program(bytes, claim) => {
                let found = if may_be_frame {
                    // SAFETY: the caller vouches for the completion.
                    unsafe { self.memory.frame(context, received) }
                } else {
                    Ok(None)
                };
                self.place = Place::Program(bytes, claim);
                match found {
                    Ok(Some(frame)) => Came::Elsewhere(frame, true),
                    Ok(None) => Came::InPlace,
                    Err(code) => Came::Failed(code),
                }
            }
        };
        let stream = match &came {
            Came::Elsewhere(frame, true) => {
                self.begin(context, frame, self.peers.world_rank(status.MPI_SOURCE))
            }
            _ => None,
        };
        // The head is a small part of a stream, whose bytes count when all have come.
        if may_be_frame && stream.is_none() {
            waiting::received(received);
        }
        self.came = Some(stream.map_or(came, |stream| Came::Stream(Box::new(stream))));
    }

    /// The stream that this frame is the head of, if any.
    fn begin(&self, context: &Context, frame: &[u8], source: c_int) -> Option<Arriving> {
        let Ok(head) = context.engine.open(frame) else {
            if let Some(stream) = context.engine.torn(frame) {
                Arriving::drop_tail(context, stream, source);
            }
            return None;
        };
        let stream = head.stream()?;
        let (len, in_place) = (stream.raw_len(), matches!(self.place, Place::Program(..)));
        let target = if len > self.memory.capacity {
            Target::Nowhere(truncated(len, self.memory.capacity))
        } else if in_place && self.memory.contiguous {
            Target::Memory(self.memory.span.ptr().cast())
        } else if let Some(plan) = context.plan(&self.memory.span).filter(|_| in_place) {
            Target::Elements(plan, self.memory.span.ptr().cast())
        } else {
            context.room(len).map_or_else(Target::Nowhere, Target::Buffer)
        };
        // SAFETY: the program lends its memory until the receive is finished.
        Some(unsafe { Arriving::new(context, (stream, &head), source, target) })
    }

    /// Whether it has begun to receive a message in chunks.
    pub(crate) fn is_arriving(&self) -> bool {
        matches!(self.came, Some(Came::Stream(_)))
    }

    /// Bytes that there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.memory.capacity
    }

    /// Whether more bytes have come than there is room for.
    pub(crate) fn is_truncated(&self, status: &MPI_Status) -> bool {
        received_bytes(status) > self.memory.capacity
    }
}

impl Drop for Posted {
    /// If an exception ends the call, the MPI may still write to our own buffer.
    fn drop(&mut self) {
        std::mem::forget(std::mem::replace(&mut self.place, Place::Emptied).into_bounce());
    }
}

impl Place {
    fn into_bounce(self) -> Option<Bounce> {
        if let Self::Bounce(bounce) = self { Some(bounce) } else { None }
    }
}

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
    fn new(context: &Context, capacity: usize) -> Result<Option<Self>, c_int> {
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
    fn received(self, len: usize) -> Buffer {
        let mut buffer = self.buffer;
        if self.split == Some(len) {
            buffer.room().copy_within(len..=len, len - 1);
        }
        buffer.set_len(len);
        buffer
    }
}

impl Posted {
    /// A receive that begins before the program asks for its message, and lends memory for it. The message goes to our own buffer, and is decoded
    /// there if the program will most likely ask for it next.
    pub(crate) fn early(peers: Arc<Peers>, comm: MPI_Comm, bounce: Bounce) -> Self {
        let memory = Memory::nothing();
        let place = Place::Bounce(bounce);
        Self { place, memory, peers, comm, came: None, ahead: None, _held: None }
    }

    /// The program asks for the message, and lends this memory.
    pub(crate) fn adopt(&mut self, (memory, held): (Memory, Option<OwnedType>)) {
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
