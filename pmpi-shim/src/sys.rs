//! Types, functions and constants of the MPI this shim is built for.
#![allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    unreachable_pub,
    clippy::all,
    reason = "generated from mpi.h"
)]

use std::ffi::{c_int, c_void};

include!(concat!(env!("OUT_DIR"), "/mpi.rs"));

/// One row of the list of predefined datatypes.
#[repr(C)]
pub struct Predefined {
    pub datatype: MPI_Datatype,
    pub kind: c_int,
}

macro_rules! constants {
    ($($name:ident = $link:literal: $type:ty),* $(,)?) => {
        // SAFETY: constants.c defines each of these with this type, and nothing writes to them.
        unsafe extern "C" {
            $(#[link_name = $link] pub safe static $name: $type;)*
        }
    };
}

constants! {
    COMM_WORLD = "mpress_COMM_WORLD": MPI_Comm,
    COMM_SELF = "mpress_COMM_SELF": MPI_Comm,
    COMM_NULL = "mpress_COMM_NULL": MPI_Comm,
    REQUEST_NULL = "mpress_REQUEST_NULL": MPI_Request,
    MESSAGE_NULL = "mpress_MESSAGE_NULL": MPI_Message,
    MESSAGE_NO_PROC = "mpress_MESSAGE_NO_PROC": MPI_Message,
    DATATYPE_NULL = "mpress_DATATYPE_NULL": MPI_Datatype,
    BYTE = "mpress_BYTE": MPI_Datatype,
    UINT64 = "mpress_UINT64": MPI_Datatype,
    INT32 = "mpress_INT32": MPI_Datatype,
    ERRORS_RETURN = "mpress_ERRORS_RETURN": MPI_Errhandler,
    INFO_NULL = "mpress_INFO_NULL": MPI_Info,
    MIN = "mpress_MIN": MPI_Op,
    SUM = "mpress_SUM": MPI_Op,
    BOTTOM = "mpress_BOTTOM": *mut c_void,
    IN_PLACE = "mpress_IN_PLACE": *mut c_void,
    STATUS_IGNORE = "mpress_STATUS_IGNORE": *mut MPI_Status,
    STATUSES_IGNORE = "mpress_STATUSES_IGNORE": *mut MPI_Status,
    ANY_SOURCE = "mpress_ANY_SOURCE": c_int,
    ANY_TAG = "mpress_ANY_TAG": c_int,
    TAG_UB = "mpress_TAG_UB": c_int,
    PROC_NULL = "mpress_PROC_NULL": c_int,
    UNDEFINED = "mpress_UNDEFINED": c_int,
    KEYVAL_INVALID = "mpress_KEYVAL_INVALID": c_int,
    COMM_TYPE_SHARED = "mpress_COMM_TYPE_SHARED": c_int,
    THREAD_MULTIPLE = "mpress_THREAD_MULTIPLE": c_int,
    SUCCESS = "mpress_SUCCESS": c_int,
    ERR_TRUNCATE = "mpress_ERR_TRUNCATE": c_int,
    ERR_IN_STATUS = "mpress_ERR_IN_STATUS": c_int,
    ERR_PENDING = "mpress_ERR_PENDING": c_int,
    ERR_OTHER = "mpress_ERR_OTHER": c_int,
    ERR_REQUEST = "mpress_ERR_REQUEST": c_int,
    ERR_INTERN = "mpress_ERR_INTERN": c_int,
    ERR_NO_MEM = "mpress_ERR_NO_MEM": c_int,
    COMBINER_NAMED = "mpress_COMBINER_NAMED": c_int,
    COMBINER_DUP = "mpress_COMBINER_DUP": c_int,
    COMBINER_CONTIGUOUS = "mpress_COMBINER_CONTIGUOUS": c_int,
    predefined_count = "mpress_predefined_count": c_int,
    predefined_first = "mpress_predefined": Predefined,
}

/// A status with nothing in it.
pub fn empty_status() -> MPI_Status {
    // SAFETY: a C struct of integers; all zero is a value of it.
    unsafe { std::mem::zeroed() }
}

/// A code as a result: `Err` for anything but success.
pub fn ok(code: c_int) -> Result<(), c_int> {
    if code == SUCCESS { Ok(()) } else { Err(code) }
}
