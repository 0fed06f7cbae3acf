//! How each broadcast and all-gather of a communicator is made: here, in chunks or as frames, or by the MPI.

use super::turns::{Outcome, Race, Way};
use crate::mpi::sys::*;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The collectives in which blocks go to all ranks.
#[derive(Clone, Copy)]
pub(crate) enum Spread {
    Bcast,
    Allgather,
}

/// State for one of them.
#[derive(Default)]
pub(super) struct Turns {
    /// For blocks that the MPI relays as frames.
    frames: Outcome,
    /// For blocks in chunks with a fixed codec.
    chunks: Outcome,
    /// For those with the adaptive strategy, which must make nothing slower.
    race: Race,
}

/// How one call is made.
pub(crate) struct Turn<'a> {
    pub(crate) way: Way,
    /// The tag and the number of a collective in chunks, if it is made here. Both are the same on all ranks.
    pub(crate) chunks: Option<(c_int, u32)>,
    /// What learns from it.
    of: Of<'a>,
}

#[derive(Clone, Copy)]
enum Of<'a> {
    Outcome(&'a Outcome),
    Race(&'a Race),
}

impl Turns {
    /// How a call is made whose blocks do not go in chunks.
    pub(super) fn short(&self) -> Turn<'_> {
        Turn { way: self.frames.way(), chunks: None, of: Of::Outcome(&self.frames) }
    }

    /// How a call with this tag is made in chunks; `count` counts those.
    ///
    /// # Errors
    /// Those of the MPI, which has called the communicator's error handler.
    pub(super) fn in_chunks(
        &self,
        (tag, count): (c_int, &AtomicU32),
        comm: MPI_Comm,
        races: bool,
    ) -> Result<Turn<'_>, c_int> {
        let (way, of) = match races {
            true => (self.race.way(comm)?, Of::Race(&self.race)),
            false => (self.chunks.way(), Of::Outcome(&self.chunks)),
        };
        let chunks = (way != Way::Mpi).then(|| (tag, count.fetch_add(1, Ordering::Relaxed)));
        Ok(Turn { way, chunks, of })
    }
}

impl Turn<'_> {
    /// Whether the time that the call takes matters.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(self.of, Of::Race(_))
    }

    /// Learns from the call, on all ranks. `shorter`: whether anything got shorter, if that is known; it must
    /// be the same on all ranks. `time`: the call's bytes, and the time that it took, if nothing disturbed
    /// it.
    pub(crate) fn learn(&self, shorter: Option<bool>, time: Option<(usize, Duration)>) {
        match (self.of, shorter, time) {
            (Of::Outcome(outcome), Some(shorter), _) => outcome.learn(!shorter),
            (Of::Race(race), _, Some((bytes, time))) => race.took(self.way, bytes, time),
            _ => {}
        }
    }
}
