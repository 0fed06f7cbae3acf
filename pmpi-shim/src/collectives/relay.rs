//! Broadcast and all-gather of long blocks, which are relayed in chunks: between nodes as streams, encoded once, and within a node uncompressed, from
//! the program's buffer to the program's buffer. So a chunk is encoded while earlier ones are sent, relayed and decoded. Messages and order:
//! `docs/format/collectives.md`.

mod block;

use super::{Group, Handed};
use crate::messages::{error::Error, peers::Peers};
use crate::mpi::{
    channel::Channel, channel::test, device, fatal::give_up, fatal::no_memory, span::Span,
    span::received_bytes, sys::*,
};
use crate::operations::state::Shim;
use crate::progress;
use block::{Block, Form};
use mpress::{Buffer, Edge, Hierarchy, Kind, Relayed, SameNode};
use std::{borrow::Cow, collections::VecDeque, ptr, rc::Rc};

/// Hands the blocks of these owners, with their lengths in bytes, to all ranks; the MPI must not refuse any block. All ranks must give the same
/// owners and lengths, in the same order. `source`: what this rank gives if it is an owner; `block`: the place of an owner's block in the program's
/// buffer; `id`: a number that differs from those of collectives shortly before and after this one on the communicator; `what`: its name.
pub(super) fn hand_on(
    shim: &Shim,
    group: &Group<'_>,
    (id, what): (u32, &'static str),
    source: Span,
    owners: &[(c_int, usize)],
    block: impl Fn(c_int) -> Span,
) -> Handed {
    let place = |&(owner, len): &(c_int, usize)| match owner == group.rank() {
        true => Place::to_give(shim, source, (owner, len)),
        false => Place::new(shim, block(owner), (owner, len)),
    };
    let places: Vec<_> = owners.iter().map(place).collect();
    let is_own = |place: &&Place| place.owner == group.rank();
    let mut relay = Relay::new(shim, group, &places, (id, what));
    if let Some(Place { owner, kind, .. }) = places.iter().find(is_own)
        && let Some(own) = relay.blocks.iter_mut().find(|block| block.owner == owner.unsigned_abs() as usize)
    {
        own.encode(shim, group, *kind, id);
    }
    progress::until(shim, || {
        while relay.step() {}
        relay.is_done().then_some(())
    });
    let mut others = places.iter().filter(|place| !is_own(place));
    relay.handed().landing(|| others.try_for_each(|place| place.land(shim)))
}

impl Handed {
    /// The result after `land` has copied the blocks to the program's memory, which is skipped if the MPI must make the collective.
    pub(super) fn landing(self, land: impl FnOnce() -> Result<(), c_int>) -> Self {
        let outcome = match self.outcome {
            Ok(true) => land().map(|()| true).map_err(Error::from),
            other => other,
        };
        Self { outcome, ..self }
    }
}

/// The bytes of a block: in the program's memory if contiguous, otherwise in a copy.
struct Place {
    owner: c_int,
    len: usize,
    span: Span,
    kind: Kind,
    /// Source at its owner, destination elsewhere; null if there is no memory for it.
    at: *mut u8,
    ours: Option<Buffer>,
}

impl Place {
    /// For a block of this rank. Its address is null if it must be left to the MPI: there is no memory for a copy, it is in device memory, or its
    /// length is not the one that the others expect.
    fn to_give(shim: &Shim, span: Span, (owner, len): (c_int, usize)) -> Self {
        shim.sample_collective(&span, None);
        let mut place = Self::new(shim, span, (owner, len));
        if span.bytes() != Some(len) || device::is_device(span.ptr()) {
            place.at = ptr::null_mut();
        } else if let Some(ours) = &mut place.ours
            && len > 0
            && shim.gather(&span, ours).is_err()
        {
            place.at = ptr::null_mut();
        }
        place
    }

    /// For a block of another rank. Its address is null if there is no memory for `len` bytes.
    fn new(shim: &Shim, span: Span, (owner, len): (c_int, usize)) -> Self {
        let layout = shim.layout(&span);
        let mut place = Self { owner, len, span, kind: layout.kind, at: ptr::null_mut(), ours: None };
        if !layout.contiguous {
            place.ours = shim.engine.buffer(len);
            if let Some(ours) = &mut place.ours {
                ours.set_len(len);
                place.at = ours.as_mut_ptr();
            }
        } else if span.bytes() == Some(len) {
            place.at = span.ptr().cast();
        }
        place
    }

    /// Copies the received block to the program's buffer.
    fn land(&self, shim: &Shim) -> Result<(), c_int> {
        match &self.ours {
            Some(ours) if !ours.is_empty() => shim.scatter(ours, &self.span),
            _ => Ok(()),
        }
    }
}

/// A collective in progress.
struct Relay<'a> {
    shim: &'a Shim,
    /// The number of the streams, the same on all ranks.
    id: u32,
    /// The name of the collective.
    what: &'static str,
    blocks: Vec<Block>,
    incoming: Vec<Incoming>,
    leaving: Vec<Leaving>,
    /// Errors of the MPI.
    failed: Result<(), c_int>,
}

