//! The ABI of MPICH (from 3.1 on) and its derivatives: Intel MPI, MVAPICH, Cray MPICH (the ABI Compatibility Initiative of 2013;
//! `libmpi.so.12`, Debian's `libmpich.so.12`). Handles are integers.

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

pub const COMM_WORLD: MPI_Comm = handle(0x4400_0000);
pub const COMM_SELF: MPI_Comm = handle(0x4400_0001);
pub const COMM_NULL: MPI_Comm = handle(0x0400_0000);
pub const REQUEST_NULL: MPI_Request = handle(0x2c00_0000);
pub const MESSAGE_NULL: MPI_Message = handle(0x2c00_0000);
pub const MESSAGE_NO_PROC: MPI_Message = handle(0x6c00_0000);
pub const DATATYPE_NULL: MPI_Datatype = handle(0x0c00_0000);
pub const BYTE: MPI_Datatype = handle(0x4c00_010d);
pub const PACKED: MPI_Datatype = handle(0x4c00_010f);
pub const UINT64_T: MPI_Datatype = handle(0x4c00_083e);
pub const INT32_T: MPI_Datatype = handle(0x4c00_0439);
pub const INFO_NULL: MPI_Info = handle(0x1c00_0000);
pub const ERRORS_RETURN: MPI_Errhandler = handle(0x5400_0001);
pub const FILE_NULL: MPI_File = ptr::null_mut();
pub const MIN: MPI_Op = handle(0x5800_0002);
pub const SUM: MPI_Op = handle(0x5800_0003);
pub const MAX: MPI_Op = handle(0x5800_0001);
pub const PROD: MPI_Op = handle(0x5800_0004);
pub const LAND: MPI_Op = handle(0x5800_0005);
pub const BAND: MPI_Op = handle(0x5800_0006);
pub const LOR: MPI_Op = handle(0x5800_0007);
pub const BOR: MPI_Op = handle(0x5800_0008);
pub const LXOR: MPI_Op = handle(0x5800_0009);
pub const BXOR: MPI_Op = handle(0x5800_000a);
pub const BOTTOM: *mut c_void = ptr::null_mut();
pub const IN_PLACE: *mut c_void = ptr::without_provenance_mut(usize::MAX);
pub const STATUS_IGNORE: *mut MPI_Status = ptr::without_provenance_mut(1);
pub const STATUSES_IGNORE: *mut MPI_Status = ptr::without_provenance_mut(1);
pub const ANY_SOURCE: c_int = -2;
pub const ANY_TAG: c_int = -1;
pub const TAG_UB: c_int = 0x6440_0001;
pub const PROC_NULL: c_int = -1;
pub const UNDEFINED: c_int = -32766;
pub const KEYVAL_INVALID: c_int = 0x2400_0000;
pub const COMM_TYPE_SHARED: c_int = 1;
pub const THREAD_MULTIPLE: c_int = 3;
pub const SUCCESS: c_int = 0;
pub const ERR_TRUNCATE: c_int = 14;
pub const ERR_IN_STATUS: c_int = 17;
pub const ERR_PENDING: c_int = 18;
pub const ERR_OTHER: c_int = 15;
pub const ERR_REQUEST: c_int = 19;
pub const ERR_INTERN: c_int = 16;
pub const ERR_NO_MEM: c_int = 34;
pub const COMBINER_NAMED: c_int = 1;
pub const COMBINER_F90_REAL: c_int = 15;
pub const COMBINER_F90_COMPLEX: c_int = 16;
pub const COMBINER_F90_INTEGER: c_int = 17;
/// The MPI's combiner constants, and its rules for the bounds of datatypes.
pub const DATATYPES: Abi = Abi::MPICH;
pub const DIALECT: Dialect = Dialect::Mpich;

