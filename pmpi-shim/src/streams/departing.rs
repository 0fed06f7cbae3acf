//! A stream that this process sends.

use super::{AHEAD, Send, Streams, is_complete};
use crate::context::Context;
use crate::error::give_up;
use crate::mpi::real;
use crate::operation::{Look, look};
use crate::sys::*;
use crate::wire::{Raw, Wire};
use mpress::{Buffer, Destination, Tail};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// A stream on its way. The request of its message is that of its head.
pub(crate) struct Departing {
    all: Arc<Streams>,
    /// A rank of the world.
    dest: c_int,
    tag: c_int,
    to: Destination,
    /// What the head's request sends.
    head: Arc<Wire>,
    /// Chunks that have not been started.
    held: VecDeque<Buffer>,
    under_way: VecDeque<Send>,
    /// Bytes that have been started.
    started: usize,
    /// Bytes of the longest chunk.
    longest: usize,
    /// Bytes counted in `all`.
    bytes: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The head has not been matched.
    Waiting,
    Matched,
    /// It was cancelled, or its head has failed: nobody wants the tail.
    Over,
}

impl Departing {
    /// Starts a stream of the message `raw` to rank `dest` of the world: `start_head` starts its head, as the message would be. Between
    /// two chunks `meanwhile` is done.
    ///
    /// # Errors
    /// Those of `start_head`, and that there is no memory.
    pub(crate) fn start<E: From<c_int>>(
        context: &Context,
        (dest, to): (c_int, Destination),
        (head, mut tail): (Arc<Wire>, Tail),
        raw: &Raw<'_>,
        start_head: impl FnOnce(&Wire) -> Result<MPI_Request, E>,
        meanwhile: impl Fn(),
    ) -> Result<(Self, MPI_Request), E> {
        let all = Arc::clone(&context.streams);
        let tag = all.tag(tail.stream());
        all.busy.fetch_add(1, Ordering::AcqRel);
        let mut stream = Self {
            all,
            dest,
            tag,
            to,
            head,
            held: VecDeque::new(),
            under_way: VecDeque::new(),
            started: 0,
            longest: 0,
            bytes: 0,
            state: State::Waiting,
        };
        stream.try_eager(context, &mut tail, raw)?;
        let request = start_head(&stream.head)?;
        while tail.due().is_some() {
            match next_chunk(context, &mut tail, raw) {
                Some(chunk) => stream.push(chunk),
                None if stream.held.is_empty() && stream.under_way.is_empty() => cannot_go_on(ERR_NO_MEM),
                None => stream.start_held(),
            }
            stream.advance(request);
            meanwhile();
        }
        Ok((stream, request))
    }

    /// Where that is not known, tries whether chunks are sent before they are asked for.
    fn try_eager(&mut self, context: &Context, tail: &mut Tail, raw: &Raw<'_>) -> Result<(), c_int> {
        if !self.all.eager(self.to).is_open(self.head.len()) {
            return Ok(());
        }
        // While the second is encoded the MPI sends the first.
        for _ in 0..2 {
            if tail.due().is_none() {
                break;
            }
            let chunk = next_chunk(context, tail, raw).ok_or(ERR_NO_MEM)?;
            let is_known = self.all.eager(self.to).is_proven(chunk.len());
            self.push(chunk);
            if is_known {
                return Ok(());
            }
        }
        if let Some((request, chunk)) = self.under_way.front_mut() {
            let (bytes, complete) = (chunk.len(), is_complete(request));
            if complete {
                self.under_way.pop_front();
            }
            self.all.eager(self.to).tried(bytes, complete);
        }
        Ok(())
    }

    fn push(&mut self, chunk: Buffer) {
        self.bytes += chunk.len();
        self.longest = self.longest.max(chunk.len());
        self.all.bytes.fetch_add(chunk.len(), Ordering::Relaxed);
        self.held.push_back(chunk);
        let may_start = self.state == State::Matched || self.all.multiple || self.started < AHEAD;
        if may_start {
            self.start_held();
        }
    }

    /// Starts all chunks that have not been started: from now on the MPI does what is to be done.
    pub(crate) fn start_held(&mut self) {
        while let Some(chunk) = self.held.pop_front() {
            let mut request = REQUEST_NULL;
            let len = c_int::try_from(chunk.len()).unwrap_or(0); // of a MiB at most
            // SAFETY: the chunk lasts until the request completes: it is kept with it.
            let code = unsafe {
                real::MPI_Isend(
                    chunk.as_ptr().cast(),
                    len,
                    BYTE,
                    self.dest,
                    self.tag,
                    self.all.comm,
                    &raw mut request,
                )
            };
            self.started += chunk.len();
            match ok(code) {
                Ok(()) => self.under_way.push_back((request, chunk)),
                Err(code) => cannot_go_on(code),
            }
        }
    }

    /// Moves the stream on, whose head has this request; says whether it has been sent, so that the request may be completed.
    pub(crate) fn advance(&mut self, request: MPI_Request) -> bool {
        // Chunks that have been sent give their memory back.
        while self.under_way.front_mut().is_some_and(|(request, _)| is_complete(request)) {
            self.under_way.pop_front();
        }
        if self.state == State::Waiting && !self.is_decided(request) {
            return false;
        }
        self.held.is_empty()
            && (self.under_way.is_empty() || !self.all.eager(self.to).is_proven(self.longest))
    }

    /// Whether the head's request is complete. If so, the rest is started, or dropped.
    fn is_decided(&mut self, request: MPI_Request) -> bool {
        let mut cancelled = 0;
        self.state = match look(request) {
            Look::UnderWay => return false,
            Look::Failed(..) => State::Over,
            Look::Complete(status) => {
                // SAFETY: a status that the MPI gave, and a valid output pointer.
                unsafe { PMPI_Test_cancelled(&raw const status, &raw mut cancelled) };
                if cancelled == 0 { State::Matched } else { State::Over }
            }
        };
        if self.state == State::Matched {
            self.start_held()
        } else {
            self.held.clear()
        }
        true
    }

    /// Whether its receiver has begun to take it, so that all of it is to be sent.
    pub(crate) fn is_matched(&self) -> bool {
        self.state == State::Matched
    }

    /// The head's request has failed: the MPI may still read it.
    pub(crate) fn abandon(mut self) {
        self.held.clear();
        std::mem::forget(Arc::clone(&self.head));
    }
}

/// The chunk that is due; `None` if memory is short.
fn next_chunk(context: &Context, tail: &mut Tail, raw: &Raw<'_>) -> Option<Buffer> {
    match raw {
        Raw::Bytes(bytes) => context.engine.next_chunk(tail, bytes.get(tail.due()?)?),
        Raw::Elements(elements) => context.engine.next_piece(tail, elements),
    }
}

/// The head is under way, and its receiver would wait for ever for what cannot be made or sent.
fn cannot_go_on(code: c_int) -> ! {
    give_up("the rest of a message that has been sent in part cannot be sent", COMM_WORLD, code)
}

impl Drop for Departing {
    fn drop(&mut self) {
        if self.state != State::Matched && self.started > 0 {
            for (request, _) in &mut self.under_way {
                // SAFETY: a request of ours.
                unsafe { real::MPI_Cancel(request) };
            }
            self.all.burnt.lock().unwrap_or_else(PoisonError::into_inner).insert(self.tag);
        }
        self.all.eager(self.to).longest.fetch_max(self.longest, Ordering::Relaxed);
        self.all.leave(std::mem::take(&mut self.under_way));
        self.all.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.all.busy.fetch_sub(1, Ordering::AcqRel);
    }
}
