//! All ranks of a communicator make a collective in the same way, here or by the MPI: what they agree on for
//! that, and the tag of the messages.
//!
//! All ranks count the same calls, so their decisions are equal. A call takes one decision, and takes it
//! last: when the MPI is known to accept this rank's arguments. So a refused call has changed nothing, and
//! the rank may make it again.

mod private;
mod spread;
mod turns;

pub(crate) use private::Private;
pub(crate) use spread::{Spread, Turn};
pub(crate) use turns::Way;

use crate::mpi::sys::*;
use spread::Turns;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use turns::{Outcome, Trial};

/// State of a communicator for the layer's collectives.
#[derive(Default)]
pub(crate) struct Collectives {
    /// The tag of their messages, once the ranks have agreed on it. `None`: no tag is available, so these
    /// collectives are left to the MPI.
    tag: OnceLock<Option<c_int>>,
    /// Whether a collective that needs no tag has been made.
    begun: AtomicBool,
    bcasts: Turns,
    allgathers: Turns,
    /// For those of short blocks.
    alltoalls: Turns,
    /// Number of collectives in chunks so far.
    in_chunks: AtomicU32,
    varied: Outcome,
    pub(crate) reduce: Trial,
}

/// How the program called a collective, and on which communicator.
#[derive(Clone, Copy)]
pub(crate) enum How {
    Blocking(MPI_Comm),
    /// With the address of the program's request.
    Nonblocking(MPI_Comm, *mut MPI_Request),
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
    /// Whether the communicator has a tag; a blocking call agrees on it.
    Tag,
    /// Whether it has one already. Each block goes in a message of its own, as with the MPIs, so no rank
    /// waits for another one: it may be short, and its rank far ahead.
    EarlierTag,
    /// A vote on whether any rank has a long block to send, since no rank knows the lengths of all blocks:
    /// whether this rank has one. The outcome stands for some calls. A vote makes ranks wait for each other,
    /// which a nonblocking call must not do; it uses the last outcome.
    Vote(&'a dyn Fn() -> bool),
    /// Whether blocks of earlier calls got shorter ([`Trial`]).
    Trial,
}

impl Collectives {
    /// `MPI_COMM_WORLD` has its tag from the start.
    pub(crate) fn begin(&self) {
        self.tag.get_or_init(|| Some(private::WORLD));
    }

    /// Decides about a collective of point-to-point messages; returns its tag if it is made here. To be
    /// called once for each call, on all ranks, if the MPI does not refuse the call.
    ///
    /// # Errors
    /// The ranks could not agree; the MPI has called the communicator's error handler.
    pub(crate) fn decide(&self, private: &Private, how: How, by: &By<'_>) -> Result<Option<c_int>, c_int> {
        let here = match (by, how) {
            (By::EarlierTag, _) => return Ok(self.known_tag()),
            (By::Tag, _) => true,
            (By::Vote(_), How::Nonblocking(..)) => self.varied.is_long(),
            (By::Vote(long), How::Blocking(comm)) => self.varied.decide(*long, comm)?,
            (By::Trial, _) => self.reduce.is_made_here(how.comm())?,
        };
        if here { self.tag(private, how) } else { Ok(None) }
    }

    /// Decides about a blocking broadcast or all-gather. `in_chunks`: whether its blocks would go in chunks,
    /// if there is a tag; `races`: whether chunks must show that they are faster than the MPI.
    ///
    /// # Errors
    /// As for `decide`.
    pub(crate) fn spread(
        &self,
        (private, comm): (&Private, MPI_Comm),
        spread: Spread,
        in_chunks: impl FnOnce() -> bool,
        races: bool,
    ) -> Result<Turn<'_>, c_int> {
        // The root of a short broadcast does not wait for the others.
        let in_chunks = in_chunks();
        if in_chunks || matches!(spread, Spread::Allgather) {
            self.prepare(private, comm)?;
        }
        let turns = match spread {
            Spread::Bcast => &self.bcasts,
            Spread::Allgather => &self.allgathers,
        };
        match self.known_tag().filter(|_| in_chunks) {
            Some(tag) => turns.in_chunks((tag, &self.in_chunks), comm, races),
            None => Ok(turns.short()),
        }
    }

    /// Decides about a blocking all-to-all of short blocks, in which the MPI's own algorithms may take fewer
    /// steps. `None`: there is no tag, so the MPI makes it.
    ///
    /// # Errors
    /// As for `decide`.
    pub(crate) fn alltoall(&self, private: &Private, comm: MPI_Comm) -> Result<Option<Turn<'_>>, c_int> {
        let tag = self.tag(private, How::Blocking(comm))?;
        tag.map(|tag| self.alltoalls.in_chunks((tag, &self.in_chunks), comm, true)).transpose()
    }

    /// The tag of the communicator, if this call can have one. Agreeing on it makes all ranks wait for each
    /// other, which a nonblocking collective must not do; nonblocking collectives before the first blocking
    /// one are left to the MPI.
    fn tag(&self, private: &Private, how: How) -> Result<Option<c_int>, c_int> {
        if let (None, How::Blocking(comm)) = (self.tag.get(), how) {
            let agreed = private.agree(comm);
            let code = agreed.as_ref().err().copied();
            self.tag.get_or_init(|| agreed.ok().flatten());
            code.map_or(Ok(()), Err)?;
        }
        Ok(self.known_tag())
    }

    /// The tag, if the ranks have agreed on one. The result is the same on all ranks.
    fn known_tag(&self) -> Option<c_int> {
        *self.tag.get()?
    }

    /// Counts a blocking collective that needs no tag. The second such call agrees on a tag, for nonblocking
    /// collectives that may follow; for a communicator that is used once, agreement is not worth its cost.
    fn prepare(&self, private: &Private, comm: MPI_Comm) -> Result<(), c_int> {
        if self.tag.get().is_none() && self.begun.swap(true, Ordering::Relaxed) {
            self.tag(private, How::Blocking(comm))?;
        }
        Ok(())
    }
}
