//! Broadcast and all-gather of long blocks, which are relayed in chunks.
//!
//! A block travels along the nodes, and within each node to all its ranks ([`mpress::HandOn`]). Between nodes
//! it is a stream like that of a long message (`docs/format/frame.md`): encoded once, by its owner, and
//! relayed unchanged. Within a node its bytes are sent uncompressed, from the program's buffer to the
//! program's buffer. So a chunk is encoded while earlier ones are sent, relayed and decoded.
//!
//! No lengths are exchanged beforehand: all ranks know those of all blocks, and so the source, destination
//! and order of all chunks. Each chunk is one message; a block that is not compressed has the same chunks. A
//! rank that receives its first chunk from another node recognises a frame by its length, which is not a
//! multiple of 8. Within a node a chunk one byte short tells that the block came damaged. Messages and order:
//! `docs/format/collectives.md`.
//!
//! Between two ranks chunks are ordered by the sum of their number and the number of ranks that they have
//! passed ([`HandOn::step`]). In this order each chunk waits only for earlier ones, so ranks do not wait for
//! each other in a cycle.

mod block;
mod edge;

use super::{Group, Handed};
use crate::messages::error::Error;
use crate::messages::peers::Peers;
use crate::mpi::channel::Channel;
use crate::mpi::fatal::give_up;
use crate::mpi::sys::*;
use crate::operations::state::Shim;
use crate::progress;
use block::{Block, Form};
use edge::{Incoming, Leaving};
use mpress::{HandOn, Hierarchy, Kind, SameNode};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::c_int;

/// A block of the collective in the program's memory.
pub(super) struct Part {
    /// The rank that owns it.
    pub(super) owner: usize,
    /// Its address: source at its owner, destination elsewhere; null if there is no memory for it.
    pub(super) at: *mut u8,
    pub(super) len: usize,
}

/// A message between two ranks.
#[derive(Clone, Copy)]
struct Item {
    block: usize,
    /// The number of its chunk.
    index: usize,
}

/// A message, and its position in the order between two ranks.
type Keyed = ((usize, usize), Item);

/// A collective in progress.
struct Relay<'a> {
    shim: &'a Shim,
    group: &'a Group<'a>,
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
    /// Relays all blocks, each from its owner to all ranks. All ranks must pass the same blocks, in the same
    /// order. `kind`: that of this rank's own block; `id`: a number that differs from those of collectives
    /// shortly before and after this one on the communicator; `what`: its name.
    ///
    /// # Safety
    /// Each block must be at an address with room for it, or null.
    pub(super) unsafe fn hand_on(
        &self,
        group: &Group<'_>,
        parts: &[Part],
        kind: Kind,
        (id, what): (u32, &'static str),
    ) -> Handed {
        let mut relay = Relay::new(self, group, parts, (id, what));
        if let Some(own) =
            relay.blocks.iter_mut().find(|block| block.owner == group.rank().unsigned_abs() as usize)
        {
            own.encode(self, group.strategy, kind, id);
        }
        progress::until(self, || {
            while relay.step() {}
            relay.is_done().then_some(())
        });
        relay.handed()
    }

    /// The nodes and their ranks, as they matter for compression.
    pub(super) fn hierarchy<'a>(&self, peers: &'a Peers) -> Cow<'a, Hierarchy> {
        match self.world.same_node {
            SameNode::Compress => Cow::Owned(Hierarchy::new(&peers.ranks().collect::<Vec<_>>())),
            _ => Cow::Borrowed(peers.spread.hierarchy()),
        }
    }
}

impl<'a> Relay<'a> {
    fn new(shim: &'a Shim, group: &'a Group<'a>, parts: &[Part], (id, what): (u32, &'static str)) -> Self {
        let (hierarchy, rank) = (shim.hierarchy(group.peers), group.rank().unsigned_abs() as usize);
        let mut blocks = Vec::new();
        // By the other rank, the messages from it and to it, in order.
        let (mut from, mut to) = (BTreeMap::new(), BTreeMap::new());
        for part in parts.iter().filter(|part| part.len > 0) {
            let HandOn { from: source, to: dests, step } = hierarchy.hand_on(part.owner, rank);
            let is_inside = |other| hierarchy.node(other) == hierarchy.node(rank);
            let goes_on = dests.iter().any(|&dest| !is_inside(dest));
            let block = Block::new(part, shim.engine.chunk(part.len), goes_on);
            let plan = |list: &mut BTreeMap<usize, Vec<_>>, other, step: usize| {
                let items = (0..block.chunks())
                    .map(|index| ((index + step, step), Item { block: blocks.len(), index }));
                list.entry(other).or_default().extend(items);
            };
            if let Some(source) = source {
                plan(&mut from, source, step - 1);
            }
            dests.into_iter().for_each(|dest| plan(&mut to, dest, step));
            blocks.push(block);
        }
        let mut edge = |(other, mut items): (usize, Vec<Keyed>)| {
            items.sort_by_key(|(key, _)| *key); // the sort is stable: equal keys stay in the order of their blocks
            let inside = hierarchy.node(other) == hierarchy.node(rank);
            let items = items.into_iter().map(|(_, item)| item).collect();
            let peer = group.peers.world_rank(other as c_int);
            (Channel { comm: group.comm, peer, tag: group.tag }, inside, items)
        };
        let incoming = from.into_iter().map(&mut edge).map(Incoming::new).collect();
        let leaving = to.into_iter().map(&mut edge).map(Leaving::new).collect();
        Self { shim, group, id, what, blocks, incoming, leaving, failed: Ok(()) }
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

    /// Ends the job: there is no memory for this number of bytes, which have come or must be sent.
    fn give_up_for(&self, len: usize) -> ! {
        let what = self.what;
        give_up(
            format_args!("no memory for {len} bytes of {what} that other ranks wait for"),
            self.group.program,
            ERR_NO_MEM,
        )
    }

    /// Ends the job: a message could not be started, and its other end would wait for ever.
    fn cannot(&self, code: c_int) -> ! {
        give_up("a part of a collective that other ranks wait for cannot be sent", self.group.program, code)
    }

    fn handed(&self) -> Handed {
        // A rank could not send its block.
        if self.blocks.iter().any(|block| matches!(block.form, Form::Nothing)) {
            return Handed { outcome: Ok(false), shorter: None };
        }
        let damaged = self.blocks.iter().find_map(|block| match block.form {
            Form::Damaged(code) => Some(code),
            _ => None,
        });
        let outcome = self.failed.and(damaged.map_or(Ok(true), Err)).map_err(Error::from);
        Handed { outcome, shorter: None }
    }
}