impl Shim {
    /// The nodes and their ranks, as they matter for compression.
    pub(super) fn hierarchy<'a>(&self, peers: &'a Peers) -> Cow<'a, Hierarchy> {
        match self.world.same_node {
            SameNode::Compress => Cow::Owned(Hierarchy::new(&peers.ranks().collect::<Vec<_>>())),
            _ => Cow::Borrowed(peers.spread.hierarchy()),
        }
    }
}

/// Ends the job: a message could not be started, and its other end would wait for ever.
fn cannot(code: c_int) -> ! {
    give_up("a part of a collective that other ranks wait for cannot be sent", code)
}

impl<'a> Relay<'a> {
    fn new(shim: &'a Shim, group: &Group<'_>, places: &[Place], (id, what): (u32, &'static str)) -> Self {
        let (hierarchy, rank) = (shim.hierarchy(group.peers), group.rank().unsigned_abs() as usize);
        let block = |&Place { owner, len, at, .. }: &Place| {
            let owner = owner.unsigned_abs() as usize;
            // SAFETY: the place's own memory, or the program's, which it lends for the call; places are dropped after the relay.
            unsafe {
                Block::new((owner, at, len), shim.engine.chunk(len), hierarchy.leaves_node(owner, rank))
            }
        };
        let blocks: Vec<_> = places.iter().filter(|place| place.len > 0).map(block).collect();
        let [from, to] = hierarchy.relay(rank, blocks.iter().map(|block| (block.owner, block.chunks())));
        let with = |Edge { other, inside, due }: Edge| {
            let peer = group.peers.world_rank(other as c_int);
            (Channel { comm: group.comm, peer, tag: group.tag }, inside, due)
        };
        let incoming = from.into_iter().map(with).map(Incoming::new).collect();
        let leaving = to.into_iter().map(with).map(Leaving::new).collect();
        Self { shim, id, what, blocks, incoming, leaving, failed: Ok(()) }
    }

    fn is_done(&self) -> bool {
        self.incoming.iter().all(Incoming::is_done) && self.leaving.iter().all(Leaving::is_done)
    }

    /// Advances all messages that can be advanced; returns whether there were any.
    fn step(&mut self) -> bool {
        let (mut incoming, mut leaving) =
            (std::mem::take(&mut self.incoming), std::mem::take(&mut self.leaving));
        let mut moved = false;
        for edge in &mut incoming {
            moved |= edge.step(self);
        }
        for edge in &mut leaving {
            moved |= edge.step(self);
        }
        (self.incoming, self.leaving) = (incoming, leaving);
        moved
    }

    fn handed(&self) -> Handed {
        // A rank could not send its block.
        if self.blocks.iter().any(|block| matches!(block.form, Form::Nothing)) {
            return Handed { outcome: Ok(false), shorter: None };
        }
        let damaged = self.blocks.iter().find_map(Block::error);
        let outcome = self.failed.and(damaged.map_or(Ok(true), Err)).map_err(Error::from);
        Handed { outcome, shorter: None }
    }
}

/// Greatest number of posted receives.
const AHEAD: usize = 8;

/// Greatest number of pending sends.
const WINDOW: usize = 32;

/// Every send whose number is divisible by this is synchronous, so that a late receiver does not get too many unexpected messages.
const WAITING: usize = 16;

/// Bytes that the head of a stream may have in addition to those of its chunk.
const FRONT: usize = 64;

/// The messages from a rank.
struct Incoming {
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
    fn new((from, inside, due): (Channel, bool, Vec<Relayed>)) -> Self {
        Self { from, inside, due, done: 0, posted: VecDeque::new() }
    }

    fn is_done(&self) -> bool {
        self.done == self.due.len()
    }

    fn step(&mut self, relay: &mut Relay<'_>) -> bool {
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
struct Leaving {
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
    fn new((to, inside, due): (Channel, bool, Vec<Relayed>)) -> Self {
        Self { to, inside, due, started: 0, under_way: VecDeque::new() }
    }

    fn is_done(&self) -> bool {
        self.started == self.due.len() && self.under_way.is_empty()
    }

    fn step(&mut self, relay: &mut Relay<'_>) -> bool {
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
