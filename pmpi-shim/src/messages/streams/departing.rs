//! A stream that this process sends.

use super::{AHEAD, Send, Streams, drop_sent};
use crate::messages::{context::Context, wire::Raw, wire::Wire};
use crate::mpi::{fatal::give_up, operation::Look, operation::look, real, span::is_cancelled, sys::*};
use mpress::{Buffer, Counted, SentAt, Tail, waiting::Wait};
use std::{collections::VecDeque, sync::Arc, sync::atomic::Ordering, time::Duration, time::Instant};

/// A stream being sent. The request of its message is that of its head.
pub(crate) struct Departing {
    all: Arc<Streams>,
    /// The destination, a rank of the world.
    dest: c_int,
    id: u32,
    /// The data sent by the head's request.
    head: Arc<Wire>,
    /// Chunks that have not been started. There are none unless the call waits for the stream.
    held: VecDeque<(Buffer, Counted)>,
    /// The chunks that have been started, without those whose sends are known to be complete.
    under_way: VecDeque<Send>,
    /// Bytes started since the last synchronous chunk.
    unconfirmed: usize,
    /// Whether the last chunk has been encoded.
    ends: bool,
    /// Counts the message among those that may go ahead of their receiver.
    ahead: Option<Counted>,
    /// Bytes of the tail started.
    started: usize,
    /// Estimated time of a byte on the network, in nanoseconds.
    byte_ns: f64,
    state: State,
    /// Time that the MPI took to start chunks, beyond the usual. The receiver is told when each chunk was ready, without this time: it shows how busy
    /// the network is, not how fast this process is.
    stalled: Duration,
}

#[derive(Clone, Copy)]
enum State {
    /// The head has not been matched.
    Waiting,
    /// The head has been matched.
    Matched(Wait),
    /// The stream was cancelled, or its head failed.
    Over,
}

/// A call that waits sends a chunk synchronously whenever it has started this number of bytes. Open MPI over TCP calls any other chunk sent at once,
/// and queues any number of them for a connection. What it answers there, such as that it has matched a synchronous chunk of the other rank, goes
/// after the whole queue. So with long queues two ranks that send to each other would send one after the other.
const CONFIRMED: usize = 1 << 20;

/// Bytes that such a call starts from the first pending chunk on: more wait in the memory of both MPIs, with fewer a link of 1 Gbit/s is idle at times
/// (`benches/record/streams.txt` has other windows).
const WINDOW: usize = 4 << 20;

