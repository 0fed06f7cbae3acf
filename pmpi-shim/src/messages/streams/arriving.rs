//! A stream that this process receives.

use super::Streams;
use crate::messages::{context::Context, error::Untold};
use crate::mpi::channel::{Channel, match_one, test};
use crate::mpi::{real, span::received_bytes, sys::*};
use mpress::{
    Buffer, Incoming, Stream,
    waiting::{self, Pace},
};
use mpress_datatype::{Plan, Source};
use std::{collections::VecDeque, mem::MaybeUninit, slice, sync::atomic::Ordering};

/// Greatest number of posted receives of chunks.
const POSTED: usize = 4;

/// The destination of the message.
pub(crate) enum Target {
    /// This memory of the program, which has room for it.
    Memory(*mut u8),
    /// Elements at this address, with room for it.
    Elements(Plan, *mut u8),
    /// Our own buffer.
    Buffer(Buffer),
    /// None: the message is too long, or there is no memory for it.
    Nowhere(c_int),
}

/// The progress of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A chunk has been taken.
    Taken,
    /// No new chunk has come.
    Missing,
    /// The stream was complete before.
    Over,
}

/// A stream whose head has been received.
pub(crate) struct Arriving {
    stream: Stream,
    tail: Channel,
    target: Target,
    posted: VecDeque<(MPI_Request, Buffer)>,
    /// The next chunk to decode.
    next: usize,
    /// The next chunk to post a receive for.
    to_post: usize,
    /// Bytes of the tail received so far.
    received: usize,
    pace: Pace,
    outcome: Result<(), Untold>,
}

