//! Broadcast and all-gather of long blocks, which are relayed in chunks: between nodes as streams, encoded once, and within a node uncompressed, from
//! the program's buffer to the program's buffer. So a chunk is encoded while earlier ones are sent, relayed and decoded. Messages and order:
//! `docs/format/collectives.md`.
//!
//! No lengths are exchanged beforehand: all ranks know those of all blocks, and so the source, destination and order of all chunks
//! ([`Hierarchy::relay`]). Each chunk is one message; a block that is not compressed has the same chunks. A rank that receives its first chunk from
//! another node recognises a frame by its length, which is not a multiple of 8. Within a node a chunk one byte short tells that the block came
//! damaged.

mod block;
mod edge;

use super::{Group, Handed};
use crate::messages::{error::Error, peers::Peers};
use crate::mpi::{channel::Channel, device, fatal::give_up, span::Span};
use crate::operations::state::Shim;
use crate::progress;
use block::{Block, Form};
use edge::{Incoming, Leaving};
use mpress::{Buffer, Edge, Hierarchy, Kind, SameNode};
use std::{borrow::Cow, ffi::c_int, ptr};

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
            Block::new((owner, at, len), shim.engine.chunk(len), hierarchy.leaves_node(owner, rank))
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
