//! The communicator for the layer's own messages: streams, and collectives of all communicators of the program, each of which has its own tag.
//!
//! A separate communicator for each would double their number, and MPICH is limited to about two thousand.

use crate::mpi::{fatal, handle::Handle, open, span::greatest_tag, sys::*};
use std::{ops::RangeInclusive, sync::atomic::AtomicI32, sync::atomic::Ordering};

/// The communicator, which has all ranks of the world, and its tags.
pub(crate) struct Private {
    /// Its error handler returns errors.
    pub(crate) comm: MPI_Comm,
    /// The least tag that none of this process's communicators has had. Tags count up and are not used again, so no two communicators that share a
    /// process have the same one, and a message that a program left in an erroneous collective meets no other.
    next: AtomicI32,
    /// The upper half of the tags, for streams. Collectives use the lower half.
    pub(crate) free_tags: RangeInclusive<c_int>,
}

/// The tag of `MPI_COMM_WORLD`, on which its ranks need not agree.
pub(super) const WORLD: c_int = 0;

/// Number of attempts of the ranks of a communicator to agree on a tag. One is enough unless other threads take the tag meanwhile.
const ROUNDS: u32 = 64;

impl Private {
    /// Makes the communicator as a duplicate of `of`, on all of its ranks. For the world this must come before the program sets its first attribute,
    /// since a duplicate copies attributes, by the program's own functions. In other calls that make a communicator, a waiting rank would keep its
    /// processor busy.
    pub(crate) fn new(of: MPI_Comm) -> Result<Self, c_int> {
        let (mut comm, mut request) = (COMM_NULL, REQUEST_NULL);
        // SAFETY: a collective call; valid output pointers, which live until it is complete.
        unsafe {
            let code = PMPI_Comm_idup(of, &raw mut comm, &raw mut request);
            fatal::await_all(ok(code).map(|()| request));
        }
        ok(PMPI_Comm_set_errhandler(comm, errors_return()))?;
        let most = greatest_tag().unwrap_or(32767); // the least an MPI may allow: MPI 4.0, section 9.1.2
        Ok(Self { comm, next: AtomicI32::new(WORLD + 1), free_tags: most / 2 + 1..=most })
    }

    /// No communicator and no tags, for a process that sends no private messages.
    pub(crate) fn none() -> Self {
        Self { comm: COMM_NULL, next: AtomicI32::new(0), free_tags: 0..=0 }
    }

    /// Agrees with all ranks of the program's communicator on a tag for it: `Some(None)` if some rank has used all tags; `None` if other threads have
    /// taken each proposed tag, so that a later call may succeed.
    ///
    /// Each rank proposes a tag, and the largest is taken unless some rank has used it. Other threads may do the same for other communicators
    /// meanwhile. No lock is held while ranks wait for each other; if two threads get the same tag on different ranks, neither uses it. An error is
    /// one of the MPI, which has called the communicator's error handler.
    pub(super) fn agree(&self, comm: MPI_Comm) -> Result<Option<Option<c_int>>, c_int> {
        for round in 0..ROUNDS {
            // Threads that collide must not propose the same tags in each round, so the proposal depends on the communicator.
            let apart = round.wrapping_mul(comm.key() as u32) % (2 * round + 1);
            let proposal = self.next.load(Ordering::Relaxed).checked_add_unsigned(apart);
            let proposal = proposal.filter(|tag| tag < self.free_tags.start());
            // The largest is found as the minimum of the negated ones. Without a proposal the value is too large for every rank.
            let [largest] = minima([proposal.map_or(c_int::MIN, |tag| -tag)], comm)?;
            if largest == c_int::MIN {
                return Ok(Some(None));
            }
            if all(comm, self.reserve(-largest))? {
                return Ok(Some(Some(-largest)));
            }
        }
        Ok(None)
    }

    /// Reserves this tag; returns whether this process has used neither it nor a larger one.
    fn reserve(&self, tag: c_int) -> bool {
        let after = |next| (next..*self.free_tags.start()).contains(&tag).then(|| tag + 1);
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after).is_ok()
    }
}

/// Whether `here` is true on all ranks of the program's communicator.
pub(super) fn all(comm: MPI_Comm, here: bool) -> Result<bool, c_int> {
    minima([here.into()], comm).map(|least| least == [1])
}

/// The minima over all ranks of the program's communicator, place by place. The MPI reports errors to the communicator's handler, which need not
/// return: hence `open`.
pub(super) fn minima<const N: usize>(mine: [c_int; N], comm: MPI_Comm) -> Result<[c_int; N], c_int> {
    let mut least = mine;
    // SAFETY: two arrays of this number of elements; all ranks make this call.
    ok(unsafe {
        open::MPI_Allreduce(mine.as_ptr().cast(), least.as_mut_ptr().cast(), N as c_int, INT32_T, MIN, comm)
    })?;
    Ok(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_count_up_to_those_of_others() {
        let private = Private { comm: COMM_NULL, next: AtomicI32::new(WORLD + 1), free_tags: 4..=7 };
        let reserved = [WORLD, 1, 1, 3, 2, 3, 4, c_int::MAX].map(|tag| private.reserve(tag));
        assert_eq!(reserved, [false, true, false, true, false, false, false, false]);
    }
}
