//! The numbers that MPIs assign to constructors, orders and distributions.

use super::contents::count;
use super::{Distribution, Order};
use crate::Error;

/// The numbers that an MPI's `mpi.h` assigns to constructors (`MPI_COMBINER_...`), orders and distributions.
///
/// A layer for an MPI with another ABI supplies its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each field is the constant of its name")]
pub struct Abi {
    pub combiner_named: i32,
    pub combiner_dup: i32,
    pub combiner_contiguous: i32,
    pub combiner_vector: i32,
    pub combiner_hvector: i32,
    pub combiner_indexed: i32,
    pub combiner_hindexed: i32,
    pub combiner_indexed_block: i32,
    pub combiner_hindexed_block: i32,
    pub combiner_struct: i32,
    pub combiner_subarray: i32,
    pub combiner_darray: i32,
    pub combiner_resized: i32,
    pub order_c: i32,
    pub order_fortran: i32,
    pub distribute_none: i32,
    pub distribute_block: i32,
    pub distribute_cyclic: i32,
    pub distribute_dflt_darg: i32,
}

impl Abi {
    /// Open MPI 4 and 5.
    pub const OPEN_MPI: Self = Self {
        combiner_named: 0,
        combiner_dup: 1,
        combiner_contiguous: 2,
        combiner_vector: 3,
        combiner_hvector: 5,
        combiner_indexed: 6,
        combiner_hindexed: 8,
        combiner_indexed_block: 9,
        combiner_hindexed_block: 18,
        combiner_struct: 11,
        combiner_subarray: 12,
        combiner_darray: 13,
        combiner_resized: 17,
        order_c: 0,
        order_fortran: 1,
        distribute_none: 2,
        distribute_block: 0,
        distribute_cyclic: 1,
        distribute_dflt_darg: -1,
    };

    /// MPICH and the MPIs that share its ABI.
    pub const MPICH: Self = Self {
        combiner_named: 1,
        combiner_dup: 2,
        combiner_contiguous: 3,
        combiner_vector: 4,
        combiner_hvector: 6,
        combiner_indexed: 7,
        combiner_hindexed: 9,
        combiner_indexed_block: 10,
        combiner_hindexed_block: 19,
        combiner_struct: 12,
        combiner_subarray: 13,
        combiner_darray: 14,
        combiner_resized: 18,
        order_c: 56,
        order_fortran: 57,
        distribute_none: 123,
        distribute_block: 121,
        distribute_cyclic: 122,
        distribute_dflt_darg: -49767,
    };

    /// The ABI of MPI 5.0 (chapter 20).
    pub const STANDARD: Self = Self {
        combiner_named: 101,
        combiner_dup: 102,
        combiner_contiguous: 103,
        combiner_vector: 104,
        combiner_hvector: 105,
        combiner_indexed: 106,
        combiner_hindexed: 107,
        combiner_indexed_block: 108,
        combiner_hindexed_block: 109,
        combiner_struct: 110,
        combiner_subarray: 111,
        combiner_darray: 112,
        combiner_resized: 116,
        order_c: 12,
        order_fortran: 15,
        distribute_none: 16,
        distribute_block: 17,
        distribute_cyclic: 18,
        distribute_dflt_darg: 19,
    };

    pub(super) fn order(&self, order: i32) -> Result<Order, Error> {
        match order {
            order if order == self.order_c => Ok(Order::C),
            order if order == self.order_fortran => Ok(Order::Fortran),
            _ => Err(Error::Argument),
        }
    }

    pub(super) fn distribution(&self, distribution: i32, argument: i32) -> Result<Distribution, Error> {
        let len = || if argument == self.distribute_dflt_darg { Ok(None) } else { count(argument).map(Some) };
        match distribution {
            none if none == self.distribute_none => Ok(Distribution::None),
            block if block == self.distribute_block => Ok(Distribution::Block(len()?)),
            cyclic if cyclic == self.distribute_cyclic => Ok(Distribution::Cyclic(len()?)),
            _ => Err(Error::Argument),
        }
    }
}
