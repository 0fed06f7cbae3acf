//! The types of the ABI that the shim is built for, and its constants, from `constants.txt`:
//!
//! - that of Open MPI 4 and 5 (`libmpi.so.40`). Handles are addresses; those of predefined objects are addresses of variables of the library, which
//!   the loader fills in (`build/openmpi.rs`).
//! - that of MPICH (from 3.1 on) and its derivatives: Intel MPI, MVAPICH, Cray MPICH (the ABI Compatibility Initiative of 2013; `libmpi.so.12`,
//!   Debian's `libmpich.so.12`). Handles are integers.
//! - that of the MPI 5.0 standard (chapter 20; `libmpi_abi.so.1`): MPICH from 5.0 on, Intel MPI from 2021.18 on. Handles are opaque pointers; those
//!   of predefined objects are small integers.

use mpress::Kind;
use mpress_datatype::{Abi, Dialect};
use std::{ffi::c_int, ffi::c_void, ptr};

/// Handles: integers, or pointers, each of its own type.
macro_rules! handles {
    ($($name:ident = $object:ident;)*) => {$(
        #[cfg(abi = "mpich")]
        pub type $name = c_int;
        #[cfg(not(abi = "mpich"))]
        #[allow(clippy::empty_enums, reason = "only the MPI knows what is there")]
        pub enum $object {}
        #[cfg(not(abi = "mpich"))]
        pub type $name = *mut $object;
    )*};
}

handles! {
    MPI_Comm = Comm;
    MPI_Datatype = Datatype;
    MPI_Errhandler = Errhandler;
    MPI_Group = Group;
    MPI_Info = Info;
    MPI_Message = Message;
    MPI_Op = Op;
    MPI_Request = Request;
    MPI_Session = Session;
    MPI_Win = Win;
}

pub type MPI_File = *mut c_void;

#[cfg(abi = "openmpi")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MPI_Status {
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
    cancelled: c_int,
    ucount: usize,
}

#[cfg(abi = "mpich")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MPI_Status {
    count_lo: c_int,
    count_hi_and_cancelled: c_int,
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
}

#[cfg(abi = "standard")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MPI_Status {
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
    internal: [c_int; 5],
}

/// The handle that is the address of a variable of the MPI.
#[cfg(abi = "openmpi")]
macro_rules! handle {
    ($name:ident) => {{
        unsafe extern "C" {
            static $name: c_void;
        }
        (&raw const $name).cast_mut().cast()
    }};
}

/// The handle with this value: an `int` in `mpi.h`, whatever its highest bit.
#[cfg(abi = "mpich")]
const fn handle(number: u32) -> c_int {
    number.cast_signed()
}

/// The handle of a predefined object.
#[cfg(abi = "standard")]
const fn handle<T>(number: usize) -> *mut T {
    ptr::without_provenance_mut(number)
}

/// The MPI's combiner constants, and its rules for the bounds of datatypes.
#[cfg(abi = "openmpi")]
pub const DATATYPES: Abi = Abi::OPEN_MPI;
#[cfg(abi = "mpich")]
pub const DATATYPES: Abi = Abi::MPICH;
#[cfg(abi = "standard")]
pub const DATATYPES: Abi = Abi::STANDARD;
pub const DIALECT: Dialect = if cfg!(abi = "openmpi") { Dialect::OpenMpi } else { Dialect::Mpich };

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
