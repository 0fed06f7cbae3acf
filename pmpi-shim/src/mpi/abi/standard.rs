//! The ABI of the MPI 5.0 standard (chapter 20; `libmpi_abi.so.1`): MPICH from 5.0 on, Intel MPI from 2021.18 on. Handles are opaque
//! pointers; those of predefined objects are small integers.

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

pub const COMM_WORLD: MPI_Comm = handle(0x101);
pub const COMM_SELF: MPI_Comm = handle(0x102);
pub const COMM_NULL: MPI_Comm = handle(0x100);
pub const REQUEST_NULL: MPI_Request = handle(0x180);
pub const MESSAGE_NULL: MPI_Message = handle(0x128);
pub const MESSAGE_NO_PROC: MPI_Message = handle(0x129);
pub const DATATYPE_NULL: MPI_Datatype = handle(0x200);
pub const BYTE: MPI_Datatype = handle(0x247);
pub const PACKED: MPI_Datatype = handle(0x207);
pub const UINT64_T: MPI_Datatype = handle(0x259);
pub const INT32_T: MPI_Datatype = handle(0x250);
pub const INFO_NULL: MPI_Info = handle(0x130);
pub const ERRORS_RETURN: MPI_Errhandler = handle(0x143);
pub const FILE_NULL: MPI_File = handle(0x118);
pub const MIN: MPI_Op = handle(0x022);
pub const SUM: MPI_Op = handle(0x021);
pub const MAX: MPI_Op = handle(0x023);
pub const PROD: MPI_Op = handle(0x024);
pub const LAND: MPI_Op = handle(0x030);
pub const BAND: MPI_Op = handle(0x028);
pub const LOR: MPI_Op = handle(0x031);
pub const BOR: MPI_Op = handle(0x029);
pub const LXOR: MPI_Op = handle(0x032);
pub const BXOR: MPI_Op = handle(0x02a);
pub const BOTTOM: *mut c_void = ptr::null_mut();
pub const IN_PLACE: *mut c_void = ptr::without_provenance_mut(1);
pub const STATUS_IGNORE: *mut MPI_Status = ptr::null_mut();
pub const STATUSES_IGNORE: *mut MPI_Status = ptr::null_mut();
pub const ANY_SOURCE: c_int = -1;
pub const ANY_TAG: c_int = -2;
pub const TAG_UB: c_int = 501;
pub const PROC_NULL: c_int = -3;
pub const UNDEFINED: c_int = -32766;
pub const KEYVAL_INVALID: c_int = 0;
pub const COMM_TYPE_SHARED: c_int = 221;
pub const THREAD_MULTIPLE: c_int = 4096;
pub const SUCCESS: c_int = 0;
pub const ERR_TRUNCATE: c_int = 15;
pub const ERR_IN_STATUS: c_int = 19;
pub const ERR_PENDING: c_int = 18;
pub const ERR_OTHER: c_int = 16;
pub const ERR_REQUEST: c_int = 7;
pub const ERR_INTERN: c_int = 17;
pub const ERR_NO_MEM: c_int = 39;
pub const COMBINER_NAMED: c_int = 101;
pub const COMBINER_F90_REAL: c_int = 113;
pub const COMBINER_F90_COMPLEX: c_int = 114;
pub const COMBINER_F90_INTEGER: c_int = 115;
/// The MPI's combiner constants, and its rules for the bounds of datatypes.
pub const DATATYPES: Abi = Abi::STANDARD;
pub const DIALECT: Dialect = Dialect::Mpich;

