//! Collectives that move data: where they are done, and on which communicator.
//!
//! All ranks of a communicator must do a collective in the same way. So the choice between the layer and the MPI depends only on what all
//! ranks know: the settings, the locations of the ranks, and lengths that are the same everywhere. Whether a message of a collective is
//! compressed is decided by its sender, as usual; receivers recognise frames, or are told lengths.
//!
//! - [`exchange`]: all-to-all, scatter and gather as point-to-point messages, which need no additional message;
//! - [`spread`]: broadcast and all-gather of long blocks, relayed in chunks ([`relay`]), or left to the MPI where that is faster;
//! - [`shared`]: broadcast and all-gather of short blocks by the MPI's own algorithms, which relay messages through many ranks. They need
//!   the lengths of frames beforehand, and are left to the MPI in the same way;
//! - [`direct`]: their nonblocking forms, as point-to-point messages, where these do not leave a node more often;
//! - [`reduce`]: reductions whose result does not depend on the order, as point-to-point messages.

mod blocks;
mod direct;
mod exchange;
pub(crate) mod handlers;
mod reduce;
mod refused;
mod relay;
mod shared;
mod spread;

use crate::messages::agreed::{Race, Way};
use crate::messages::error::raise;
use crate::messages::peers::Peers;
use crate::messages::waiting;
use crate::mpi::span::{Envelope, Span};
use crate::mpi::sys::*;
use crate::operations::state::Shim;
use mpress::Strategy;
use std::ffi::c_int;
use std::time::Instant;

/// A collective of the layer in progress. Its messages use the layer's own communicator, between ranks of the world.
#[derive(Clone, Copy)]
struct Group<'a> {
    peers: &'a Peers,
    comm: MPI_Comm,
    tag: c_int,
    /// The program's communicator.
    program: MPI_Comm,
    /// How messages are compressed, if not as usual.
    strategy: Option<Strategy>,
}

impl<'a> Group<'a> {
    fn of(shim: &Shim, peers: &'a Peers, tag: c_int, program: MPI_Comm) -> Self {
        let strategy = shim.strategies.of(program);
        Self { peers, comm: shim.private.comm, tag, program, strategy }
    }

    /// The same collective made in this way, which is not the MPI's. A strategy that does not weigh whether compression pays stays.
    fn made(self, shim: &Shim, way: Way) -> Self {
        let weighs = matches!(self.strategy.unwrap_or(shim.strategy), Strategy::Adaptive | Strategy::Guided);
        if way == Way::Raw && weighs { Self { strategy: Some(Strategy::Off), ..self } } else { self }
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
    /// Whether blocks that have the same length on all ranks may be compressed.
    pub(crate) fn is_long(&self, block: &Span) -> bool {
        block.bytes().is_some_and(|bytes| bytes >= self.threshold)
    }

    /// Records how long a call in a race took since it began, unless other methods were on trial then or are now: in that case its time says
    /// nothing about later calls. `began`: when, and whether any were.
    fn raced(&self, race: &Race, way: Way, bytes: usize, began: (Instant, bool)) {
        let (start, on_trial) = began;
        if !on_trial && !self.engine.is_on_trial() {
            race.took(way, bytes, start.elapsed());
        }
    }

    /// Makes a collective of the layer. An error is reported to the program's communicator.
    fn collectively(
        &self,
        group: &Group<'_>,
        collective: impl FnOnce(&Group<'_>) -> Result<(), c_int>,
    ) -> c_int {
        let outcome = waiting::during(&self.engine, || collective(group));
        outcome.map_or_else(|code| raise(group.program, code), |()| SUCCESS)
    }
}
