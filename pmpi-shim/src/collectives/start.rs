//! Starts the point-to-point messages of a collective, and waits for them.

use super::Group;
use crate::handlers::{recv, send, send::By};
use crate::messages::agreed::{self, Here, How};
use crate::messages::{error::raise, peers::Origin, peers::Peers};
use crate::mpi::{fatal::give_up, span::Span, sys::*};
use crate::operations::active::{Active, Started, UnderWay};
use crate::operations::{active::Mode, state::Shim};
use crate::progress;
use mpress::waiting;
use std::{cell::RefCell, ptr, sync::Arc};

/// Greatest number of pending messages of a rank in each direction. More would not be faster, but need memory at both ends.
const UNDER_WAY: usize = 16;

/// A collective whose messages are being started.
pub(super) struct Start<'a> {
    shim: &'a Shim,
    pub(super) group: &'a Group<'a>,
    /// After an error the rest is done all the same, for the other ranks.
    pub(super) messages: UnderWay,
    /// Greatest number of pending messages in each direction, if the call may wait.
    at_most: Option<usize>,
}

impl<'a> Start<'a> {
    fn new(shim: &'a Shim, group: &'a Group<'a>, how: How) -> Self {
        let at_most = matches!(how, How::Blocking(_)).then_some(UNDER_WAY);
        Self { shim, group, messages: UnderWay::new(), at_most }
    }

    pub(super) fn send(&mut self, span: &Span, dest: c_int) {
        self.start_send(span, dest, false);
        self.pause(|messages| messages.sends.len());
    }

    /// Starts to send. `detached`: the memory may change before it is sent.
    pub(super) fn start_send(&mut self, span: &Span, dest: c_int, detached: bool) {
        if is_empty(span) {
            return;
        }
        let message = self.group.message(span, dest);
        let (shim, waits) = (self.shim, self.at_most.is_some());
        let messages = RefCell::new(&mut self.messages);
        // Messages that arrive meanwhile are decoded. Not if the call does not wait: there may be many of them.
        let meanwhile = || {
            if waits {
                messages.borrow_mut().test(shim);
            }
        };
        let by = By { strategy: self.group.strategy, meanwhile: &meanwhile, waits };
        shim.sample_collective(span, Some(message.peer));
        let start = |detached| send::begin(shim, Mode::Standard, &message, detached, by);
        let started = start(detached).or_else(|error| if detached { start(false) } else { Err(error) });
        let UnderWay { sends, outcome, .. } = &mut self.messages;
        sends.extend(kept(outcome, started));
    }

    /// Sends a block to each of these ranks, encoded once. Does not wait.
    pub(super) fn send_to_each(&mut self, span: &Span, dests: impl Iterator<Item = c_int>) {
        if is_empty(span) {
            return;
        }
        let (group, messages) = (self.group, &mut self.messages);
        let message = group.message(span, group.rank());
        let dests = dests.map(|rank| group.peers.world_rank(rank));
        let how = (group.peers.spread.farthest(), group.strategy);
        send::start_to_each(self.shim, &message, how, dests, |started| {
            messages.sends.extend(kept(&mut messages.outcome, started));
        });
    }

    pub(super) fn receive(&mut self, span: &Span, source: c_int) {
        if !is_empty(span) {
            let message = self.group.message(span, source);
            let started = recv::start_any(self.shim, &message, self.at_most.is_some());
            let UnderWay { receives, outcome, .. } = &mut self.messages;
            receives.extend(kept(outcome, started));
        }
        self.pause(|messages| messages.receives.len());
    }

    /// Exchanges empty messages with another rank that makes the same call, if the call may wait. After them, the long messages of the two ranks to
    /// each other start at the same time. If one started first, Open MPI over TCP would send all its data before the answer that the other one waits
    /// for. The two would go one after the other, in this call and in later ones (`benches/record/npb.txt`).
    ///
    /// The other rank does the same before it sends its block. `waits`: waits for it now, not with the other messages.
    pub(super) fn meet(&mut self, other: c_int, waits: bool) {
        if self.at_most.is_none() {
            return;
        }
        let (message, mut both) = (self.group.message(&Span::nothing(), other), UnderWay::new());
        let started = [recv::as_is(self.shim, &message, false), send::as_is(Mode::Standard, &message)];
        let messages = if waits { &mut both } else { &mut self.messages };
        for started in started {
            messages.sends.extend(kept(&mut messages.outcome, started));
        }
        progress::until(self.shim, || {
            self.messages.test(self.shim);
            both.test(self.shim);
            (both.left() == 0).then_some(())
        });
        self.messages.note(both.outcome);
    }

