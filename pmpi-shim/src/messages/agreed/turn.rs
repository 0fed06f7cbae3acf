//! One collective: made here in one of several ways, or by the MPI; its result teaches later decisions.

use mpress::Engine;
use mpress::race::{Outcome, Race, Way};
use std::{ffi::c_int, time::Instant};

/// The collectives for which several ways are tried, and the fastest one is kept.
#[derive(Clone, Copy)]
pub(crate) enum Raced {
    Bcast,
    Allgather,
    /// Of equal blocks that are too short for streams.
    Alltoall,
    /// Whose result does not depend on the order of the operations.
    Reduction,
}

impl Raced {
    /// Their number.
    pub(super) const ALL: usize = 4;
}

/// A collective that is made here.
#[derive(Clone, Copy)]
pub(crate) struct Here {
    pub(crate) way: Way,
    /// The tag of its messages, and the number of the collective. Both are the same on all ranks.
    pub(crate) tag: c_int,
    pub(crate) number: u32,
}

/// How one call is made.
pub(crate) struct Turn<'a> {
    pub(super) way: Way,
    /// Set if the layer makes it here, with messages of its own.
    pub(super) here: Option<Here>,
    pub(super) of: Of<'a>,
}

/// What learns from a call.
#[derive(Clone, Copy)]
pub(super) enum Of<'a> {
    Nothing,
    Outcome(&'a Outcome),
    /// The race, and the number of bytes of the call.
    Race(&'a Race, usize),
}

impl Turn<'_> {
    /// By the MPI.
    pub(super) const MPI: Self = Self { way: Way::Mpi, here: None, of: Of::Nothing };

    /// Makes the call and learns from it, on all ranks. `make` gets the way, and what else is known of a call that is made here. It returns, too,
    /// whether anything got shorter, if that is known; it must be the same on all ranks.
    pub(crate) fn make<R>(
        &self,
        engine: &Engine,
        make: impl FnOnce(Way, Option<Here>) -> (R, Option<bool>),
    ) -> R {
        let (began, on_trial) = (Instant::now(), engine.is_on_trial());
        let (result, shorter) = make(self.way, self.here);
        match (self.of, shorter) {
            (Of::Outcome(outcome), Some(shorter)) => outcome.learn(!shorter),
            // While other methods are on trial, the time says nothing about later calls.
            (Of::Race(race, bytes), _) if !on_trial && !engine.is_on_trial() => {
                race.took(self.way, bytes, began.elapsed());
            }
            _ => {}
        }
        result
    }
}
