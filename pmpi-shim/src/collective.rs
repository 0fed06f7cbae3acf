//! Collectives that move data: who does them, and over what communicator.
//!
//! All ranks of a communicator must go about a collective in the same way. So whether it is done here or by the MPI depends on
//! nothing but what all of them know: the settings, who is where, and lengths that are the same everywhere. Whether a message in
//! it is compressed is decided where it is sent, as ever; receivers know frames when they see them, or are told lengths.
//!
//! - [`exchange`]: all-to-all, scatter and gather as messages between two ranks each, which need no word more than without us;
//! - [`spread`]: broadcast and all-gather of long blocks, handed on in chunks ([`relay`]), and left to the MPI for a while where nothing got
//!   shorter;
//! - [`shared`]: those of short blocks by the MPI's own algorithms, in which messages pass through many hands. They need the
//!   length of frames beforehand, and are left to the MPI in the same way;
//! - [`direct`]: their nonblocking forms, as messages between two ranks each, where these leave a node no more often;
//! - [`reduce`]: reductions whose result does not depend on the order, as messages between two ranks each.

mod blocks;
mod direct;
mod exchange;
pub(crate) mod handlers;
mod reduce;
mod refused;
mod relay;
mod shared;
mod spread;

use crate::error::raise;
use crate::peers::Peers;
use crate::span::{Envelope, Span};
use crate::state::Shim;
use crate::sys::*;
use crate::waiting;
use std::ffi::c_int;

/// A collective of ours under way. Its messages go over the communicator of ours, between ranks of the world.
struct Group<'a> {
    peers: &'a Peers,
    comm: MPI_Comm,
    tag: c_int,
    /// The program's communicator, by whose strategy messages are compressed.
    program: MPI_Comm,
}

impl<'a> Group<'a> {
    fn of(shim: &Shim, peers: &'a Peers, tag: c_int, program: MPI_Comm) -> Self {
        Self { peers, comm: shim.private.comm, tag, program }
    }

    fn rank(&self) -> c_int {
        self.peers.rank
    }

    fn size(&self) -> c_int {
        self.peers.size()
    }

    fn others(&self) -> impl Iterator<Item = c_int> {
        self.peers.ranks().filter(|rank| *rank != self.peers.rank)
    }

    /// A message to or from a rank of the program's communicator.
    fn message(&self, span: &Span, rank: c_int) -> Envelope {
        Envelope::new(*span, self.peers.world_rank(rank), self.tag, self.comm)
    }
}

impl Shim {
    /// Whether blocks that are as long on all ranks may be compressed.
    pub(crate) fn is_long(&self, block: &Span) -> bool {
        block.bytes().is_some_and(|bytes| bytes >= self.threshold)
    }

    /// Makes a collective of ours. An error goes to the program's communicator.
    fn collectively(
        &self,
        group: &Group<'_>,
        collective: impl FnOnce(&Group<'_>) -> Result<(), c_int>,
    ) -> c_int {
        let outcome = waiting::during(&self.engine, || collective(group));
        outcome.map_or_else(|code| raise(group.program, code), |()| SUCCESS)
    }
}
