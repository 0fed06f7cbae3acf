//! The blocks of a collective's buffer, one for each rank. Nothing is looked at before a block is asked for: where a buffer is of no
//! significance, its datatype need not be one.

use crate::span::Span;
use crate::sys::*;
use std::ffi::{c_int, c_void};

/// Where the block of each rank is. Asked for ranks of the communicator only.
pub(crate) trait Blocks: Fn(c_int) -> Span {}

impl<F: Fn(c_int) -> Span> Blocks for F {}

/// Blocks of `count` elements, one behind the other.
pub(crate) fn equal(buf: *const c_void, count: impl Into<MPI_Count>, datatype: MPI_Datatype) -> impl Blocks {
    let count = count.into();
    move |rank| {
        let step = extent(datatype).wrapping_mul(count as MPI_Aint);
        Span::new(at(buf, step.wrapping_mul(rank as MPI_Aint)), count, datatype)
    }
}

/// Blocks of a length and at a place of their own, which counts elements.
///
/// # Safety
/// Both arrays must have an entry for each rank that is asked for.
pub(crate) unsafe fn varied<C: Into<MPI_Count> + Copy, D: Into<MPI_Count> + Copy>(
    buf: *const c_void,
    counts: *const C,
    places: *const D,
    datatype: MPI_Datatype,
) -> impl Blocks {
    move |rank| {
        // SAFETY: the caller vouches for the arrays.
        let (count, place) = unsafe { (*counts.add(rank as usize), *places.add(rank as usize)) };
        Span::new(at(buf, extent(datatype).wrapping_mul(place.into() as MPI_Aint)), count, datatype)
    }
}

/// Blocks of a length, a datatype and at a place of their own, which counts bytes.
///
/// # Safety
/// The arrays must have an entry for each rank that is asked for.
pub(crate) unsafe fn typed<C: Into<MPI_Count> + Copy, D: Into<MPI_Count> + Copy>(
    buf: *const c_void,
    counts: *const C,
    places: *const D,
    datatypes: *const MPI_Datatype,
) -> impl Blocks {
    move |rank| {
        let rank = rank as usize;
        // SAFETY: the caller vouches for the arrays.
        let (count, place, datatype) =
            unsafe { (*counts.add(rank), *places.add(rank), *datatypes.add(rank)) };
        Span::new(at(buf, place.into() as MPI_Aint), count, datatype)
    }
}

/// The buffer may be `MPI_BOTTOM` with absolute addresses for places.
fn at(buf: *const c_void, offset: MPI_Aint) -> *mut c_void {
    buf.cast::<u8>().wrapping_add(offset as usize).cast_mut().cast()
}

fn extent(datatype: MPI_Datatype) -> MPI_Aint {
    let (mut lower, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
    if datatype != DATATYPE_NULL {
        // SAFETY: a datatype that the caller of an MPI function gave, places for the answers. What is no datatype has no extent.
        unsafe { PMPI_Type_get_extent(datatype, &raw mut lower, &raw mut extent) };
    }
    extent
}
