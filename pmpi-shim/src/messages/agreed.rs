//! State that the ranks of a communicator agree on for the layer's collectives: their tag, and for how long they are done here or by the
//! MPI.

mod private;
mod tags;
mod turns;

pub(crate) use private::Private;
pub(crate) use turns::{Pause, Race, Trial, Way};

use crate::mpi::sys::*;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tags::Tag;
use turns::Vote;

/// State of a communicator for the layer's collectives.
#[derive(Default)]
pub(crate) struct Collectives {
    /// The tag of their messages, once the ranks have agreed on it. `None`: no tag is available, so these collectives are left to the MPI.
    tag: OnceLock<Option<Tag>>,
    /// Whether a collective that needs no tag has been made.
    begun: AtomicBool,
    pub(crate) bcast: Pause,
    pub(crate) allgather: Pause,
    /// Where broadcasts in chunks are made; below, all-gathers in chunks.
    pub(crate) long_bcast: Chunked,
    pub(crate) long_allgather: Chunked,
    /// Number of collectives in chunks so far.
    in_chunks: AtomicU32,
    pub(crate) reduce: Trial,
    varied: Vote,
}

/// Decides whether a collective of long blocks is done in chunks.
#[derive(Default)]
pub(crate) struct Chunked {
    /// For the adaptive strategy, which must make nothing slower.
    pub(crate) race: Race,
    /// For a fixed codec.
    pub(crate) pause: Pause,
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

impl Collectives {
    /// `MPI_COMM_WORLD` has its tag from the start.
    pub(crate) fn begin(&self, private: &Private) {
        self.tag.get_or_init(|| private.first_tag());
    }

    /// The tag of the communicator, if this call can have one. Agreeing on it makes all ranks wait for each other, which a nonblocking
    /// collective must not do; nonblocking collectives before the first blocking one are left to the MPI.
    ///
    /// # Errors
    /// The ranks could not agree; the MPI has called the communicator's error handler.
    pub(crate) fn tag(&self, private: &Private, how: How) -> Result<Option<c_int>, c_int> {
        let tag = match (self.tag.get(), how) {
            (Some(tag), _) => tag,
            (None, How::Nonblocking(..)) => return Ok(None),
            (None, How::Blocking(comm)) => {
                let agreed = private.agree(comm);
                let code = agreed.as_ref().err().copied();
                let tag = self.tag.get_or_init(|| agreed.ok().flatten());
                if let Some(code) = code {
                    return Err(code);
                }
                tag
            }
        };
        Ok(tag.as_ref().map(Tag::number))
    }

    /// The tag, if the ranks have agreed on one. The result is the same on all ranks.
    pub(crate) fn known_tag(&self) -> Option<c_int> {
        self.tag.get()?.as_ref().map(Tag::number)
    }

    /// The number of a collective in chunks. It is the same on all ranks.
    pub(crate) fn next_in_chunks(&self) -> u32 {
        self.in_chunks.fetch_add(1, Ordering::Relaxed)
    }

    /// Called for a blocking collective that needs no tag. The second such call agrees on a tag, for nonblocking collectives that may
    /// follow; for a communicator that is used once, agreement is not worth its cost.
    ///
    /// # Errors
    /// As for `tag`.
    pub(crate) fn prepare(&self, private: &Private, comm: MPI_Comm) -> Result<Prepared<'_>, c_int> {
        if self.tag.get().is_some() {
            return Ok(Prepared { begun: None });
        }
        if !self.begun.swap(true, Ordering::Relaxed) {
            return Ok(Prepared { begun: Some(&self.begun) });
        }
        self.tag(private, How::Blocking(comm)).map(|_| Prepared { begun: None })
    }

    /// Returns `refused`. A blocking call with blocks of several lengths whose arguments are refused on this rank is not made. The program
    /// may repeat it, while the other ranks count one call; so this rank does not count it.
    pub(crate) fn counted(&self, how: How, equal: bool, refused: bool) -> bool {
        if refused && !equal && matches!(how, How::Blocking(_)) {
            self.varied.left.fetch_add(1, Ordering::Relaxed);
        }
        refused
    }

    /// Whether a gather or a scatter with blocks of several lengths is done here: each block goes in a message of its own, as with the MPIs. So no rank waits
    /// for another one but the ranks of a communicator for each other in the second such call, which agrees on a tag.
    ///
    /// # Errors
    /// As for `tag`.
    pub(crate) fn rooted_here(
        &self,
        private: &Private,
        how: How,
    ) -> Result<(bool, Option<Prepared<'_>>), c_int> {
        let prepared = match how {
            How::Blocking(comm) => Some(self.prepare(private, comm)?),
            How::Nonblocking(..) => None,
        };
        Ok((self.known_tag().is_some(), prepared))
    }

    /// Whether an all-to-all with blocks of several lengths is done here. No rank knows the lengths of all blocks, so
    /// some calls begin with a vote on whether any rank has a `long` block to send. A rank whose arguments will be refused takes part, too.
    /// The vote makes ranks wait for each other, which a nonblocking collective must not do; it uses the result of the last vote.
    ///
    /// # Errors
    /// Those of the MPI, which has called the communicator's error handler.
    pub(crate) fn varied_here(&self, how: How, long: impl FnOnce() -> bool) -> Result<bool, c_int> {
        if let How::Blocking(comm) = how
            && !self.varied.stands()
        {
            let short = private::minimum(c_int::from(!long()), comm)? == 1;
            self.varied.learn(short);
        }
        Ok(!self.varied.short.load(Ordering::Relaxed))
    }
}

/// A collective that `prepare` has counted.
pub(crate) struct Prepared<'a> {
    /// The flag, if this collective set it.
    begun: Option<&'a AtomicBool>,
}

impl Prepared<'_> {
    /// The collective is not made, since this rank's arguments are refused. The program may repeat it, while the other ranks count one
    /// call.
    pub(crate) fn not_made(self) {
        if let Some(begun) = self.begun {
            begun.store(false, Ordering::Relaxed);
        }
    }
}
