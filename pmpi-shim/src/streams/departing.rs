//! A stream that this process sends.

use super::{AHEAD, Send, Streams, is_complete};
use crate::context::Context;
use crate::error::give_up;
use crate::mpi::real;
use crate::operation::{Look, look};
use crate::sys::*;
use crate::wire::{Raw, Wire};
use mpress::{Buffer, Destination, SentAt, Tail};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// A stream being sent. The request of its message is that of its head.
pub(crate) struct Departing {
    all: Arc<Streams>,
    /// The destination, a rank of the world.
    dest: c_int,
    tag: c_int,
    to: Destination,
    /// The data sent by the head's request.
    head: Arc<Wire>,
    /// Chunks that have not been started.
    held: VecDeque<Buffer>,
    under_way: VecDeque<Send>,
    /// Number of bytes started.
    started: usize,
    /// Whether the last chunk has been encoded.
    ends: bool,
    /// Until when this process waits for the last chunk to be received, if it is sent synchronously.
    until: Option<Instant>,
    /// What a byte takes on the network, by the estimate, in nanoseconds.
    byte_ns: f64,
    /// Length of the longest chunk in bytes.
    longest: usize,
    /// Bytes counted in `all`.
    bytes: usize,
    state: State,
    /// Time that chunks were kept waiting in calls of the MPI: when they were sent is told without it, since it shows not how fast this process is, but
    /// how busy the network.
    stalled: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The head has not been matched.
    Waiting,
    Matched,
    /// The stream was cancelled, or its head failed: the tail is not sent.
    Over,
}

impl Departing {
    /// Starts a stream of the message `raw` to rank `dest` of the world. `start_head` starts its head in the mode of the message.
    /// `meanwhile` is called between chunks.
    ///
    /// # Errors
    /// Those of `start_head`, and a lack of memory.
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
            ends: false,
            until: None,
            byte_ns: 1e3 / context.engine.link().bandwidth_mb_s,
            longest: 0,
            bytes: 0,
            state: State::Waiting,
            stalled: Duration::ZERO,
        };
        stream.try_eager(context, &mut tail, raw)?;
        let request = start_head(&stream.head)?;
        while tail.due().is_some() {
            match next_chunk(context, &mut tail, raw) {
                Some(chunk) => {
                    stream.ends = tail.due().is_none();
                    stream.push(chunk);
                }
                None if stream.held.is_empty() && stream.under_way.is_empty() => cannot_go_on(ERR_NO_MEM),
                None => stream.start_held(),
            }
            stream.advance(request);
            meanwhile();
        }
        Ok((stream, request))
    }

    /// Tests whether chunks are sent eagerly, if that is not known.
    fn try_eager(&mut self, context: &Context, tail: &mut Tail, raw: &Raw<'_>) -> Result<(), c_int> {
        if !self.all.eager(self.to).is_open(self.head.len()) {
            return Ok(());
        }
        // The MPI sends the first while the second is encoded.
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

    /// Starts all remaining chunks: from now on the MPI does the rest.
    pub(crate) fn start_held(&mut self) {
        while let Some(mut chunk) = self.held.pop_front() {
            let start = Instant::now();
            let since_began = start.saturating_duration_since(self.all.began);
            SentAt::after(since_began.saturating_sub(self.stalled)).write(&mut chunk);
            let mut request = REQUEST_NULL;
            let len = c_int::try_from(chunk.len()).unwrap_or(0); // at most a MiB
            let is_last = self.ends && self.held.is_empty() && self.state == State::Matched;
            let send = if is_last && self.started > AHEAD {
                self.until = Some(start + self.all.patience(self.byte_ns));
                real::MPI_Issend
            } else {
                real::MPI_Isend
            };
            // SAFETY: the chunk is kept with the request until that completes.
            let code = unsafe {
                send(chunk.as_ptr().cast(), len, BYTE, self.dest, self.tag, self.all.comm, &raw mut request)
            };
            self.stalled += self.all.stalled(chunk.len(), start.elapsed());
            self.started += chunk.len();
            match ok(code) {
                Ok(()) => self.under_way.push_back((request, chunk)),
                Err(code) => cannot_go_on(code),
            }
        }
    }

    /// Advances the stream, whose head has this request; returns whether the stream has been sent, so that the request may be completed.
    pub(crate) fn advance(&mut self, request: MPI_Request) -> bool {
        // Frees the memory of chunks that have been sent.
        while self.under_way.front_mut().is_some_and(|(request, _)| is_complete(request)) {
            self.under_way.pop_front();
        }
        if self.state == State::Waiting && !self.is_decided(request) {
            return false;
        }
        if !self.held.is_empty() {
            return false;
        }
        self.under_way.is_empty()
            || match self.until {
                Some(until) => Instant::now() >= until,
                None => !self.all.eager(self.to).is_proven(self.longest),
            }
    }

    /// Whether the head's request is complete. If so, the rest is started, or dropped.
    fn is_decided(&mut self, request: MPI_Request) -> bool {
        let mut cancelled = 0;
        self.state = match look(request) {
            Look::UnderWay => return false,
            Look::Failed(..) => State::Over,
            Look::Complete(status) => {
                // SAFETY: the MPI's status, and a valid output pointer.
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

    /// The number of bytes sent: the head and the chunks of the tail.
    pub(crate) fn wire_len(&self) -> usize {
        self.head.len() + self.started
    }

    /// Whether the receiver has matched the head, so that the whole stream must be sent.
    pub(crate) fn is_matched(&self) -> bool {
        self.state == State::Matched
    }

    /// The head's request has failed: its memory is not freed, since the MPI may still read it.
    pub(crate) fn abandon(mut self) {
        self.held.clear();
        std::mem::forget(Arc::clone(&self.head));
    }
}

/// The next chunk; `None` if memory is short.
fn next_chunk(context: &Context, tail: &mut Tail, raw: &Raw<'_>) -> Option<Buffer> {
    match raw {
        Raw::Bytes(bytes) => context.engine.next_chunk(tail, bytes.get(tail.due()?)?),
        Raw::Elements(elements) => context.engine.next_piece(tail, elements),
    }
}

/// Ends the job: the head has been sent, and its receiver would wait for ever for a chunk that cannot be made or sent.
fn cannot_go_on(code: c_int) -> ! {
    give_up("the rest of a message that has been sent in part cannot be sent", COMM_WORLD, code)
}

impl Drop for Departing {
    fn drop(&mut self) {
        if self.state != State::Matched && self.started > 0 {
            for (request, _) in &mut self.under_way {
                // SAFETY: our own request.
                unsafe { real::MPI_Cancel(request) };
            }
            self.all.burnt.lock().unwrap_or_else(PoisonError::into_inner).insert(self.tag);
        }
        if self.until.is_some() {
            self.all.waited(self.under_way.is_empty());
        }
        self.all.eager(self.to).longest.fetch_max(self.longest, Ordering::Relaxed);
        self.all.leave(std::mem::take(&mut self.under_way));
        self.all.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.all.busy.fetch_sub(1, Ordering::AcqRel);
    }
}
