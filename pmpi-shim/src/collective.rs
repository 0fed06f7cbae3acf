//! Collectives that move data: who does them, and over what communicator.
//!
//! All ranks of a communicator must go about a collective in the same way. So whether it is done here or by the MPI depends on
//! nothing but what all of them know: the settings, who is where, and lengths that are the same everywhere. Whether a message in
//! it is compressed is decided where it is sent, as ever; receivers know frames when they see them, or are told lengths.
//!
//! - [`exchange`]: all-to-all, scatter and gather as messages between two ranks each, which need no word more than without us;
//! - [`shared`]: broadcast and all-gather by the MPI's own algorithms, in which messages pass through many hands. They need the
//!   length of frames beforehand, and are left to the MPI for a while where nothing got shorter;
//! - [`direct`]: their nonblocking forms, as messages between two ranks each, where these leave a node no more often.

mod blocks;
mod direct;
mod exchange;
pub(crate) mod handlers;
mod private;
mod refused;
mod shared;
mod tags;
mod under_way;

pub(crate) use private::Private;
pub(crate) use under_way::UnderWay;

use crate::peers::Peers;
use crate::span::{Envelope, Span};
use crate::state::{Shim, raise};
use crate::sys::*;
use crate::traffic;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tags::Tag;

/// What a communicator needs for collectives of ours.
#[derive(Default)]
pub(crate) struct Collectives {
    /// The tag of its messages, once the ranks have agreed on one. `None`: there is none to be had, so that these collectives are
    /// the MPI's.
    tag: OnceLock<Option<Tag>>,
    /// Whether a collective that needs no tag has been made.
    begun: AtomicBool,
    bcast: Pause,
    allgather: Pause,
    varied: Vote,
}

/// How the program called a collective, and of which communicator.
#[derive(Clone, Copy)]
pub(crate) enum How {
    Blocking(MPI_Comm),
    /// And where it wants its request.
    Nonblocking(MPI_Comm, *mut MPI_Request),
}

impl How {
    fn comm(self) -> MPI_Comm {
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
    fn tag(&self, shim: &Shim, how: How) -> Result<Option<c_int>, c_int> {
        let tag = match (self.tag.get(), how) {
            (Some(tag), _) => tag,
            (None, How::Nonblocking(..)) => return Ok(None),
            (None, How::Blocking(comm)) => {
                let agreed = shim.private.agree(comm);
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

    /// A blocking collective that needs no tag: the second one agrees on it for the nonblocking ones that may follow. A communicator
    /// that is used once is not worth it.
    ///
    /// # Errors
    /// As for `tag`.
    fn prepare(&self, shim: &Shim, comm: MPI_Comm) -> Result<Prepared<'_>, c_int> {
        if self.tag.get().is_some() {
            return Ok(Prepared { begun: None });
        }
        if !self.begun.swap(true, Ordering::Relaxed) {
            return Ok(Prepared { begun: Some(&self.begun) });
        }
        self.tag(shim, How::Blocking(comm)).map(|_| Prepared { begun: None })
    }

    /// A call with blocks of several lengths for which a vote stood is not made where this rank's arguments are `refused`. The program may
    /// make it again, with the same vote: the others count it once. Gives `refused`.
    fn counted(&self, how: How, equal: bool, refused: bool) -> bool {
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
    fn varied_here(&self, how: How, long: impl FnOnce() -> bool) -> Result<bool, c_int> {
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
struct Prepared<'a> {
    /// Set by this one.
    begun: Option<&'a AtomicBool>,
}

impl Prepared<'_> {
    /// It is not made, since this rank's arguments are refused. The program may make it again: the others count it once.
    fn not_made(self) {
        if let Some(begun) = self.begun {
            begun.store(false, Ordering::Relaxed);
        }
    }
}

/// Without memory this rank cannot do its part, and other ranks would wait for ever.
fn give_up(what: impl std::fmt::Display, comm: MPI_Comm, code: c_int) -> ! {
    say!("mpress: no memory for {what} that other ranks wait for; the job ends");
    // SAFETY: the program's communicator.
    unsafe { PMPI_Abort(comm, code) };
    std::process::abort()
}

/// The outcome of the last vote, and for how many blocking calls it stands. Every rank counts alike.
#[derive(Default)]
struct Vote {
    short: AtomicBool,
    left: AtomicU32,
    next: AtomicU32,
}

impl Vote {
    /// Whether it stands for this call.
    fn stands(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// An outcome stands for twice as many calls as the one before, if it is the same.
    fn learn(&self, short: bool) {
        let same = self.short.swap(short, Ordering::Relaxed) == short;
        let next = if same { (2 * self.next.load(Ordering::Relaxed)).clamp(1, LONGEST) } else { 1 };
        self.next.store(next, Ordering::Relaxed);
        self.left.store(next, Ordering::Relaxed);
    }
}

/// How long a collective is left to the MPI. Every rank sees the same outcomes and comes to the same numbers.
#[derive(Default)]
struct Pause {
    left: AtomicU32,
    next: AtomicU32,
}

/// The longest pause, in calls.
const LONGEST: u32 = 128;

impl Pause {
    /// Whether this call is left to the MPI.
    fn takes(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// Something got shorter in this call, or nothing: then there is a pause, twice as long each time.
    fn learn(&self, shorter: bool) {
        let next = if shorter { 0 } else { (2 * self.next.load(Ordering::Relaxed)).clamp(1, LONGEST) };
        self.next.store(next, Ordering::Relaxed);
        self.left.store(next, Ordering::Relaxed);
    }
}

/// A collective of ours under way. Its messages go over the communicator of ours, between ranks of the world.
struct Group<'a> {
    peers: &'a Peers,
    comm: MPI_Comm,
    tag: c_int,
    /// The program's communicator, by whose strategy messages are compressed.
    program: MPI_Comm,
}

impl Group<'_> {
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
        let outcome = traffic::during(&self.engine, || collective(group));
        outcome.map_or_else(|code| raise(group.program, code), |()| SUCCESS)
    }
}