/// The predefined datatypes without gaps, and the kind of their elements.
pub const PREDEFINED: &[(MPI_Datatype, Kind)] = &[
    (handle(0x4c00_010d), Kind::Other), // MPI_BYTE
    (handle(0x4c00_010f), Kind::Other), // MPI_PACKED
    (handle(0x4c00_0101), Kind::Int8),  // MPI_CHAR
    (handle(0x4c00_0118), Kind::Int8),  // MPI_SIGNED_CHAR
    (handle(0x4c00_0102), Kind::Int8),  // MPI_UNSIGNED_CHAR
    (handle(0x4c00_040e), Kind::Int32), // MPI_WCHAR
    (handle(0x4c00_0203), Kind::Int16), // MPI_SHORT
    (handle(0x4c00_0204), Kind::Int16), // MPI_UNSIGNED_SHORT
    (handle(0x4c00_0405), Kind::Int32), // MPI_INT
    (handle(0x4c00_0406), Kind::Int32), // MPI_UNSIGNED
    (handle(0x4c00_0807), Kind::Int64), // MPI_LONG
    (handle(0x4c00_0808), Kind::Int64), // MPI_UNSIGNED_LONG
    (handle(0x4c00_0809), Kind::Int64), // MPI_LONG_LONG
    (handle(0x4c00_0819), Kind::Int64), // MPI_UNSIGNED_LONG_LONG
    (handle(0x4c00_0137), Kind::Int8),  // MPI_INT8_T
    (handle(0x4c00_013b), Kind::Int8),  // MPI_UINT8_T
    (handle(0x4c00_0238), Kind::Int16), // MPI_INT16_T
    (handle(0x4c00_023c), Kind::Int16), // MPI_UINT16_T
    (handle(0x4c00_0439), Kind::Int32), // MPI_INT32_T
    (handle(0x4c00_043d), Kind::Int32), // MPI_UINT32_T
    (handle(0x4c00_083a), Kind::Int64), // MPI_INT64_T
    (handle(0x4c00_083e), Kind::Int64), // MPI_UINT64_T
    (handle(0x4c00_0843), Kind::Int64), // MPI_AINT
    (handle(0x4c00_0844), Kind::Int64), // MPI_OFFSET
    (handle(0x4c00_0845), Kind::Int64), // MPI_COUNT
    (handle(0x4c00_013f), Kind::Int8),  // MPI_C_BOOL
    (handle(0x4c00_0133), Kind::Int8),  // MPI_CXX_BOOL
    (handle(0x4c00_040a), Kind::F32),   // MPI_FLOAT
    (handle(0x4c00_080b), Kind::F64),   // MPI_DOUBLE
    (handle(0x4c00_100c), Kind::Other), // MPI_LONG_DOUBLE
    (handle(0x4c00_0840), Kind::F32),   // MPI_C_FLOAT_COMPLEX
    (handle(0x4c00_1041), Kind::F64),   // MPI_C_DOUBLE_COMPLEX
    (handle(0x4c00_2042), Kind::Other), // MPI_C_LONG_DOUBLE_COMPLEX
    (handle(0x4c00_0834), Kind::F32),   // MPI_CXX_FLOAT_COMPLEX
    (handle(0x4c00_1035), Kind::F64),   // MPI_CXX_DOUBLE_COMPLEX
    (handle(0x4c00_2036), Kind::Other), // MPI_CXX_LONG_DOUBLE_COMPLEX
    (handle(0x8c00_0000), Kind::Other), // MPI_FLOAT_INT
    (handle(0x4c00_0816), Kind::Int32), // MPI_2INT
    (handle(0x4c00_011a), Kind::Int8),  // MPI_CHARACTER
    (handle(0x4c00_041d), Kind::Int32), // MPI_LOGICAL
    (handle(0x4c00_041b), Kind::Int32), // MPI_INTEGER
    (handle(0x4c00_041c), Kind::F32),   // MPI_REAL
    (handle(0x4c00_081f), Kind::F64),   // MPI_DOUBLE_PRECISION
    (handle(0x4c00_081e), Kind::F32),   // MPI_COMPLEX
    (handle(0x4c00_1022), Kind::F64),   // MPI_DOUBLE_COMPLEX
    (handle(0x4c00_012d), Kind::Int8),  // MPI_INTEGER1
    (handle(0x4c00_022f), Kind::Int16), // MPI_INTEGER2
    (handle(0x4c00_0430), Kind::Int32), // MPI_INTEGER4
    (handle(0x4c00_0831), Kind::Int64), // MPI_INTEGER8
    (handle(0x4c00_0427), Kind::F32),   // MPI_REAL4
    (handle(0x4c00_0829), Kind::F64),   // MPI_REAL8
    (handle(0x4c00_0828), Kind::F32),   // MPI_COMPLEX8
    (handle(0x4c00_102a), Kind::F64),   // MPI_COMPLEX16
    (handle(0x4c00_0820), Kind::Int32), // MPI_2INTEGER
    (handle(0x4c00_0821), Kind::F32),   // MPI_2REAL
    (handle(0x4c00_1023), Kind::F64),   // MPI_2DOUBLE_PRECISION
];
