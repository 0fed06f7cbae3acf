//! A stream that this process sends.

use super::{AHEAD, Send, Streams, drop_sent};
use crate::messages::budget::Counted;
use crate::messages::context::Context;
use crate::messages::wire::{Raw, Wire};
use crate::mpi::fatal::give_up;
use crate::mpi::operation::{Look, look};
use crate::mpi::real;
use crate::mpi::sys::*;
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
    /// Chunks that have not been started. Only a call that does not return before the stream is complete holds some.
    held: VecDeque<(Buffer, Counted)>,
    /// The chunks whose sends are not complete.
    under_way: VecDeque<Send>,
    /// Whether the last chunk has been encoded.
    ends: bool,
    /// Counts the message among those that may go ahead of their receiver.
    ahead: Option<Counted>,
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
    /// It has.
    Matched(Patience),
    /// The stream was cancelled, or its head failed.
    Over,
}

/// How long a tail is still waited for.
#[derive(Clone, Copy)]
struct Patience {
    left: Duration,
    /// Time between two looks counts at most as this: the program may compute meanwhile.
    look: Duration,
    looked: Instant,
}

/// The least number of looks before patience ends.
const LOOKS: u32 = 8;

impl Patience {
    fn of(time: Duration) -> Self {
        Self { left: time, look: time / LOOKS, looked: Instant::now() }
    }

    /// Looks once more; returns whether it has ended.
    fn ends(&mut self) -> bool {
        let now = Instant::now();
        self.left = self.left.saturating_sub(now.saturating_duration_since(self.looked).min(self.look));
        self.looked = now;
        self.left.is_zero()
    }
}

impl Departing {
    /// Starts a stream of the message `raw` to rank `dest` of the world. `start_head` starts its head in the mode of the message.
    /// `meanwhile` is called between chunks. `holds`: the call does not return before the stream is complete, so most chunks need not be started before the
    /// head has been matched, as an MPI does with long messages.
    ///
    /// # Errors
    /// Those of `start_head`, and a lack of memory.
    pub(crate) fn start<E>(
        context: &Context,
        dest: c_int,
        (head, mut tail): (Arc<Wire>, Tail),
        raw: &Raw<'_>,
        start_head: impl FnOnce(&Wire) -> Result<MPI_Request, E>,
        (meanwhile, holds): (&dyn Fn(), bool),
    ) -> Result<(Self, MPI_Request), E> {
        let all = Arc::clone(&context.streams);
        let ahead = (!holds).then(|| all.ahead.add(tail.stream().raw_len()));
        let request = start_head(&head)?;
        all.busy.fetch_add(1, Ordering::AcqRel);
        let mut stream = Self {
            all,
            dest,
            id: tail.stream().id(),
            head,
            held: VecDeque::new(),
            under_way: VecDeque::new(),
            ends: false,
            ahead,
            started: 0,
            byte_ns: 1e3 / context.engine.link().bandwidth_mb_s,
            state: State::Waiting,
            stalled: Duration::ZERO,
        };
        while tail.due().is_some() {
            match next_chunk(context, &mut tail, raw) {
                Some(mut chunk) => {
                    stream.ends = tail.due().is_none();
                    let kept = stream.all.pending.add(chunk.room().len());
                    stream.held.push_back((chunk, kept));
                    if !holds || stream.is_matched() || stream.started < AHEAD {
                        stream.start_held();
                    }
                }
                None if stream.held.is_empty() && stream.under_way.is_empty() => cannot_go_on(ERR_NO_MEM),
                // Those that are sent give back theirs.
                None => stream.start_held(),
            }
            stream.advance(request);
            meanwhile();
        }
        Ok((stream, request))
    }

    /// Starts all chunks.
    fn start_held(&mut self) {
        while let Some(held) = self.held.pop_front() {
            let is_last = self.ends && self.held.is_empty();
            self.send(held, is_last);
        }
    }

    /// Starts the next chunk.
    fn send(&mut self, (mut chunk, kept): (Buffer, Counted), is_last: bool) {
        let start = Instant::now();
        let since_began = start.saturating_duration_since(self.all.began);
        SentAt::after(since_began.saturating_sub(self.stalled)).write(&mut chunk);
        let to = self.all.channel(self.id, self.dest);
        // SAFETY: the chunk is kept with the request until that completes.
        let started = unsafe { to.send(chunk.as_ptr(), chunk.len(), is_last) };
        let request = started.unwrap_or_else(|code| cannot_go_on(code));
        self.stalled += self.all.stalled(chunk.len(), start.elapsed());
        self.started += chunk.len();
        self.under_way.push_back((request, chunk, kept));
    }

    /// Advances the stream, whose head has this request; returns whether the stream has been sent, so that the request may be completed.
    pub(crate) fn advance(&mut self, request: MPI_Request) -> bool {
        let before = self.under_way.len();
        drop_sent(&mut self.under_way);
        let goes_on = self.under_way.len() < before;
        if let State::Waiting = self.state {
            self.decide(request);
        }
        match &mut self.state {
            State::Waiting => false,
            State::Over => true,
            State::Matched(_) if self.under_way.is_empty() => true,
            State::Matched(patience) => {
                if goes_on {
                    *patience = Patience::of(self.all.patience(self.byte_ns, self.id));
                }
                patience.ends()
            }
        }
    }

    /// If the head has been matched, the rest is started; if it never will be, the rest is dropped.
    fn decide(&mut self, request: MPI_Request) {
        let mut cancelled = 0;
        let failed = match look(request) {
            Look::UnderWay => return,
            Look::Failed(..) => true,
            Look::Complete(status) => {
                // SAFETY: the MPI's status, and a valid output pointer.
                unsafe { PMPI_Test_cancelled(&raw const status, &raw mut cancelled) };
                cancelled != 0
            }
        };
        self.ahead = None;
        if failed {
            self.held.clear();
            self.state = State::Over;
            return;
        }
        self.start_held();
        self.state = State::Matched(Patience::of(self.all.patience(self.byte_ns, self.id)));
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
