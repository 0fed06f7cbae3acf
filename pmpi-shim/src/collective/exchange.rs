//! All-to-all, scatter and gather: messages between two ranks each, as by the send and receive calls.

use super::Group;
use super::blocks::Blocks;
use crate::agreed::How;
use crate::error::give_up;
use crate::peers::Peers;
use crate::progress;
use crate::recv;
use crate::requests::{Mode, UnderWay};
use crate::send;
use crate::span::{Layout, Span};
use crate::state::Shim;
use crate::sys::*;
use std::ffi::c_int;
use std::ptr;

/// Messages of a rank that are under way at a time, in each direction. More would not go faster, but need memory at both ends.
const UNDER_WAY: usize = 16;

/// Alltoall, Alltoallv and Alltoallw. Of the latter two each length is known to two ranks only; so the ranks vote. In place is left to
/// the MPI.
pub(crate) unsafe fn alltoall<F: Fn(c_int) -> Span, G: Fn(c_int) -> Span>(
    shim: &Shim,
    from: Blocks<F>,
    to: Blocks<G>,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.collective_peers(how.comm()) else { return pass() };
    if from.buf == IN_PLACE {
        return pass();
    }
    let any_long = || peers.ranks().any(|rank| shim.is_long(&from.of(rank)));
    let here =
        if to.equal { Ok(shim.is_long(&to.of(0))) } else { peers.collectives.varied_here(how, any_long) };
    let refused = || {
        let size = peers.size();
        let refused = shim.refuses_any(&from, size, Shim::refuses)
            || shim.refuses_any(&to, size, Shim::refuses)
            || shim.refuses_aliased(&from, &to);
        peers.collectives.counted(how, to.equal, refused)
    };
    shim.exchange(&peers, how, here, refused, pass, |start| {
        let (rank, size) = (start.group.rank(), start.group.size());
        // SAFETY: the program's own blocks. In each step one rank sends to another, which receives from it in the same step.
        unsafe {
            if from.buf == to.buf && from.buf != BOTTOM {
                // Most MPIs refuse it. Where one does not, it must not be that half of a frame is sent on: all is read first.
                (1..size)
                    .map(|step| (rank + step) % size)
                    .for_each(|dest| start.send_copy(&from.of(dest), dest));
                start.copy(&from.of(rank), &to.of(rank));
                (1..size)
                    .map(|step| (rank + size - step) % size)
                    .for_each(|source| start.receive(&to.of(source), source));
                return;
            }
            start.copy(&from.of(rank), &to.of(rank));
            for step in 1..size {
                let source = (rank + size - step) % size;
                start.receive(&to.of(source), source);
                let dest = (rank + step) % size;
                start.send(&from.of(dest), dest);
            }
        }
    })
}

/// Gather and Gatherv. `mine`: the block of this rank. `blocks`: those of all ranks, at the root.
pub(crate) unsafe fn gather<F: Fn(c_int) -> Span>(
    shim: &Shim,
    mine: Span,
    blocks: Blocks<F>,
    root: c_int,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.rooted_peers(how.comm(), root) else { return pass() };
    let at_root = peers.rank == root;
    let here = if blocks.equal {
        Ok(shim.is_long(&one_of(&mine, &blocks, at_root)))
    } else {
        peers.collectives.varied_here(how, || !at_root && shim.is_long(&mine))
    };
    let refused = || {
        let judges: (Judge, Judge) = (Shim::refuses, Shim::refuses_received);
        let refused = shim.refuses_rooted(&peers, (&mine, judges.0), (&blocks, judges.1), root);
        peers.collectives.counted(how, blocks.equal, refused)
    };
    shim.exchange(&peers, how, here, refused, pass, |start| {
        // SAFETY: the program's own blocks.
        unsafe {
            if !at_root {
                return start.send(&mine, root);
            }
            if mine.ptr != IN_PLACE {
                start.copy(&mine, &blocks.of(root));
            }
            start.group.others().for_each(|rank| start.receive(&blocks.of(rank), rank));
        }
    })
}

/// Scatter and Scatterv, the other way round.
pub(crate) unsafe fn scatter<F: Fn(c_int) -> Span>(
    shim: &Shim,
    blocks: Blocks<F>,
    mine: Span,
    root: c_int,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.rooted_peers(how.comm(), root) else { return pass() };
    let at_root = peers.rank == root;
    let any_long = || at_root && peers.ranks().any(|rank| rank != root && shim.is_long(&blocks.of(rank)));
    let here = if blocks.equal {
        Ok(shim.is_long(&one_of(&mine, &blocks, at_root)))
    } else {
        peers.collectives.varied_here(how, any_long)
    };
    let refused = || {
        let judges: (Judge, Judge) = (Shim::refuses_received, Shim::refuses);
        let refused = shim.refuses_rooted(&peers, (&mine, judges.0), (&blocks, judges.1), root);
        peers.collectives.counted(how, blocks.equal, refused)
    };
    shim.exchange(&peers, how, here, refused, pass, |start| {
        // SAFETY: the program's own blocks.
        unsafe {
            if !at_root {
                return start.receive(&mine, root);
            }
            start.group.others().for_each(|rank| start.send(&blocks.of(rank), rank));
            if mine.ptr != IN_PLACE {
                start.copy(&blocks.of(root), &mine);
            }
        }
    })
}

