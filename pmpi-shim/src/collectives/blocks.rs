//! The blocks of a collective's buffer, one for each rank. Arguments are read only when a block is asked for: where a buffer is not significant, its
//! datatype may be invalid.

use crate::messages::context::Context;
use crate::mpi::span::{OwnedType, Span, bounds, is_valid, packed_len};
use crate::mpi::{arguments::Numbers, handle::Handle, real, sys::*};
use std::{cell::OnceCell, ptr, sync::OnceLock};

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

/// Arguments that the MPI refuses. A rank with such arguments makes the MPI's own call before it sends any private message. All other ranks do the
/// collective here, so a rank must leave it only if the MPI really refuses its arguments (or would crash). Where MPIs differ, this MPI is tested.
impl Context {
    /// Like `refused`, for a block that a gather, a scatter or an all-gather receives. There Open MPI does not check whether a datatype is committed,
    /// so it is committed now: our own calls check it.
    pub(super) fn refuses_received(&self, span: &Span) -> bool {
        if !self.refused(span) {
            return false;
        }
        let mut datatype = span.datatype();
        // SAFETY: a valid datatype, since it has a size.
        span.bytes().is_none()
            || !self.ignores_uncommitted()
            || unsafe { PMPI_Type_commit(&raw mut datatype) } != SUCCESS
            || self.refused(span)
    }

    /// Checks the blocks of all ranks by `refuses`: `refused`, or the above. `MPI_IN_PLACE` is invalid for them.
    pub(super) fn refuses_any(
        &self,
        blocks: &Blocks,
        ranks: c_int,
        refuses: impl Fn(&Self, &Span) -> bool,
    ) -> bool {
        let ranks = if blocks.are_equal() { 1 } else { ranks };
        let (is_typed, mut accepted) = (matches!(blocks.given, Given::Typed(..)), None);
        let mut refused = |block: &Span| {
            let like = Some((block.datatype(), block.count() > 0));
            // Only the length differs from that of the block before.
            if like == accepted && block.count() >= 0 && !block.ptr().is_null() {
                return false;
            }
            // For an empty block with its own datatype, not every MPI checks the datatype.
            let refused =
                refuses(self, block) && !(is_typed && block.count() == 0 && self.ignores_types_of_nothing());
            accepted = like.filter(|_| !refused);
            refused
        };
        blocks.buf == IN_PLACE || (0..ranks).any(|rank| refused(&blocks.of(rank)))
    }

    fn ignores_uncommitted(&self) -> bool {
        static KNOWN: OnceLock<bool> = OnceLock::new();
        *KNOWN.get_or_init(|| {
            let (mut datatype, mut byte) = (DATATYPE_NULL, 0_u8);
            let at = (&raw mut byte).cast::<c_void>();
            // SAFETY: our own datatype, and none of its elements, on a communicator of one rank.
            unsafe {
                if PMPI_Type_contiguous(1, BYTE, &mut datatype) != SUCCESS {
                    return false;
                }
                let code = real::MPI_Gather(IN_PLACE, 0, BYTE, at, 0, datatype, 0, self.own_comm);
                PMPI_Type_free(&raw mut datatype);
                code == SUCCESS
            }
        })
    }

    fn ignores_types_of_nothing(&self) -> bool {
        static KNOWN: OnceLock<bool> = OnceLock::new();
        *KNOWN.get_or_init(|| {
            let (count, datatype, mut bytes) = ([0], [DATATYPE_NULL], [0_u8; 2]);
            let [from, to] = bytes.each_mut().map(|byte| ptr::from_mut(byte).cast());
            let (zero, none) = (count.as_ptr(), datatype.as_ptr());
            // SAFETY: arrays of one entry, on a communicator of one rank; nothing is sent.
            let code =
                unsafe { real::MPI_Alltoallw(from, zero, zero, none, to, zero, zero, none, self.own_comm) };
            code == SUCCESS
        })
    }

    /// Whether the MPI refuses `mine` and the block of this rank because they are aliased.
    ///
    /// MPICH treats two blocks with the same datatype as aliased if they begin at the same address, which it computes with the size of elements in
    /// place of their extent (`MPIR_ERRTEST_ALIAS_COLL`). Of equal blocks it requires the same count, too.
    pub(super) fn refuses_alias(&self, blocks: &Blocks, rank: c_int, mine: &Span) -> bool {
        let block = blocks.of(rank);
        if mine.datatype() != block.datatype() || mine.count() == 0 || block.count() == 0 {
            return false;
        }
        let (buf, step) = (blocks.buf, step(block.datatype()));
        let offset = (block.ptr().addr() as MPI_Aint).wrapping_sub(buf.addr() as MPI_Aint);
        let size = packed_len(1, block.datatype()).unwrap_or(0) as MPI_Aint;
        let place = offset.checked_div(step).unwrap_or(0).wrapping_mul(size);
        let at = buf.addr().wrapping_add(place as usize);
        let is_same_count = !blocks.are_equal() || mine.count() == block.count();
        at == mine.ptr().addr() && is_same_count && self.refuses_aliases()
    }

    /// Whether this MPI, as built and configured, refuses aliased buffers. Open MPI does not, and programs rely on it.
    pub(super) fn refuses_aliases(&self) -> bool {
        static KNOWN: OnceLock<bool> = OnceLock::new();
        *KNOWN.get_or_init(|| {
            let nothing = OwnedType::made(|made| PMPI_Type_contiguous(0, BYTE, made));
            let Ok(datatype) = nothing.as_ref().map(OwnedType::handle) else { return false };
            let mut byte = 0_u8;
            let at = (&raw mut byte).cast::<c_void>();
            // SAFETY: one element without data, on a communicator of one rank.
            unsafe { real::MPI_Allgather(at, 1, datatype, at, 1, datatype, self.own_comm) != SUCCESS }
        })
    }
}