impl Departing {
    /// Starts a stream of the message `raw` to rank `dest` of the world. `start_head` starts its head in the mode of the message. `meanwhile` is
    /// called between chunks. `holds`: the call does not return before the stream is complete, so chunks need not be started before the network is
    /// ready for them, as an MPI does with long messages. Errors are those of `start_head`.
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
            unconfirmed: 0,
            ends: false,
            ahead,
            started: 0,
            byte_ns: 1e3 / context.engine.link().bandwidth_mb_s,
            state: State::Waiting,
            stalled: Duration::ZERO,
        };
        while tail.due().is_some() && !matches!(stream.state, State::Over) {
            match next_chunk(context, &mut tail, raw) {
                Some(mut chunk) => {
                    stream.ends = tail.due().is_none();
                    let ready = stream.all.began.elapsed().saturating_sub(stream.stalled);
                    SentAt::after(ready).write(&mut chunk);
                    let kept = stream.all.pending.add(chunk.room().len());
                    stream.held.push_back((chunk, kept));
                    if !holds {
                        stream.start_held();
                    }
                }
                None if stream.held.is_empty() && stream.under_way.is_empty() => cannot_go_on(ERR_NO_MEM),
                // Chunks that have been sent give back their memory, unless the receiver does not take them.
                None => {
                    stream.start_held();
                    if stream.advance(request) && stream.is_matched() {
                        cannot_go_on(ERR_NO_MEM);
                    }
                }
            }
            stream.go_on(request);
            meanwhile();
        }
        // The time of encoding does not count as waiting.
        if stream.is_matched() {
            stream.state = stream.matched();
        }
        Ok((stream, request))
    }

    /// Starts all chunks.
    fn start_held(&mut self) {
        while let Some(held) = self.held.pop_front() {
            self.send(held, false);
        }
    }

    /// Starts the chunks that the network is ready for.
    fn start_due(&mut self) {
        let is_due = |stream: &Self| match stream.state {
            State::Waiting => stream.started < AHEAD,
            State::Matched(_) => {
                stream.under_way.front().is_none_or(|first| stream.started - first.before < WINDOW)
            }
            State::Over => false,
        };
        while is_due(self)
            && let Some(held) = self.held.pop_front()
        {
            // A head that fails leaves no chunk that is never received.
            self.send(held, self.is_matched());
        }
    }

    /// Starts a chunk. The last one of the stream is sent synchronously, since an MPI calls a short message sent when it has copied it: if a program
    /// went on computing then, chunks would stay where they are until its next call. If the call `confirms` what has been received, so are some
    /// before it.
    fn send(&mut self, (chunk, kept): (Buffer, Counted), confirms: bool) {
        let is_last = self.ends && self.held.is_empty();
        self.unconfirmed += chunk.len();
        let synchronous = is_last || confirms && self.unconfirmed >= CONFIRMED;
        if synchronous {
            self.unconfirmed = 0;
        }
        let start = Instant::now();
        let to = self.all.channel(self.id, self.dest);
        // SAFETY: the chunk is kept with the request until that completes.
        let started = unsafe { to.send(chunk.as_ptr(), chunk.len(), synchronous) };
        let request = started.unwrap_or_else(|code| cannot_go_on(code));
        self.stalled += self.all.patience.stalled(chunk.len(), start.elapsed());
        let before = self.started;
        self.started += chunk.len();
        self.under_way.push_back(Send { before, synchronous, request, _chunk: chunk, _kept: kept });
    }

    /// Advances the stream, whose head has this request; returns whether chunks have left.
    fn go_on(&mut self, request: MPI_Request) -> bool {
        let before = self.under_way.len();
        drop_sent(&mut self.under_way);
        let some_left = self.under_way.len() < before;
        if let State::Waiting = self.state {
            self.decide(request);
        }
        self.start_due();
        some_left
    }

    /// Advances the stream, whose head has this request, and which is waited for; returns whether the stream has been sent, so that the request may
    /// be completed.
    pub(crate) fn advance(&mut self, request: MPI_Request) -> bool {
        if self.go_on(request) && self.is_matched() {
            self.state = self.matched();
        }
        let is_sent = self.under_way.is_empty() && self.held.is_empty();
        match &mut self.state {
            State::Waiting => false,
            State::Over => true,
            State::Matched(_) if is_sent => true,
            State::Matched(wait) => {
                let ends = wait.ends();
                if ends {
                    self.start_held();
                }
                ends
            }
        }
    }

    /// The state once the head has been matched, when chunks have left.
    fn matched(&self) -> State {
        State::Matched(self.all.patience.begin(self.all.pending.bytes(), self.byte_ns, self.id))
    }

    /// If the head has been matched, the rest is started; if it never will be, the rest is dropped.
    fn decide(&mut self, request: MPI_Request) {
        let failed = match look(request) {
            Look::UnderWay => return,
            Look::Failed(..) => true,
            Look::Complete(status) => is_cancelled(&status),
        };
        self.ahead = None;
        if failed {
            self.held.clear();
            self.state = State::Over;
            return;
        }
        self.state = self.matched();
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
    give_up("the rest of a message that has been sent in part cannot be sent", code)
}

impl Drop for Departing {
    fn drop(&mut self) {
        if self.is_matched() {
            self.all.patience.waited(self.under_way.is_empty());
        } else if self.started > 0 {
            for send in &mut self.under_way {
                // SAFETY: our own request.
                unsafe { real::MPI_Cancel(&raw mut send.request) };
            }
            let tag = self.all.tag_of(self.id);
            crate::locked(&self.all.burnt).insert(tag);
        }
        self.all.leave(std::mem::take(&mut self.under_way));
        self.all.busy.fetch_sub(1, Ordering::AcqRel);
    }
}
