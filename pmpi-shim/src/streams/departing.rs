//! A stream that this process sends.

use super::{Send, Streams, is_complete};
use crate::context::Context;
use crate::error::give_up;
use crate::mpi::real;
use crate::operation::{Look, look};
use crate::sys::*;
use crate::wire::{Raw, Wire};
use mpress::{Buffer, SentAt, Tail};
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
    id: u32,
    /// The data sent by the head's request.
    head: Arc<Wire>,
    /// The chunks whose sends are not complete.
    under_way: VecDeque<Send>,
    /// Bytes of the tail started.
    started: usize,
    /// What a byte takes on the network, by the estimate, in nanoseconds.
    byte_ns: f64,
    state: State,
    /// Time that chunks were kept waiting in calls of the MPI: when they were sent is told without it, since it shows not how fast this process is, but
    /// how busy the network.
    stalled: Duration,
}

#[derive(Clone, Copy)]
enum State {
    /// The head has not been matched.
    Waiting,
    /// It has. The tail is waited for as long as this still; when it was looked at last.
    Matched(Duration, Instant),
    /// The stream was cancelled, or its head failed.
    Over,
}

/// Time between two looks at a tail counts only as far as this as time that it was waited for: the program may compute meanwhile.
const LOOK: Duration = Duration::from_millis(1);

impl Departing {
    /// Starts a stream of the message `raw` to rank `dest` of the world. `start_head` starts its head in the mode of the message.
    /// `meanwhile` is called between chunks.
    ///
    /// # Errors
    /// Those of `start_head`, and a lack of memory.
    pub(crate) fn start<E>(
        context: &Context,
        dest: c_int,
        (head, mut tail): (Arc<Wire>, Tail),
        raw: &Raw<'_>,
        start_head: impl FnOnce(&Wire) -> Result<MPI_Request, E>,
        meanwhile: &dyn Fn(),
    ) -> Result<(Self, MPI_Request), E> {
        let all = Arc::clone(&context.streams);
        let request = start_head(&head)?;
        all.busy.fetch_add(1, Ordering::AcqRel);
        let mut stream = Self {
            all,
            dest,
            id: tail.stream().id(),
            head,
            under_way: VecDeque::new(),
            started: 0,
            byte_ns: 1e3 / context.engine.link().bandwidth_mb_s,
            state: State::Waiting,
            stalled: Duration::ZERO,
        };
        while tail.due().is_some() {
            match next_chunk(context, &mut tail, raw) {
                Some(chunk) => stream.send(chunk, tail.due().is_none()),
                None if stream.under_way.is_empty() => cannot_go_on(ERR_NO_MEM),
                // Those that are sent give back theirs.
                None => {}
            }
            stream.advance(request);
            meanwhile();
        }
        Ok((stream, request))
    }

    /// Starts the next chunk.
    fn send(&mut self, mut chunk: Buffer, is_last: bool) {
        let start = Instant::now();
        let since_began = start.saturating_duration_since(self.all.began);
        SentAt::after(since_began.saturating_sub(self.stalled)).write(&mut chunk);
        let mut request = REQUEST_NULL;
        let len = c_int::try_from(chunk.len()).unwrap_or(0); // at most a MiB
        let send = if is_last { real::MPI_Issend } else { real::MPI_Isend };
        let (tag, comm) = (self.all.tag_of(self.id), self.all.comm);
        // SAFETY: the chunk is kept with the request until that completes.
        let code = unsafe { send(chunk.as_ptr().cast(), len, BYTE, self.dest, tag, comm, &raw mut request) };
        if let Err(code) = ok(code) {
            cannot_go_on(code);
        }
        self.stalled += self.all.stalled(chunk.len(), start.elapsed());
        self.started += chunk.len();
        let kept = self.all.pending.add(chunk.len());
        self.under_way.push_back((request, chunk, kept));
    }

    /// Advances the stream, whose head has this request; returns whether the stream has been sent, so that the request may be completed.
    pub(crate) fn advance(&mut self, request: MPI_Request) -> bool {
        let before = self.under_way.len();
        // Frees the memory of chunks that have been sent.
        while self.under_way.front_mut().is_some_and(|(request, ..)| is_complete(request)) {
            self.under_way.pop_front();
        }
        if let State::Waiting = self.state {
            self.state = self.decided(request);
        }
        let goes_on = self.under_way.len() < before;
        match &mut self.state {
            State::Waiting => false,
            State::Over => true,
            State::Matched(..) if self.under_way.is_empty() => true,
            State::Matched(patience, looked) => {
                let now = Instant::now();
                let waited = now.saturating_duration_since(*looked).min(LOOK);
                (*patience, *looked) = (patience.saturating_sub(waited), now);
                if goes_on {
                    *patience = self.all.patience(self.byte_ns, self.id);
                }
                patience.is_zero()
            }
        }
    }

    /// What has become of the head.
    fn decided(&self, request: MPI_Request) -> State {
        let mut cancelled = 0;
        match look(request) {
            Look::UnderWay => return State::Waiting,
            Look::Failed(..) => return State::Over,
            // SAFETY: the MPI's status, and a valid output pointer.
            Look::Complete(status) => unsafe { PMPI_Test_cancelled(&raw const status, &raw mut cancelled) },
        };
        if cancelled == 0 {
            State::Matched(self.all.patience(self.byte_ns, self.id), Instant::now())
        } else {
            State::Over
        }
    }

    /// The number of bytes sent: the head and the chunks of the tail.
    pub(crate) fn wire_len(&self) -> usize {
        self.head.len() + self.started
    }

    /// Whether the receiver has matched the head, so that the whole stream must be sent.
    pub(crate) fn is_matched(&self) -> bool {
        matches!(self.state, State::Matched(..))
    }

    /// The head's request has failed: its memory is not freed, since the MPI may still read it.
    pub(crate) fn abandon(self) {
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
        if self.is_matched() {
            self.all.waited(self.under_way.is_empty());
        } else if self.started > 0 {
            for (request, ..) in &mut self.under_way {
                // SAFETY: our own request.
                unsafe { real::MPI_Cancel(request) };
            }
            let tag = self.all.tag_of(self.id);
            self.all.burnt.lock().unwrap_or_else(PoisonError::into_inner).insert(tag);
        }
        self.all.leave(std::mem::take(&mut self.under_way));
        self.all.busy.fetch_sub(1, Ordering::AcqRel);
    }
}