    /// Receives and sends in turn. Each message must have the same place in the order of its sender as in that of its receiver. Then no rank waits
    /// for ever, although pending messages must complete before others are started.
    pub(super) fn in_turn(
        &mut self,
        receives: impl Iterator<Item = (Span, usize)>,
        sends: impl Iterator<Item = (Span, usize)>,
    ) {
        let (mut receives, mut sends) = (receives.fuse(), sends.fuse());
        loop {
            let (receive, send) = (receives.next(), sends.next());
            receive.inspect(|(span, source)| self.receive(span, *source as c_int));
            send.inspect(|(span, dest)| self.send(span, *dest as c_int));
            if receive.is_none() && send.is_none() {
                return;
            }
        }
    }

    pub(super) fn wait(&mut self) {
        progress::wait_for_messages(self.shim, &mut self.messages, |messages| messages.left() == 0);
    }

    /// Copies a rank's block to itself.
    pub(super) fn copy(&mut self, from: &Span, to: &Span) {
        if is_empty(from) && is_empty(to) {
            return;
        }
        self.messages.note(self.shim.copy_block(from, to));
    }

    /// Waits until at most the allowed number of messages is pending in one direction. The other direction may have more: all of these may be for
    /// ranks that have yet to post their receives.
    fn pause(&mut self, left: impl Fn(&UnderWay) -> usize) {
        if let Some(at_most) = self.at_most {
            progress::wait_for_messages(self.shim, &mut self.messages, |messages| left(messages) <= at_most);
        }
    }
}

/// The message, if it was started; otherwise its error goes to `outcome`. Without memory for it the job ends: its other end would wait for ever, or
/// take a message of a later collective for it.
fn kept(outcome: &mut Result<(), c_int>, started: Started) -> Option<Active> {
    let code = match started {
        Ok(active) => return Some(active),
        Err(error) => error.code(),
    };
    if code == ERR_NO_MEM {
        give_up("no memory for a message of a collective that other ranks wait for", code);
    }
    *outcome = outcome.and(Err(code));
    None
}

/// Whether there is nothing to send. If the datatype is invalid, the MPI has accepted the block as empty.
fn is_empty(span: &Span) -> bool {
    span.bytes().unwrap_or(0) == 0
}

impl Shim {
    /// Copies a rank's block to itself.
    pub(super) fn copy_block(&self, from: &Span, to: &Span) -> Result<(), c_int> {
        let bytes = from.bytes();
        let is_same = bytes.is_some() && bytes == to.bytes();
        if is_same && self.layout(from).contiguous && self.layout(to).contiguous {
            // SAFETY: contiguous elements of this number of bytes; the spans' own promises. MPI forbids overlapping buffers, but programs use them,
            // so the copy allows them.
            unsafe { ptr::copy(from.ptr().cast::<u8>(), to.ptr().cast::<u8>(), bytes.unwrap_or(0)) };
            return Ok(());
        }
        self.copy(from, to)
    }

    /// Makes a collective of point-to-point messages here, or by the MPI, as the ranks decide now. The MPI must not refuse this rank's arguments: the
    /// decision counts for the ranks' next calls.
    pub(super) fn exchange(
        &self,
        peers: &Arc<Peers>,
        how: How,
        by: &agreed::By<'_>,
        pass: impl Fn() -> c_int,
        start: impl FnOnce(&mut Start<'_>),
    ) -> c_int {
        match peers.collectives.decide(&self.private, how, by) {
            Ok(turn) => turn.make(&self.engine, |_, here| match here {
                Some(here) => (self.exchange_here(peers, how, here, start), None),
                None => (pass(), None),
            }),
            Err(code) => code,
        }
    }

    /// Makes a collective of point-to-point messages here. An error is reported to the program's communicator.
    fn exchange_here(
        &self,
        peers: &Arc<Peers>,
        how: How,
        here: Here,
        start: impl FnOnce(&mut Start<'_>),
    ) -> c_int {
        let group = Group::of(self, peers, here);
        let outcome = waiting::during(&self.engine, || {
            let mut started = Start::new(self, &group, how);
            start(&mut started);
            match how {
                How::Blocking(_) => {
                    started.wait();
                    started.messages.outcome
                }
                How::Nonblocking(comm, place) => {
                    let active =
                        started.messages.into_request(Origin { comm, peers: Some(Arc::clone(peers)) })?;
                    place.set(self.requests.hand_out(active));
                    Ok(())
                }
            }
        });
        outcome.map_or_else(|code| raise(how.comm(), code), |()| SUCCESS)
    }
}
