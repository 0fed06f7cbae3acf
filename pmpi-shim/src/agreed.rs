//! What the ranks of a communicator have agreed on for collectives of ours: their tag, and how long they are done here or left to the MPI.

mod private;
mod tags;
mod turns;

pub(crate) use private::Private;
pub(crate) use turns::{Pause, Race, Trial};

use crate::sys::*;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tags::Tag;
use turns::Vote;

/// What a communicator needs for collectives of ours.
#[derive(Default)]
pub(crate) struct Collectives {
    /// The tag of its messages, once the ranks have agreed on one. `None`: there is none to be had, so that these collectives are
    /// the MPI's.
    tag: OnceLock<Option<Tag>>,
    /// Whether a collective that needs no tag has been made.
    begun: AtomicBool,
    pub(crate) bcast: Pause,
    pub(crate) allgather: Pause,
    /// The same for those that go in chunks, ...
    pub(crate) long_bcast: Chunked,
    pub(crate) long_allgather: Chunked,
    /// ... and how many of these there have been.
    in_chunks: AtomicU32,
    pub(crate) reduce: Trial,
    varied: Vote,
}

/// Whether a collective of long blocks goes in chunks.
#[derive(Default)]
pub(crate) struct Chunked {
    /// Where the adaptive strategy is to see to it that nothing gets slower.
    pub(crate) race: Race,
    /// Where a codec is fixed.
    pub(crate) pause: Pause,
}

/// How the program called a collective, and of which communicator.
#[derive(Clone, Copy)]
pub(crate) enum How {
    Blocking(MPI_Comm),
    /// And where it wants its request.
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
    /// `MPI_COMM_WORLD` has its tag from the beginning.
    pub(crate) fn begin(&self, private: &Private) {
        self.tag.get_or_init(|| private.first_tag());
    }

    /// The tag of the communicator, if this call can have one. To agree on it, all ranks have to wait for each other, which a
    /// nonblocking collective must not do; before the first blocking one these are left to the MPI.
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

    /// The tag, if the ranks have agreed on one already. All ranks come to the same answer.
    pub(crate) fn known_tag(&self) -> Option<c_int> {
        self.tag.get()?.as_ref().map(Tag::number)
    }

    /// The number of a collective that goes in chunks. Every rank counts alike.
    pub(crate) fn next_in_chunks(&self) -> u32 {
        self.in_chunks.fetch_add(1, Ordering::Relaxed)
    }

    /// A blocking collective that needs no tag: the second one agrees on it for the nonblocking ones that may follow. A communicator
    /// that is used once is not worth it.
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

    /// A call with blocks of several lengths for which a vote stood is not made where this rank's arguments are `refused`. The program may
    /// make it again, with the same vote: the others count it once. Gives `refused`.
    pub(crate) fn counted(&self, how: How, equal: bool, refused: bool) -> bool {
        if refused && !equal && matches!(how, How::Blocking(_)) {
            self.varied.left.fetch_add(1, Ordering::Relaxed);
        }
        refused
    }

    /// Whether all-to-all, gather and scatter with blocks of several lengths are done here. No rank knows the lengths of all blocks, so
    /// from time to time all say whether they have a `long` one to send, before anything else: also a rank whose arguments will be
    /// refused takes part. They wait for each other then, which a nonblocking collective must not do: it goes by the last vote.
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

/// A collective that has been counted, for the agreement with the second one.
pub(crate) struct Prepared<'a> {
    /// Set by this one.
    begun: Option<&'a AtomicBool>,
}

impl Prepared<'_> {
    /// It is not made, since this rank's arguments are refused. The program may make it again: the others count it once.
    pub(crate) fn not_made(self) {
        if let Some(begun) = self.begun {
            begun.store(false, Ordering::Relaxed);
        }
    }
}