/// A block that tells the length of all: this rank's. Only a root has it in place.
fn one_of<F: Fn(c_int) -> Span>(mine: &Span, blocks: &Blocks<F>, at_root: bool) -> Span {
    if at_root && mine.ptr == IN_PLACE { blocks.of(0) } else { *mine }
}

/// Says whether the MPI refuses a block.
type Judge = fn(&Shim, &Span) -> bool;

impl Shim {
    /// Whether the MPI refuses this rank's arguments of a gather or scatter. `own` and `all` judge this rank's block and the root's.
    fn refuses_rooted<F: Fn(c_int) -> Span>(
        &self,
        peers: &Peers,
        (mine, own): (&Span, Judge),
        (blocks, all): (&Blocks<F>, Judge),
        root: c_int,
    ) -> bool {
        let at_root = peers.rank == root;
        if mine.ptr == IN_PLACE {
            // Only a root may have it in place.
            return !at_root || self.refuses_any(blocks, peers.size(), all);
        }
        own(self, mine)
            || at_root
                && (self.refuses_any(blocks, peers.size(), all)
                    || self.refuses_alias(blocks.buf, &blocks.of(root), mine, blocks.equal))
    }
}

/// A collective that is being started.
pub(super) struct Start<'a> {
    shim: &'a Shim,
    pub(super) group: &'a Group<'a>,
    messages: UnderWay,
    /// As many may be under way at a time in each direction, where the call may wait.
    at_most: Option<usize>,
}

impl<'a> Start<'a> {
    fn new(shim: &'a Shim, group: &'a Group<'a>, how: How) -> Self {
        let at_most = matches!(how, How::Blocking(_)).then_some(UNDER_WAY);
        Self { shim, group, messages: UnderWay::new(), at_most }
    }

    /// # Safety
    /// `span` must be what the program gave to send from.
    pub(super) unsafe fn send(&mut self, span: &Span, dest: c_int) {
        // SAFETY: the caller vouches for the span.
        unsafe { self.start_send(span, dest, false) };
        self.pause(UnderWay::sends_left);
    }

    /// The same for memory that may change before it is sent. Nothing is waited for.
    ///
    /// # Safety
    /// As for `send`.
    unsafe fn send_copy(&mut self, span: &Span, dest: c_int) {
        // SAFETY: the caller vouches for the span.
        unsafe { self.start_send(span, dest, true) };
    }

    unsafe fn start_send(&mut self, span: &Span, dest: c_int, detached: bool) {
        if is_empty(span) {
            return;
        }
        let message = self.group.message(span, dest);
        // SAFETY: the caller vouches for the span.
        let start = |detached| unsafe {
            send::start_by(self.shim, Mode::Standard, &message, detached, self.group.program)
        };
        match start(detached).or_else(|error| if detached { start(false) } else { Err(error) }) {
            Ok(active) => self.messages.sends(active),
            Err(error) => failed(&mut self.messages, self.group.program, error.code()),
        }
    }

    /// The same to all others, encoded once.
    ///
    /// # Safety
    /// As for `send`.
    pub(super) unsafe fn send_to_others(&mut self, span: &Span) {
        // SAFETY: the caller vouches for the span.
        unsafe { self.send_to_each(span, self.group.others()) };
    }

    /// The same to each of these, encoded once. Nothing is waited for.
    ///
    /// # Safety
    /// As for `send`.
    pub(super) unsafe fn send_to_each(&mut self, span: &Span, dests: impl Iterator<Item = c_int>) {
        if is_empty(span) {
            return;
        }
        let (group, messages) = (self.group, &mut self.messages);
        let message = group.message(span, group.rank());
        let dests = dests.map(|rank| group.peers.world_rank(rank));
        // SAFETY: the caller vouches for the span.
        unsafe {
            send::start_to_each(self.shim, &message, group.program, dests, |started| match started {
                Ok(active) => messages.sends(active),
                Err(error) => failed(messages, group.program, error.code()),
            });
        }
    }

    /// # Safety
    /// `span` must be what the program gave to receive into.
    pub(super) unsafe fn receive(&mut self, span: &Span, source: c_int) {
        if !is_empty(span) {
            let message = self.group.message(span, source);
            // SAFETY: the caller vouches for the span.
            match unsafe { recv::start_any(self.shim, &message, self.at_most.is_some()) } {
                Ok(active) => self.messages.receives(active),
                Err(error) => failed(&mut self.messages, self.group.program, error.code()),
            }
        }
        self.pause(UnderWay::receives_left);
    }

