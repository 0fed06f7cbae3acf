//! Broadcast and all-gather of long blocks, which are relayed in chunks: between nodes as streams, encoded
//! once, and within a node uncompressed, from the program's buffer to the program's buffer. So a chunk is
//! encoded while earlier ones are sent, relayed and decoded. Messages and order: `docs/format/collectives.md`.
//!
//! No lengths are exchanged beforehand: all ranks know those of all blocks, and so the source, destination
//! and order of all chunks ([`Hierarchy::relay`]). Each chunk is one message; a block that is not compressed
//! has the same chunks. A rank that receives its first chunk from another node recognises a frame by its
//! length, which is not a multiple of 8. Within a node a chunk one byte short tells that the block came
//! damaged.

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
use mpress::{Edge, Hierarchy, Kind, SameNode};
use std::borrow::Cow;
use std::ffi::c_int;

/// A block of the collective in the program's memory.
pub(super) struct Part {
    /// The rank that owns it.
    pub(super) owner: usize,
    /// Its address: source at its owner, destination elsewhere; null if there is no memory for it.
    pub(super) at: *mut u8,
    pub(super) len: usize,
}

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
            own.encode(self, group, kind, id);
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
        let block = |part: &Part| {
            Block::new(part, shim.engine.chunk(part.len), hierarchy.leaves_node(part.owner, rank))
        };
        let blocks: Vec<_> = parts.iter().filter(|part| part.len > 0).map(block).collect();
        let [from, to] = hierarchy.relay(rank, blocks.iter().map(|block| (block.owner, block.chunks())));
        let with = |Edge { other, inside, due }: Edge| {
            let peer = group.peers.world_rank(other as c_int);
            (Channel { comm: group.comm, peer, tag: group.tag }, inside, due)
        };
        let incoming = from.into_iter().map(with).map(Incoming::new).collect();
        let leaving = to.into_iter().map(with).map(Leaving::new).collect();
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
        let damaged = self.blocks.iter().find_map(Block::error);
        let outcome = self.failed.and(damaged.map_or(Ok(true), Err)).map_err(Error::from);
        Handed { outcome, shorter: None }
    }
}
