//! The ABI of Open MPI 4 and 5 (`libmpi.so.40`). Handles are addresses; those of predefined objects are
//! addresses of variables of the library, which the loader fills in (`build/openmpi.rs`).

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
    cancelled: c_int,
    ucount: usize,
}

/// The handle that is the address of a variable of the MPI.
macro_rules! handle {
    ($name:ident) => {{
        unsafe extern "C" {
            static $name: c_void;
        }
        (&raw const $name).cast_mut().cast()
    }};
}

/// The MPI's combiner constants, and its rules for the bounds of datatypes.
pub const DATATYPES: Abi = Abi::OPEN_MPI;
pub const DIALECT: Dialect = Dialect::OpenMpi;

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
