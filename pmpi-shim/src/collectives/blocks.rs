//! The blocks of a collective's buffer, one for each rank. Arguments are read only when a block is asked for: where a buffer is not significant, its
//! datatype may be invalid.

use crate::mpi::span::{Span, bounds, is_valid};
use crate::mpi::{arguments::Numbers, handle::Handle, sys::*};
use std::cell::OnceCell;

/// The location of each rank's block. Valid only for ranks of the communicator.
pub(crate) struct Blocks {
    /// The buffer, as the program gave it.
    pub(super) buf: *const c_void,
    pub(super) given: Given,
    /// The extent of the datatype, once it is known.
    step: OnceCell<MPI_Aint>,
}

/// Counts, displacements and datatypes, as the program gave them.
#[derive(Clone, Copy)]
pub(super) enum Given {
    /// Blocks of this number of elements, contiguous in rank order.
    Equal(MPI_Count, MPI_Datatype),
    /// Blocks with counts and displacements of their own, in elements.
    Varied(Numbers, Numbers, MPI_Datatype),
    /// Blocks with counts and datatypes of their own, and displacements in bytes.
    Typed(Numbers, Numbers, *const MPI_Datatype),
}

impl Blocks {
    /// # Safety
    /// The blocks that are asked for must be as [`Span::new`] wants them. Arrays must have an entry for each rank that is asked for, or be null.
    pub(super) unsafe fn new(buf: *const c_void, given: Given) -> Self {
        Self { buf, given, step: OnceCell::new() }
    }

    /// Whether they have the same length.
    pub(super) fn are_equal(&self) -> bool {
        matches!(self.given, Given::Equal(..))
    }

    /// The block of a rank; for a null array an invalid one.
    pub(super) fn of(&self, rank: c_int) -> Span {
        let at = |offset: MPI_Aint| self.buf.wrapping_byte_add(offset as usize);
        let step = |datatype| *self.step.get_or_init(|| step(datatype));
        // SAFETY: the caller of `new` vouches for the arrays and the blocks.
        unsafe {
            match self.given {
                Given::Equal(count, datatype) => {
                    let len = step(datatype).wrapping_mul(count as MPI_Aint);
                    Span::new(at(len.wrapping_mul(rank.into())), count, datatype)
                }
                Given::Varied(counts, places, datatype) if !counts.is_null() && !places.is_null() => {
                    let place = step(datatype).wrapping_mul(places.at(rank as usize));
                    Span::new(at(place), counts.at(rank as usize), datatype)
                }
                Given::Typed(counts, places, datatypes)
                    if !counts.is_null() && !places.is_null() && !datatypes.is_null() =>
                {
                    let rank = rank as usize;
                    Span::new(at(places.at(rank)), counts.at(rank), *datatypes.add(rank))
                }
                Given::Varied(..) | Given::Typed(..) => Span::new(self.buf, -1, DATATYPE_NULL),
            }
        }
    }

    /// Whether the program gave the same counts and datatypes for `other`.
    pub(super) fn given_as(&self, other: &Self) -> bool {
        let words = |given| match given {
            Given::Equal(count, datatype) => (count as usize, datatype.key()),
            Given::Varied(counts, _, datatype) => (counts.addr(), datatype.key()),
            Given::Typed(counts, _, datatypes) => (counts.addr(), datatypes.addr()),
        };
        words(self.given) == words(other.given)
    }
}

/// The extent of a datatype; 0 if the MPI does not know it. It would report that to the handler of `MPI_COMM_WORLD`, not of the call's communicator.
pub(super) fn step(datatype: MPI_Datatype) -> MPI_Aint {
    let bounds = if is_valid(datatype) { bounds(datatype) } else { None };
    bounds.map_or(0, |bounds| bounds.extent as MPI_Aint)
}