impl Arriving {
    /// Begins a stream whose head has come from rank `source` of the world.
    ///
    /// # Safety
    /// The memory of `target` must live until the stream is complete.
    pub(crate) unsafe fn new(
        context: &Context,
        (stream, head): (Stream, &Incoming<'_>),
        source: c_int,
        target: Target,
    ) -> Self {
        let mut new = Self::of(context, stream, source, target);
        if new.is_dropped() {
            context.engine.refuse_stream(&stream);
        }
        new.decode(context, |context, out| context.engine.decode_head(head, out));
        new
    }

    /// Receives the tail of a stream from rank `source` of the world, and drops it.
    pub(crate) fn drop_tail(context: &Context, stream: Stream, source: c_int) {
        if source < 0 {
            return; // the source is not known
        }
        let mut tail = Self::of(context, stream, source, Target::Nowhere(ERR_TRUNCATE));
        tail.next = 1;
        tail.leave(context);
    }

    /// A stream of which nothing has been decoded.
    fn of(context: &Context, stream: Stream, source: c_int, target: Target) -> Self {
        let (posted, pace) = (VecDeque::new(), Pace::default());
        let tail = context.streams.channel(stream.id(), source);
        let outcome = if let Target::Nowhere(code) = target { Err(Untold::new(code)) } else { Ok(()) };
        Self { stream, tail, target, posted, next: 0, to_post: 1, received: 0, pace, outcome }
    }

    /// Whether the message is no longer wanted.
    pub(crate) fn is_dropped(&self) -> bool {
        self.outcome.is_err()
    }

    /// Drops the rest of the chunks as they come; returns the error, if there was one.
    pub(crate) fn drop_rest(mut self, context: &Context) -> Option<Untold> {
        let error = std::mem::replace(&mut self.outcome, Err(Untold::new(ERR_TRUNCATE))).err();
        self.leave(context);
        error
    }

    /// Keeps the first error.
    fn fail(&mut self, code: c_int) {
        if self.outcome.is_ok() {
            self.outcome = Err(Untold::new(code));
        }
    }

    fn leave(self, context: &Context) {
        context.engine.refuse_stream(&self.stream);
        crate::locked(&context.streams.dropped).push(self);
        context.streams.busy.fetch_add(1, Ordering::AcqRel);
    }

    /// Receives the chunks of tails that are dropped.
    pub(crate) fn sweep(context: &Context) {
        let mut dropped = crate::locked(&context.streams.dropped);
        let before = dropped.len();
        dropped.retain_mut(|stream| !stream.advance(context));
        context.streams.busy.fetch_sub(before - dropped.len(), Ordering::AcqRel);
    }

    /// At the end, receives and drops the remaining chunks of tails without a receiver.
    pub(crate) fn drop_leftovers(context: &Context) {
        let comm = context.private.comm;
        if comm == COMM_NULL {
            return; // no stream was sent
        }
        let of = Match { source: ANY_SOURCE, tag: ANY_TAG, comm };
        loop {
            let Ok(Some((mut message, mut status))) = match_one(of) else { return };
            let len = received_bytes(&status);
            let (Some(mut buffer), Ok(count)) = (context.engine.buffer(len), c_int::try_from(len)) else {
                return;
            };
            let room = buffer.room().as_mut_ptr().cast();
            // SAFETY: a buffer with room for the message.
            unsafe { real::MPI_Mrecv(room, count, BYTE, &raw mut message, &raw mut status) };
        }
    }

    /// Takes the chunks that have come; returns whether the stream is complete.
    pub(crate) fn advance(&mut self, context: &Context) -> bool {
        loop {
            match self.take_next(context) {
                Next::Taken => {}
                Next::Missing => return false,
                Next::Over => return true,
            }
        }
    }

    /// Takes the next chunk, if it has come.
    pub(crate) fn take_next(&mut self, context: &Context) -> Next {
        while self.posted.len() < POSTED && self.to_post < self.stream.chunks() {
            if let Err(code) = self.post(context) {
                self.fail(code);
                if self.posted.is_empty() {
                    // The rest cannot be received. The sender waits for its last chunk no longer than its patience lasts.
                    return Next::Over;
                }
                break;
            }
        }
        let Some((request, _)) = self.posted.front_mut() else { return Next::Over };
        let Some(came) = test(request) else {
            self.pace.missed();
            return Next::Missing;
        };
        let Some((_, mut chunk)) = self.posted.pop_front() else { return Next::Over };
        match came {
            Ok(status) => {
                chunk.set_len(received_bytes(&status));
                self.received += chunk.len();
                self.pace.arrived(&chunk);
                if self.next + 1 == self.stream.chunks() {
                    waiting::received(self.received);
                    if context.world.other_node(self.tail.peer) {
                        self.pace.tell(&context.engine);
                    }
                }
                let (stream, index) = (self.stream, self.next);
                self.decode(context, |context, out| context.engine.decode_chunk(&stream, index, &chunk, out));
            }
            Err(code) => {
                self.fail(code);
                self.next += 1;
            }
        }
        Next::Taken
    }

    /// Bytes of memory for the message, and for the chunks with posted receives.
    pub(crate) fn memory(&self) -> usize {
        self.stream.raw_len().saturating_add(self.posted.len() * self.stream.longest())
    }

    fn post(&mut self, context: &Context) -> Result<(), c_int> {
        let mut buffer = context.room(self.stream.longest())?;
        // SAFETY: a buffer with room for this number of bytes, kept with the request until that completes.
        let request = unsafe { self.tail.receive(buffer.room().as_mut_ptr(), self.stream.longest())? };
        self.posted.push_back((request, buffer));
        self.to_post += 1;
        Ok(())
    }

    /// Decodes the next chunk to its place. After an error chunks are only received.
    fn decode(
        &mut self,
        context: &Context,
        decode: impl FnOnce(&Context, &mut [MaybeUninit<u8>]) -> Result<(), mpress::FrameError>,
    ) {
        let range = self.stream.range(self.next);
        self.next += 1;
        if self.outcome.is_err() {
            return;
        }
        let memory = match &mut self.target {
            Target::Memory(memory) => *memory,
            Target::Buffer(buffer) => buffer.room().as_mut_ptr(),
            Target::Elements(plan, memory) => {
                // Unpacked while it is in the cache.
                let unpack = |chunk: Buffer| {
                    // SAFETY: elements with room for the message, which the program lends.
                    let elements = unsafe { mpress_datatype::Target::from_raw(*memory, plan.reach()) };
                    waiting::coding(|| plan.unpack(Source::new(&chunk, 0), range.clone(), elements))
                        .map_err(|_| ERR_INTERN)
                };
                let chunk = context.decoded(range.len(), |out| decode(context, out));
                if let Err(code) = chunk.and_then(unpack) {
                    self.fail(code);
                }
                return;
            }
            Target::Nowhere(_) => return,
        };
        // SAFETY: memory with room for the message; `decode` writes only initialised bytes.
        let out = unsafe {
            slice::from_raw_parts_mut(memory.add(range.start).cast::<MaybeUninit<u8>>(), range.len())
        };
        if let Err(error) = waiting::coding(|| decode(context, out)) {
            self.fail(context.damage(error));
        }
    }

    /// The length of the message, and its buffer, if it is in one of our buffers. To be called once the stream is complete.
    pub(crate) fn finish(mut self) -> Result<(usize, Option<Buffer>), c_int> {
        std::mem::replace(&mut self.outcome, Ok(())).map_err(Untold::tell)?;
        let len = self.stream.raw_len();
        Ok(match std::mem::replace(&mut self.target, Target::Nowhere(ERR_INTERN)) {
            Target::Buffer(mut buffer) => {
                buffer.set_len(len);
                (len, Some(buffer))
            }
            _ => (len, None),
        })
    }
}

impl Streams {
    /// Finishes sends that no longer belong to a request, and drops tails; returns whether any are left.
    pub(crate) fn end(&self, context: &Context) -> bool {
        Arriving::sweep(context);
        self.sweep() || !crate::locked(&self.dropped).is_empty()
    }
}

impl Drop for Arriving {
    /// The memory of posted receives is not freed, since the MPI still writes to it.
    fn drop(&mut self) {
        self.posted.drain(..).for_each(std::mem::forget);
    }
}
