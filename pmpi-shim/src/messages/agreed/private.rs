//! The communicator on which the layer sends the messages of collectives: one for all communicators of the
//! program, each of which has its own tag.
//!
//! A separate communicator for each would double their number, and MPICH is limited to about two thousand.

use super::tags::{Tag, Tags};
use crate::mpi::fatal;
use crate::mpi::handle::Handle;
use crate::mpi::open;
use crate::mpi::sys::*;
use std::ffi::{c_int, c_void};
use std::ops::RangeInclusive;
use std::ptr;
use std::sync::Arc;

/// The communicator, of all ranks of the world, and its tags.
pub(crate) struct Private {
    /// Its error handler returns errors.
    pub(crate) comm: MPI_Comm,
    tags: Arc<Tags>,
    /// Tags that collectives do not use.
    pub(crate) free_tags: RangeInclusive<c_int>,
}

/// Number of attempts of the ranks of a communicator to agree on a tag. One is enough unless another thread
/// takes the tag meanwhile, or all large tags are used.
const ROUNDS: u32 = 64;

impl Private {
    /// Makes the communicator as a duplicate of `of`, on all of its ranks. For the world this must come
    /// before the program sets its first attribute, since a duplicate copies attributes, by the program's own
    /// functions. Other ways to make a communicator spin while a rank waits.
    pub(crate) fn new(of: MPI_Comm) -> Result<Self, c_int> {
        let (mut comm, mut request) = (COMM_NULL, REQUEST_NULL);
        let (mut value, mut found) = (ptr::null_mut::<c_void>(), 0);
        // SAFETY: a collective call; valid output pointers, which live until it is complete.
        unsafe {
            let code = PMPI_Comm_idup(of, &raw mut comm, &raw mut request);
            fatal::await_all(ok(code).map(|()| request));
            ok(PMPI_Comm_set_errhandler(comm, errors_return()))?;
            ok(PMPI_Comm_get_attr(COMM_WORLD, TAG_UB, (&raw mut value).cast(), &raw mut found))?;
        }
        // SAFETY: the value of this attribute, if set, is the address of an int.
        let most = unsafe { value.cast::<c_int>().as_ref() }.copied().filter(|_| found != 0);
        let most = most.unwrap_or(32767); // the least an MPI may allow: MPI 4.0, section 9.1.2
        Ok(Self { comm, tags: Tags::new(most / 2), free_tags: most / 2 + 1..=most })
    }

    /// No communicator and no tags, for a process that sends no private messages.
    pub(crate) fn none() -> Self {
        Self { comm: COMM_NULL, tags: Tags::new(0), free_tags: 0..=0 }
    }

    /// The first tag, that of `MPI_COMM_WORLD`: free on all ranks, so that they need not agree.
    pub(super) fn first_tag(&self) -> Option<Tag> {
        self.tags.reserve(0)
    }

    /// Agrees with all ranks of the program's communicator on a tag for it. `None`: no tag is free on all
    /// ranks.
    ///
    /// Each rank proposes a tag, and the largest is taken if it is free on all ranks. Other threads may do
    /// the same for other communicators meanwhile. No lock is held while ranks wait for each other; if two
    /// threads get the same tag on different ranks, both release it.
    ///
    /// # Errors
    /// Those of the MPI, which has called the communicator's error handler.
    pub(super) fn agree(&self, comm: MPI_Comm) -> Result<Option<Tag>, c_int> {
        let (mut least, mut again) = (None, false);
        for round in 0..ROUNDS {
            // The largest is found as the minimum of the negated ones. Without a proposal the value is too
            // large for every rank.
            let proposal = self.tags.propose(least).map_or(c_int::MIN, |tag| -tag);
            let largest = minimum(proposal, comm)?;
            if largest == c_int::MIN {
                if again {
                    return Ok(None);
                }
                // Some rank has no larger tag: start again from the smallest, once.
                (least, again) = (Some(0), true);
                continue;
            }
            let tag = self.tags.reserve(-largest);
            if minimum(c_int::from(tag.is_some()), comm)? == 1 {
                return Ok(tag);
            }
            // Two threads that collide must not go on in step; their communicators make the difference.
            let apart = round.wrapping_mul(comm.key() as u32 | 1) % (2 * round + 1);
            least = (-largest).checked_add_unsigned(1 + apart);
        }
        Ok(None)
    }
}

/// The minimum over all ranks of the program's communicator.
///
/// # Errors
/// As for [`minima`].
pub(super) fn minimum(mine: c_int, comm: MPI_Comm) -> Result<c_int, c_int> {
    minima([mine], comm).map(|[least]| least)
}

/// The minima over all ranks of the program's communicator, place by place.
///
/// # Errors
/// Those of the MPI. It reports them to the communicator's handler, which need not return: hence `open`.
pub(super) fn minima<const N: usize>(mine: [c_int; N], comm: MPI_Comm) -> Result<[c_int; N], c_int> {
    let mut least = mine;
    // SAFETY: two arrays of this number of elements; all ranks make this call.
    ok(unsafe {
        open::MPI_Allreduce(mine.as_ptr().cast(), least.as_mut_ptr().cast(), N as c_int, INT32_T, MIN, comm)
    })?;
    Ok(least)
}
