//! The ABI of the MPI 5.0 standard (chapter 20; `libmpi_abi.so.1`): MPICH from 5.0 on, Intel MPI from 2021.18
//! on. Handles are opaque pointers; those of predefined objects are small integers.

use super::{Abi, Dialect, Kind};
use std::ffi::{c_int, c_void};
use std::ptr;

pub use super::pointers::*;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MPI_Status {
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
    internal: [c_int; 5],
}

/// The handle of a predefined object.
const fn handle<T>(number: usize) -> *mut T {
    ptr::without_provenance_mut(number)
}

/// The MPI's combiner constants, and its rules for the bounds of datatypes.
pub const DATATYPES: Abi = Abi::STANDARD;
pub const DIALECT: Dialect = Dialect::Mpich;

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
