//! The collectives that move data (`MPI_Bcast`, `MPI_Alltoall` and so on), and reductions: whether the layer or the MPI makes them, and on which
//! communicator. `README.md`, "collectives", describes the ways and the steps of a call, and why.

mod blocks;
mod exchange;
pub(crate) mod handlers;
mod reduce;
mod relay;
mod shared;
mod spread;
mod start;

use crate::messages::agreed::{By, Here, Raced, Way};
use crate::messages::{error::Error, peers::Peers};
use crate::mpi::{span::Envelope, span::Span, sys::*};
use crate::operations::state::Shim;
use mpress::Strategy;

/// A collective of the layer in progress. Its messages use the layer's own communicator, between ranks of the world.
#[derive(Clone, Copy)]
struct Group<'a> {
    peers: &'a Peers,
    comm: MPI_Comm,
    tag: c_int,
    /// How messages are compressed, if not as usual.
    strategy: Option<Strategy>,
}

impl<'a> Group<'a> {
    /// A collective that is made here. If it goes in raw chunks, nothing is compressed, unless the strategy does not weigh whether compression pays.
    fn of(shim: &Shim, peers: &'a Peers, here: Here) -> Self {
        let mut strategy = peers.strategy();
        let weighs = matches!(strategy.unwrap_or(shim.strategy), Strategy::Adaptive | Strategy::Guided);
        if here.way == Way::Raw && weighs {
            strategy = Some(Strategy::Off);
        }
        Self { peers, comm: shim.private.comm, tag: here.tag, strategy }
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

/// The result of a broadcast or all-gather.
struct Handed {
    /// Whether it has been made; otherwise the MPI must make it, on all ranks.
    outcome: Result<bool, Error>,
    /// Whether something got shorter. The result is the same on all ranks, even on those with an error of their own. `None`: this call says nothing
    /// about later ones.
    shorter: Option<bool>,
}

impl Shim {
    /// How to decide about a blocking collective of this number of bytes in which all ranks wait for each other. With a fixed codec it need not show
    /// that it is faster here than by the MPI.
    fn race(&self, raced: Raced, bytes: usize) -> By<'static> {
        if matches!(self.strategy, Strategy::Fixed(_)) { By::Tag } else { By::Race(raced, bytes) }
    }

    /// Whether blocks that have the same length on all ranks may be compressed.
    pub(crate) fn is_long(&self, block: &Span) -> bool {
        block.bytes().is_some_and(|bytes| bytes >= self.threshold)
    }
}
