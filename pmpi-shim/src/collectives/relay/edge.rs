//! The messages of a broadcast or all-gather from one rank to another: all chunks in order, several of them pending at a time.

use super::{Relay, block::Form, cannot};
use crate::mpi::channel::{Channel, test};
use crate::mpi::{fatal::no_memory, span::received_bytes, sys::*};
use mpress::{Buffer, Relayed};
use std::{collections::VecDeque, ptr, rc::Rc};

/// Greatest number of posted receives.
const AHEAD: usize = 8;

/// Greatest number of pending sends.
const WINDOW: usize = 32;

/// Every send whose number is divisible by this is synchronous, so that a late receiver does not get too many unexpected messages.
const WAITING: usize = 16;

/// Bytes that the head of a stream may have in addition to those of its chunk.
const FRONT: usize = 64;

/// The messages from a rank.
pub(super) struct Incoming {
    from: Channel,
    /// Whether it is on the same node.
    inside: bool,
    due: Vec<Relayed>,
    /// Number of messages received.
    done: usize,
    /// Posted receives, and their memory if it is not the program's.
    posted: VecDeque<(MPI_Request, Option<Buffer>)>,
}

impl Incoming {
    pub(super) fn new((from, inside, due): (Channel, bool, Vec<Relayed>)) -> Self {
        Self { from, inside, due, done: 0, posted: VecDeque::new() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done == self.due.len()
    }

    pub(super) fn step(&mut self, relay: &mut Relay<'_>) -> bool {
        let mut moved = self.post(relay);
        while let Some((request, _)) = self.posted.front_mut() {
            let Some(came) = test(request) else { break };
            let Some((_, memory)) = self.posted.pop_front() else { break };
            let item = self.due[self.done];
            self.done += 1;
            self.take(relay, item, came.map(|status| received_bytes(&status)), memory);
            moved = true;
            // So that the MPI receives the next ones meanwhile.
            self.post(relay);
            if !self.inside {
                break; // others may have messages to send
            }
        }
        moved
    }

    fn take(&self, relay: &mut Relay<'_>, item: Relayed, came: Result<usize, c_int>, memory: Option<Buffer>) {
        let (shim, id) = (relay.shim, relay.id);
        let block = &mut relay.blocks[item.block];
        // No chunk has this length, so the block counts as damaged.
        let len = came.unwrap_or(block.range(item.index).len() + 1);
        if block.at.is_null() && len > 0 {
            no_memory(block.len, relay.what);
        }
        match memory {
            Some(mut memory) if !self.inside => {
                memory.set_len(len);
                block.arrived(shim, item.index, memory, id);
            }
            _ => block.came(item.index, len, shim.damaged),
        }
        if let Err(code) = came
            && !block.is_wrong()
        {
            block.form = Form::Damaged(code);
        }
    }

    /// Posts as many receives as allowed; returns whether there are new ones.
    fn post(&mut self, relay: &mut Relay<'_>) -> bool {
        let before = self.posted.len();
        while self.posted.len() < AHEAD {
            let Some(&item) = self.due.get(self.done + self.posted.len()) else { break };
            let block = &relay.blocks[item.block];
            // Chunks waiting to be relayed use memory.
            if block.wires.len() >= AHEAD {
                break;
            }
            // Without memory for the block, later chunks are received only once its form is known.
            if block.at.is_null() && item.index > 0 && matches!(block.form, Form::Unknown) {
                break;
            }
            let (mut memory, at, len);
            let range = block.range(item.index);
            if self.inside && !block.at.is_null() {
                (memory, at, len) = (None, block.at.wrapping_add(range.start), range.len());
            } else {
                let room = range.len() + FRONT;
                memory = relay.shim.engine.buffer(room);
                let Some(buffer) = &mut memory else {
                    if self.posted.is_empty() {
                        no_memory(room, relay.what); // nothing is pending that would release memory
                    }
                    break;
                };
                (at, len) = (buffer.room().as_mut_ptr(), room);
            }
            // SAFETY: a buffer of `len` bytes, which lives until the request completes.
            let request = unsafe { self.from.receive(at, len) }.unwrap_or_else(|code| cannot(code));
            self.posted.push_back((request, memory));
        }
        self.posted.len() > before
    }
}

/// The messages to a rank.
pub(super) struct Leaving {
    to: Channel,
    /// Whether it is on the same node.
    inside: bool,
    due: Vec<Relayed>,
    /// Number of messages started.
    started: usize,
    /// Pending sends, and their memory if it is not the program's.
    under_way: VecDeque<(MPI_Request, Option<Rc<Buffer>>)>,
}

impl Leaving {
    pub(super) fn new((to, inside, due): (Channel, bool, Vec<Relayed>)) -> Self {
        Self { to, inside, due, started: 0, under_way: VecDeque::new() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.started == self.due.len() && self.under_way.is_empty()
    }

    pub(super) fn step(&mut self, relay: &mut Relay<'_>) -> bool {
        let mut moved = false;
        while let Some((request, _)) = self.under_way.front_mut() {
            let Some(sent) = test(request) else { break };
            relay.failed = relay.failed.and(sent.map(drop));
            self.under_way.pop_front();
            moved = true;
        }
        while self.under_way.len() < WINDOW {
            let Some(&item) = self.due.get(self.started) else { break };
            if !self.start(relay, item) {
                break;
            }
            moved = true;
            if !self.inside {
                break; // encoding may have taken time, for which others have waited
            }
        }
        moved
    }

    /// Starts a message, if possible.
    fn start(&mut self, relay: &mut Relay<'_>, item: Relayed) -> bool {
        let shim = relay.shim;
        let block = &mut relay.blocks[item.block];
        if block.here <= item.index {
            return false;
        }
        let range = block.range(item.index);
        let is_ours = !self.inside && (!block.wires.is_empty() || block.tail.is_some());
        let (mut memory, mut at, mut len) =
            (None, block.at.wrapping_add(range.start).cast_const(), range.len());
        if is_ours {
            let Some(wire) = block.next_wire(shim) else {
                if self.under_way.is_empty() {
                    no_memory(len, relay.what);
                }
                return false;
            };
            (at, len) = (wire.as_ptr(), wire.len());
            memory = Some(wire);
        } else if matches!(block.form, Form::Nothing) {
            (at, len) = (ptr::null(), 0);
        } else if self.inside && block.is_wrong() {
            // One byte short. An empty first chunk would say that there is no block.
            if let Some(code) = block.error().filter(|_| block.len == 1) {
                cannot(code);
            }
            len -= 1;
        }
        // SAFETY: memory that lives until the request completes: the program's, or kept with it.
        let started = unsafe { self.to.send(at, len, item.index.is_multiple_of(WAITING)) };
        let request = started.unwrap_or_else(|code| cannot(code));
        self.under_way.push_back((request, memory));
        self.started += 1;
        true
    }
}
