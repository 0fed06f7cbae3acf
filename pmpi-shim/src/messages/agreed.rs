//! What the ranks of a communicator agree on so that all of them make a collective in the same way, here or by the MPI; and the tag of its messages.
//! All ranks count the same calls, so their decisions are equal (`README.md`, "collectives").

mod private;

pub(crate) use mpress::race::Way;
pub(crate) use private::Private;

use crate::mpi::{arguments::Out, sys::*};
use mpress::{Engine, race::Outcome, race::Race};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::{sync::OnceLock, time::Instant};

/// State of a communicator for the layer's collectives.
#[derive(Default)]
pub(crate) struct Collectives {
    /// The tag of their messages, once the ranks have agreed on it. `None`: no tag is available, so these collectives are left to the MPI.
    tag: OnceLock<Option<c_int>>,
    /// Whether a collective that needs no tag has been made.
    begun: AtomicBool,
    /// Indexed by [`Raced`].
    races: [Race; Raced::ALL],
    /// For broadcasts and all-gathers that the MPI relays as frames, indexed by [`Raced`].
    frames: [Outcome; 2],
    /// The vote in all-to-alls with blocks of several lengths.
    varied: Outcome,
    /// Number of collectives made here so far.
    made: AtomicU32,
}

/// How the program called a collective, and on which communicator.
#[derive(Clone, Copy)]
pub(crate) enum How {
    Blocking(MPI_Comm),
    /// The program gets its request at this place.
    Nonblocking(MPI_Comm, Out<MPI_Request>),
}

impl How {
    pub(crate) fn comm(self) -> MPI_Comm {
        match self {
            Self::Blocking(comm) | Self::Nonblocking(comm, _) => comm,
        }
    }
}

/// What decides whether a collective of point-to-point messages is made here.
pub(crate) enum By<'a> {
    /// Whether the communicator has a tag. If it has none yet, the ranks agree on one in a blocking call.
    Tag,
    /// Whether the communicator has a tag already: a rank with a short block may be far ahead, and must not wait for the others.
    EarlierTag,
    /// A vote on whether any rank has a long block to send, since no rank knows the lengths of all blocks. The function says whether this rank has
    /// one. The outcome holds for some calls. A vote makes ranks wait for each other, which a nonblocking call must not do; it uses the last outcome.
    Vote(&'a dyn Fn() -> bool),
    /// What has been fastest for blocking calls of this sort and of about this number of bytes, which is the same on all ranks.
    Race(Raced, usize),
}

impl Collectives {
    /// `MPI_COMM_WORLD` has its tag from the start.
    pub(crate) fn begin(&self) {
        self.tag.get_or_init(|| Some(private::WORLD));
    }

    /// Decides about a collective. To be called once for each call, on all ranks, if the MPI does not refuse the call. After an error the ranks could
    /// not agree; the MPI has called the communicator's error handler.
    pub(crate) fn decide(&self, private: &Private, how: How, by: &By<'_>) -> Result<Turn<'_>, c_int> {
        let tag = match (by, how) {
            (By::EarlierTag, _) => self.known_tag(),
            (By::Vote(_), How::Nonblocking(..)) if !self.varied.is_long() => None,
            (By::Vote(long), How::Blocking(comm))
                if !self.varied.decide(|| private::all(comm, !long()))? =>
            {
                None
            }
            _ => self.tag(private, how)?,
        };
        let Some(tag) = tag else { return Ok(Turn::MPI) };
        let (way, of) = match *by {
            By::Race(raced, bytes) => {
                let race = &self.races[raced as usize];
                (race.way(bytes, |mine| private::minima(mine, how.comm()))?, Of::Race(race, bytes))
            }
            _ => (Way::Compressed, Of::Nothing),
        };
        let number = || self.made.fetch_add(1, Ordering::Relaxed);
        let here = (way != Way::Mpi).then(|| Here { way, tag, number: number() });
        Ok(Turn { way, here, of })
    }

    /// Decides about a blocking broadcast or all-gather. `in_chunks`: how to decide if its blocks may go in chunks, for which a tag is needed.
    pub(crate) fn spread(
        &self,
        (private, comm): (&Private, MPI_Comm),
        raced: Raced,
        in_chunks: Option<&By<'_>>,
    ) -> Result<Turn<'_>, c_int> {
        // The root of a short broadcast does not wait for the others.
        if in_chunks.is_some() || matches!(raced, Raced::Allgather) {
            self.prepare(private, comm)?;
        }
        match in_chunks.filter(|_| self.known_tag().is_some()) {
            Some(by) => self.decide(private, How::Blocking(comm), by),
            None => {
                let outcome = &self.frames[raced as usize];
                Ok(Turn { way: outcome.way(), here: None, of: Of::Outcome(outcome) })
            }
        }
    }

    /// The tag of the communicator, if this call can have one. Agreeing on it makes all ranks wait for each other, which a nonblocking collective
    /// must not do; nonblocking collectives before the first blocking one are left to the MPI.
    fn tag(&self, private: &Private, how: How) -> Result<Option<c_int>, c_int> {
        if let (None, How::Blocking(comm)) = (self.tag.get(), how) {
            let agreed = private.agree(comm);
            if let Ok(Some(tag)) = agreed {
                self.tag.get_or_init(|| tag);
            }
            agreed?;
        }
        Ok(self.known_tag())
    }

    /// The tag, if the ranks have agreed on one. The result is the same on all ranks.
    fn known_tag(&self) -> Option<c_int> {
        *self.tag.get()?
    }

    /// Counts a blocking collective that needs no tag. The second such call agrees on a tag, for nonblocking collectives that may follow; for a
    /// communicator that is used once, agreement is not worth its cost.
    fn prepare(&self, private: &Private, comm: MPI_Comm) -> Result<(), c_int> {
        if self.tag.get().is_none() && self.begun.swap(true, Ordering::Relaxed) {
            self.tag(private, How::Blocking(comm))?;
        }
        Ok(())
    }
}

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
    const ALL: usize = 4;
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
    way: Way,
    /// Set if the layer makes it here, with messages of its own.
    here: Option<Here>,
    of: Of<'a>,
}

/// What learns from a call.
#[derive(Clone, Copy)]
enum Of<'a> {
    Nothing,
    Outcome(&'a Outcome),
    /// The race, and the number of bytes of the call.
    Race(&'a Race, usize),
}

impl Turn<'_> {
    /// By the MPI.
    const MPI: Self = Self { way: Way::Mpi, here: None, of: Of::Nothing };

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
