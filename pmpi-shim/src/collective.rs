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
mod shared;
mod under_way;

pub(crate) use blocks::{Blocks, equal, typed, varied};
pub(crate) use direct::{iallgather, ibcast};
pub(crate) use exchange::{alltoall, gather, scatter};
pub(crate) use shared::{allgather, bcast};
pub(crate) use under_way::UnderWay;

use crate::span::Span;
use crate::state::{Shim, raise};
use crate::sys::*;
use crate::traffic;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a communicator needs for collectives of ours.
#[derive(Default)]
pub(crate) struct Collectives {
    /// A communicator of the same ranks, made with the first collective.
    own: OnceLock<Result<MPI_Comm, c_int>>,
    bcast: Pause,
    allgather: Pause,
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
    /// Whether a collective can be done here. To make a communicator all ranks have to wait for each other, which a
    /// nonblocking collective must not; so before the first blocking one these are the MPI's, but in `MPI_COMM_WORLD`.
    fn allow(&self, how: How) -> bool {
        matches!(how, How::Blocking(_)) || self.own.get().is_some()
    }

    /// Makes the communicator now. All ranks must.
    pub(crate) fn prepare(&self, comm: MPI_Comm) -> Result<(), c_int> {
        self.own.get_or_init(|| own_communicator(comm)).map(|_| ())
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

impl Drop for Collectives {
    fn drop(&mut self) {
        // Not in MPI_Finalize, after the end of the shim: there not all ranks need come here.
        if let (Some(Ok(own)), Some(_)) = (self.own.get(), crate::state::shared()) {
            let mut own = *own;
            // SAFETY: a communicator of ours. This is a part of freeing the program's, which all of its ranks do.
            unsafe { PMPI_Comm_free(&raw mut own) };
        }
    }
}

/// A collective of ours under way.
struct Group {
    /// The communicator of ours, which returns errors.
    own: MPI_Comm,
    rank: c_int,
    size: c_int,
}

impl Group {
    fn ranks(&self) -> std::ops::Range<c_int> {
        0..self.size
    }

    fn others(&self) -> impl Iterator<Item = c_int> {
        self.ranks().filter(|rank| *rank != self.rank)
    }
}

impl Shim {
    /// Whether blocks that are as long on all ranks may be compressed.
    pub(crate) fn is_long(&self, block: &Span) -> bool {
        block.bytes().is_some_and(|bytes| bytes >= self.threshold)
    }

    /// Makes a collective of ours: on a communicator of our own with the ranks of the program's. An error goes to the program's
    /// communicator.
    fn collectively(
        &self,
        comm: MPI_Comm,
        collectives: &Collectives,
        collective: impl FnOnce(&Group) -> Result<(), c_int>,
    ) -> c_int {
        let outcome = collectives.own.get_or_init(|| own_communicator(comm)).and_then(|own| {
            let (mut rank, mut size) = (0, 0);
            // SAFETY: a communicator of ours, places for the answers.
            unsafe {
                ok(PMPI_Comm_rank(own, &raw mut rank))?;
                ok(PMPI_Comm_size(own, &raw mut size))?;
            }
            let group = Group { own, rank, size };
            traffic::during(&self.engine, || collective(&group))
        });
        outcome.map_or_else(|code| raise(comm, code), |()| SUCCESS)
    }
}

/// Another communicator of the same ranks. Not a duplicate: that would copy the program's attributes, by its own functions.
fn own_communicator(comm: MPI_Comm) -> Result<MPI_Comm, c_int> {
    let mut own = COMM_NULL;
    // SAFETY: the program's communicator, in a collective of all its ranks; a group of ours, freed.
    unsafe {
        let mut group = std::mem::zeroed();
        ok(PMPI_Comm_group(comm, &raw mut group))?;
        let code = PMPI_Comm_create(comm, group, &raw mut own);
        PMPI_Group_free(&raw mut group);
        ok(code)?;
        ok(PMPI_Comm_set_errhandler(own, ERRORS_RETURN))?;
    }
    Ok(own)
}