/// The predefined datatypes without gaps, and the kind of their elements.
pub const PREDEFINED: &[(MPI_Datatype, Kind)] = &[
    (handle(0x247), Kind::Other), // MPI_BYTE
    (handle(0x207), Kind::Other), // MPI_PACKED
    (handle(0x243), Kind::Int8),  // MPI_CHAR
    (handle(0x244), Kind::Int8),  // MPI_SIGNED_CHAR
    (handle(0x245), Kind::Int8),  // MPI_UNSIGNED_CHAR
    (handle(0x23c), Kind::Int32), // MPI_WCHAR
    (handle(0x208), Kind::Int16), // MPI_SHORT
    (handle(0x20c), Kind::Int16), // MPI_UNSIGNED_SHORT
    (handle(0x209), Kind::Int32), // MPI_INT
    (handle(0x20d), Kind::Int32), // MPI_UNSIGNED
    (handle(0x20a), Kind::Int64), // MPI_LONG
    (handle(0x20e), Kind::Int64), // MPI_UNSIGNED_LONG
    (handle(0x20b), Kind::Int64), // MPI_LONG_LONG
    (handle(0x20f), Kind::Int64), // MPI_UNSIGNED_LONG_LONG
    (handle(0x240), Kind::Int8),  // MPI_INT8_T
    (handle(0x241), Kind::Int8),  // MPI_UINT8_T
    (handle(0x248), Kind::Int16), // MPI_INT16_T
    (handle(0x249), Kind::Int16), // MPI_UINT16_T
    (handle(0x250), Kind::Int32), // MPI_INT32_T
    (handle(0x251), Kind::Int32), // MPI_UINT32_T
    (handle(0x258), Kind::Int64), // MPI_INT64_T
    (handle(0x259), Kind::Int64), // MPI_UINT64_T
    (handle(0x201), Kind::Int64), // MPI_AINT
    (handle(0x203), Kind::Int64), // MPI_OFFSET
    (handle(0x202), Kind::Int64), // MPI_COUNT
    (handle(0x238), Kind::Int8),  // MPI_C_BOOL
    (handle(0x239), Kind::Int8),  // MPI_CXX_BOOL
    (handle(0x210), Kind::F32),   // MPI_FLOAT
    (handle(0x214), Kind::F64),   // MPI_DOUBLE
    (handle(0x220), Kind::Other), // MPI_LONG_DOUBLE
    (handle(0x212), Kind::F32),   // MPI_C_FLOAT_COMPLEX
    (handle(0x216), Kind::F64),   // MPI_C_DOUBLE_COMPLEX
    (handle(0x224), Kind::Other), // MPI_C_LONG_DOUBLE_COMPLEX
    (handle(0x213), Kind::F32),   // MPI_CXX_FLOAT_COMPLEX
    (handle(0x217), Kind::F64),   // MPI_CXX_DOUBLE_COMPLEX
    (handle(0x225), Kind::Other), // MPI_CXX_LONG_DOUBLE_COMPLEX
    (handle(0x228), Kind::Other), // MPI_FLOAT_INT
    (handle(0x22b), Kind::Int32), // MPI_2INT
    (handle(0x21e), Kind::Int8),  // MPI_CHARACTER
    (handle(0x218), Kind::Int32), // MPI_LOGICAL
    (handle(0x219), Kind::Int32), // MPI_INTEGER
    (handle(0x21a), Kind::F32),   // MPI_REAL
    (handle(0x21c), Kind::F64),   // MPI_DOUBLE_PRECISION
    (handle(0x21b), Kind::F32),   // MPI_COMPLEX
    (handle(0x21d), Kind::F64),   // MPI_DOUBLE_COMPLEX
    (handle(0x2c1), Kind::Int8),  // MPI_INTEGER1
    (handle(0x2c9), Kind::Int16), // MPI_INTEGER2
    (handle(0x2d1), Kind::Int32), // MPI_INTEGER4
    (handle(0x2d9), Kind::Int64), // MPI_INTEGER8
    (handle(0x2d2), Kind::F32),   // MPI_REAL4
    (handle(0x2da), Kind::F64),   // MPI_REAL8
    (handle(0x2db), Kind::F32),   // MPI_COMPLEX8
    (handle(0x2e3), Kind::F64),   // MPI_COMPLEX16
    (handle(0x232), Kind::Int32), // MPI_2INTEGER
    (handle(0x230), Kind::F32),   // MPI_2REAL
    (handle(0x231), Kind::F64),   // MPI_2DOUBLE_PRECISION
];