    /// Receives and sends in turn. All ranks must do so in an order in which each message is sent as early as it is received: then none
    /// waits for ever where messages that are under way have to end before others are started.
    ///
    /// # Safety
    /// As for `receive` and `send`.
    pub(super) unsafe fn in_turn(
        &mut self,
        receives: impl Iterator<Item = (Span, usize)>,
        sends: impl Iterator<Item = (Span, usize)>,
    ) {
        let (mut receives, mut sends) = (receives.fuse(), sends.fuse());
        loop {
            let (receive, send) = (receives.next(), sends.next());
            // SAFETY: the caller vouches for the spans.
            unsafe {
                receive.inspect(|(span, source)| self.receive(span, *source as c_int));
                send.inspect(|(span, dest)| self.send(span, *dest as c_int));
            }
            if receive.is_none() && send.is_none() {
                return;
            }
        }
    }

    /// Waits for all that is under way.
    pub(super) fn wait(&mut self) {
        progress::wait_for_all_messages(self.shim, &mut self.messages);
    }

    /// What has become of it so far. After an error the rest is done all the same, for the others.
    pub(super) fn outcome(&self) -> Result<(), c_int> {
        self.messages.outcome()
    }

    pub(super) fn note(&mut self, outcome: Result<(), c_int>) {
        self.messages.note(outcome);
    }

    /// What a rank sends to itself.
    ///
    /// # Safety
    /// The spans must be what the program gave.
    pub(super) unsafe fn copy(&mut self, from: &Span, to: &Span) {
        if is_empty(from) && is_empty(to) {
            return;
        }
        // SAFETY: the caller vouches for the spans.
        self.messages.note(unsafe { self.shim.copy_block(from, to) });
    }

    /// Waits until no more messages than allowed are left in one direction. In the other there may be more: all of these may be for ranks
    /// that have yet to ask for them.
    fn pause(&mut self, left: impl Fn(&UnderWay) -> usize) {
        if let Some(at_most) = self.at_most {
            progress::wait_for_messages(self.shim, &mut self.messages, |messages| left(messages) <= at_most);
        }
    }
}

/// A message could not be started. For want of memory: then its other end would wait for ever, or a later collective would get it.
fn failed(messages: &mut UnderWay, program: MPI_Comm, code: c_int) {
    if code == ERR_NO_MEM {
        give_up("no memory for a message of a collective that other ranks wait for", program, code);
    }
    messages.note(Err(code));
}

/// Whether there is nothing to be sent. What has no datatype either was accepted by the MPI as nothing.
fn is_empty(span: &Span) -> bool {
    span.bytes().unwrap_or(0) == 0
}

impl Shim {
    /// What a rank sends to itself.
    ///
    /// # Safety
    /// The spans must be what the program gave.
    pub(super) unsafe fn copy_block(&self, from: &Span, to: &Span) -> Result<(), c_int> {
        let bytes = from.bytes();
        let contiguous = |span: &Span| matches!(self.layout(span), Layout::Contiguous(_));
        if bytes.is_some() && bytes == to.bytes() && contiguous(from) && contiguous(to) {
            // SAFETY: contiguous elements of so many bytes. Buffers must not overlap, but programs get away with it.
            unsafe { ptr::copy(from.ptr.cast::<u8>(), to.ptr.cast::<u8>(), bytes.unwrap_or(0)) };
            return Ok(());
        }
        // SAFETY: the caller vouches for the spans.
        unsafe { self.copy(from, to) }
    }

    /// Makes a collective of messages between two ranks each, if it is to be done `here`, which is an error where the vote on that failed.
    /// `refused`: the MPI refuses this rank's arguments, and is to say so. Of that the others know nothing, so it is asked after all ranks
    /// have agreed on what they need.
    pub(super) fn exchange(
        &self,
        peers: &Peers,
        how: How,
        here: Result<bool, c_int>,
        refused: impl Fn() -> bool,
        pass: impl Fn() -> c_int,
        start: impl FnOnce(&mut Start<'_>),
    ) -> c_int {
        let comm = how.comm();
        let tag =
            here.and_then(|here| if here { peers.collectives.tag(&self.private, how) } else { Ok(None) });
        let tag = match tag {
            Ok(Some(_)) if refused() => return pass(),
            Ok(Some(tag)) => tag,
            Ok(None) => {
                let code = pass();
                if code != SUCCESS {
                    refused(); // for the count of calls
                }
                return code;
            }
            Err(code) => return code,
        };
        let group = Group::of(self, peers, tag, comm);
        self.collectively(&group, |group| {
            let mut started = Start::new(self, group, how);
            start(&mut started);
            let mut messages = started.messages;
            match how {
                How::Blocking(_) => {
                    progress::wait_for_all_messages(self, &mut messages);
                    messages.outcome()
                }
                How::Nonblocking(comm, request) => {
                    let active = messages.into_request(comm)?;
                    // SAFETY: the place the program gave.
                    unsafe { *request = self.requests.hand_out(active) };
                    Ok(())
                }
            }
        })
    }
}
