//! How each broadcast and all-gather of a communicator is made: here, in chunks or as frames, or by the MPI.

use super::turns::{Outcome, Race, Way};
use crate::mpi::sys::*;
use mpress::Engine;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

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
    /// For blocks in chunks, unless the codec is fixed.
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
    /// Nothing: the codec is fixed, even if that takes longer.
    Fixed,
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
            false => (Way::Compressed, Of::Fixed),
        };
        let chunks = (way != Way::Mpi).then(|| (tag, count.fetch_add(1, Ordering::Relaxed)));
        Ok(Turn { way, chunks, of })
    }
}

impl Turn<'_> {
    /// Makes the call, of this number of bytes, and learns from it, on all ranks. `make` returns, too, whether
    /// anything got shorter, if that is known; it must be the same on all ranks.
    pub(crate) fn make<R>(
        &self,
        engine: &Engine,
        bytes: usize,
        make: impl FnOnce() -> (R, Option<bool>),
    ) -> R {
        let (began, on_trial) = (Instant::now(), engine.is_on_trial());
        let (result, shorter) = make();
        match (self.of, shorter) {
            (Of::Outcome(outcome), Some(shorter)) => outcome.learn(!shorter),
            // Other methods on trial, now or then, say nothing about the time of later calls.
            (Of::Race(race), _) if !on_trial && !engine.is_on_trial() => {
                race.took(self.way, bytes, began.elapsed());
            }
            _ => {}
        }
        result
    }
}
