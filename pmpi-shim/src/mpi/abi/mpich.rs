//! The ABI of MPICH (from 3.1 on) and its derivatives: Intel MPI, MVAPICH, Cray MPICH (the ABI Compatibility
//! Initiative of 2013; `libmpi.so.12`, Debian's `libmpich.so.12`). Handles are integers.

use super::{Abi, Dialect, Kind};
use std::ffi::{c_int, c_void};
use std::ptr;

pub type MPI_Comm = c_int;
pub type MPI_Datatype = c_int;
pub type MPI_Errhandler = c_int;
pub type MPI_File = *mut c_void;
pub type MPI_Group = c_int;
pub type MPI_Info = c_int;
pub type MPI_Message = c_int;
pub type MPI_Op = c_int;
pub type MPI_Request = c_int;
pub type MPI_Session = c_int;
pub type MPI_Win = c_int;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MPI_Status {
    count_lo: c_int,
    count_hi_and_cancelled: c_int,
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
}

/// The handle with this value: an `int` in `mpi.h`, whatever its highest bit.
const fn handle(number: u32) -> c_int {
    number.cast_signed()
}

/// The MPI's combiner constants, and its rules for the bounds of datatypes.
pub const DATATYPES: Abi = Abi::MPICH;
pub const DIALECT: Dialect = Dialect::Mpich;

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
