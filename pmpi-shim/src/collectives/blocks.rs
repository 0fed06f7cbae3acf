//! The blocks of a collective's buffer, one for each rank. Arguments are read only when a block is asked for:
//! where a buffer is not significant, its datatype may be invalid.

use crate::mpi::arguments::Counts;
use crate::mpi::handle::Handle;
use crate::mpi::span::{Span, extent, is_valid};
use crate::mpi::sys::*;
use std::cell::LazyCell;
use std::ffi::{c_int, c_void};

/// The location of each rank's block. Valid only for ranks of the communicator.
pub(crate) struct Blocks<F> {
    /// The buffer, as the program gave it.
    pub(super) buf: *const c_void,
    /// Whether they have the same length.
    pub(super) equal: bool,
    /// Whether each has its own datatype.
    pub(super) typed: bool,
    /// Counts and datatypes as the program gave them: values, or addresses of arrays.
    given: (usize, usize),
    of: F,
}

impl<F: Fn(c_int) -> Span> Blocks<F> {
    pub(super) fn of(&self, rank: c_int) -> Span {
        (self.of)(rank)
    }
}

impl<F> Blocks<F> {
    /// Whether the program gave the same counts and datatypes for `other`.
    pub(super) fn given_as<G>(&self, other: &Blocks<G>) -> bool {
        self.given == other.given
    }
}

/// Blocks of `count` elements, contiguous in rank order.
///
/// # Safety
/// The blocks that are asked for must be as [`Span::new`] wants them, as those of the functions below.
pub(crate) unsafe fn equal(
    buf: *const c_void,
    count: MPI_Count,
    datatype: MPI_Datatype,
) -> Blocks<impl Fn(c_int) -> Span> {
    let step = LazyCell::new(move || step(datatype).wrapping_mul(count as MPI_Aint));
    // SAFETY: the caller vouches for the blocks.
    let of = move |rank| unsafe { Span::new(at(buf, step.wrapping_mul(rank as MPI_Aint)), count, datatype) };
    Blocks { buf, equal: true, typed: false, given: (count as usize, datatype.key()), of }
}

/// An invalid block, for a null array.
fn none(buf: *const c_void) -> Span {
    // SAFETY: no elements.
    unsafe { Span::new(buf, -1, DATATYPE_NULL) }
}

/// Blocks with counts and displacements of their own, in elements.
///
/// # Safety
/// As for [`equal`]. Both arrays must have an entry for each rank that is asked for, or be null.
pub(crate) unsafe fn varied(
    buf: *const c_void,
    counts: Counts,
    places: Counts,
    datatype: MPI_Datatype,
) -> Blocks<impl Fn(c_int) -> Span> {
    let step = LazyCell::new(move || step(datatype));
    let of = move |rank: c_int| {
        if counts.addr() == 0 || places.addr() == 0 {
            return none(buf);
        }
        // SAFETY: the caller vouches for the arrays and the blocks.
        unsafe {
            let place = places.at(rank as usize);
            Span::new(at(buf, step.wrapping_mul(place)), counts.at(rank as usize), datatype)
        }
    };
    Blocks { buf, equal: false, typed: false, given: (counts.addr(), datatype.key()), of }
}

/// Blocks with counts and datatypes of their own, and displacements in bytes.
///
/// # Safety
/// As for [`varied`].
pub(crate) unsafe fn typed(
    buf: *const c_void,
    counts: Counts,
    places: Counts,
    datatypes: *const MPI_Datatype,
) -> Blocks<impl Fn(c_int) -> Span> {
    let of = move |rank: c_int| {
        if counts.addr() == 0 || places.addr() == 0 || datatypes.is_null() {
            return none(buf);
        }
        let rank = rank as usize;
        // SAFETY: the caller vouches for the arrays and the blocks.
        unsafe { Span::new(at(buf, places.at(rank)), counts.at(rank), *datatypes.add(rank)) }
    };
    Blocks { buf, equal: false, typed: true, given: (counts.addr(), datatypes.addr()), of }
}

/// The buffer may be `MPI_BOTTOM` with absolute addresses as displacements.
fn at(buf: *const c_void, offset: MPI_Aint) -> *const c_void {
    buf.wrapping_byte_add(offset as usize)
}

/// The extent of a datatype; 0 if the MPI does not know it. It would report that to the handler of
/// `MPI_COMM_WORLD`, not of the call's communicator.
pub(super) fn step(datatype: MPI_Datatype) -> MPI_Aint {
    let bounds = is_valid(datatype).then(|| extent(datatype).ok());
    bounds.flatten().map_or(0, |[_, extent]| extent)
}
