//! The ABI of Open MPI 4 and 5 (`libmpi.so.40`). Handles are addresses; those of predefined objects are addresses of variables of the
//! library, which the loader fills in (`build/openmpi.rs`).

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

pub const COMM_WORLD: MPI_Comm = handle!(ompi_mpi_comm_world);
pub const COMM_SELF: MPI_Comm = handle!(ompi_mpi_comm_self);
pub const COMM_NULL: MPI_Comm = handle!(ompi_mpi_comm_null);
pub const REQUEST_NULL: MPI_Request = handle!(ompi_request_null);
pub const MESSAGE_NULL: MPI_Message = handle!(ompi_message_null);
pub const MESSAGE_NO_PROC: MPI_Message = handle!(ompi_message_no_proc);
pub const DATATYPE_NULL: MPI_Datatype = handle!(ompi_mpi_datatype_null);
pub const BYTE: MPI_Datatype = handle!(ompi_mpi_byte);
pub const PACKED: MPI_Datatype = handle!(ompi_mpi_packed);
pub const UINT64_T: MPI_Datatype = handle!(ompi_mpi_uint64_t);
pub const INT32_T: MPI_Datatype = handle!(ompi_mpi_int32_t);
pub const INFO_NULL: MPI_Info = handle!(ompi_mpi_info_null);
pub const ERRORS_RETURN: MPI_Errhandler = handle!(ompi_mpi_errors_return);
pub const FILE_NULL: MPI_File = handle!(ompi_mpi_file_null);
pub const MIN: MPI_Op = handle!(ompi_mpi_op_min);
pub const SUM: MPI_Op = handle!(ompi_mpi_op_sum);
pub const MAX: MPI_Op = handle!(ompi_mpi_op_max);
pub const PROD: MPI_Op = handle!(ompi_mpi_op_prod);
pub const LAND: MPI_Op = handle!(ompi_mpi_op_land);
pub const BAND: MPI_Op = handle!(ompi_mpi_op_band);
pub const LOR: MPI_Op = handle!(ompi_mpi_op_lor);
pub const BOR: MPI_Op = handle!(ompi_mpi_op_bor);
pub const LXOR: MPI_Op = handle!(ompi_mpi_op_lxor);
pub const BXOR: MPI_Op = handle!(ompi_mpi_op_bxor);
pub const BOTTOM: *mut c_void = ptr::null_mut();
pub const IN_PLACE: *mut c_void = ptr::without_provenance_mut(1);
pub const STATUS_IGNORE: *mut MPI_Status = ptr::null_mut();
pub const STATUSES_IGNORE: *mut MPI_Status = ptr::null_mut();
pub const ANY_SOURCE: c_int = -1;
pub const ANY_TAG: c_int = -1;
pub const TAG_UB: c_int = 0;
pub const PROC_NULL: c_int = -2;
pub const UNDEFINED: c_int = -32766;
pub const KEYVAL_INVALID: c_int = -1;
pub const COMM_TYPE_SHARED: c_int = 0;
pub const THREAD_MULTIPLE: c_int = 3;
pub const SUCCESS: c_int = 0;
pub const ERR_TRUNCATE: c_int = 15;
pub const ERR_IN_STATUS: c_int = 18;
pub const ERR_PENDING: c_int = 19;
pub const ERR_OTHER: c_int = 16;
pub const ERR_REQUEST: c_int = 7;
pub const ERR_INTERN: c_int = 17;
pub const ERR_NO_MEM: c_int = 39;
pub const COMBINER_NAMED: c_int = 0;
pub const COMBINER_F90_REAL: c_int = 14;
pub const COMBINER_F90_COMPLEX: c_int = 15;
pub const COMBINER_F90_INTEGER: c_int = 16;
/// The MPI's combiner constants, and its rules for the bounds of datatypes.
pub const DATATYPES: Abi = Abi::OPEN_MPI;
pub const DIALECT: Dialect = Dialect::OpenMpi;

/// The predefined datatypes without gaps, and the kind of their elements.
pub const PREDEFINED: &[(MPI_Datatype, Kind)] = &[
    (handle!(ompi_mpi_byte), Kind::Other),                  // MPI_BYTE
    (handle!(ompi_mpi_packed), Kind::Other),                // MPI_PACKED
    (handle!(ompi_mpi_char), Kind::Int8),                   // MPI_CHAR
    (handle!(ompi_mpi_signed_char), Kind::Int8),            // MPI_SIGNED_CHAR
    (handle!(ompi_mpi_unsigned_char), Kind::Int8),          // MPI_UNSIGNED_CHAR
    (handle!(ompi_mpi_wchar), Kind::Int32),                 // MPI_WCHAR
    (handle!(ompi_mpi_short), Kind::Int16),                 // MPI_SHORT
    (handle!(ompi_mpi_unsigned_short), Kind::Int16),        // MPI_UNSIGNED_SHORT
    (handle!(ompi_mpi_int), Kind::Int32),                   // MPI_INT
    (handle!(ompi_mpi_unsigned), Kind::Int32),              // MPI_UNSIGNED
    (handle!(ompi_mpi_long), Kind::Int64),                  // MPI_LONG
    (handle!(ompi_mpi_unsigned_long), Kind::Int64),         // MPI_UNSIGNED_LONG
    (handle!(ompi_mpi_long_long_int), Kind::Int64),         // MPI_LONG_LONG
    (handle!(ompi_mpi_unsigned_long_long), Kind::Int64),    // MPI_UNSIGNED_LONG_LONG
    (handle!(ompi_mpi_int8_t), Kind::Int8),                 // MPI_INT8_T
    (handle!(ompi_mpi_uint8_t), Kind::Int8),                // MPI_UINT8_T
    (handle!(ompi_mpi_int16_t), Kind::Int16),               // MPI_INT16_T
    (handle!(ompi_mpi_uint16_t), Kind::Int16),              // MPI_UINT16_T
    (handle!(ompi_mpi_int32_t), Kind::Int32),               // MPI_INT32_T
    (handle!(ompi_mpi_uint32_t), Kind::Int32),              // MPI_UINT32_T
    (handle!(ompi_mpi_int64_t), Kind::Int64),               // MPI_INT64_T
    (handle!(ompi_mpi_uint64_t), Kind::Int64),              // MPI_UINT64_T
    (handle!(ompi_mpi_aint), Kind::Int64),                  // MPI_AINT
    (handle!(ompi_mpi_offset), Kind::Int64),                // MPI_OFFSET
    (handle!(ompi_mpi_count), Kind::Int64),                 // MPI_COUNT
    (handle!(ompi_mpi_c_bool), Kind::Int8),                 // MPI_C_BOOL
    (handle!(ompi_mpi_cxx_bool), Kind::Int8),               // MPI_CXX_BOOL
    (handle!(ompi_mpi_float), Kind::F32),                   // MPI_FLOAT
    (handle!(ompi_mpi_double), Kind::F64),                  // MPI_DOUBLE
    (handle!(ompi_mpi_long_double), Kind::Other),           // MPI_LONG_DOUBLE
    (handle!(ompi_mpi_c_float_complex), Kind::F32),         // MPI_C_FLOAT_COMPLEX
    (handle!(ompi_mpi_c_double_complex), Kind::F64),        // MPI_C_DOUBLE_COMPLEX
    (handle!(ompi_mpi_c_long_double_complex), Kind::Other), // MPI_C_LONG_DOUBLE_COMPLEX
    (handle!(ompi_mpi_cxx_cplex), Kind::F32),               // MPI_CXX_FLOAT_COMPLEX
    (handle!(ompi_mpi_cxx_dblcplex), Kind::F64),            // MPI_CXX_DOUBLE_COMPLEX
    (handle!(ompi_mpi_cxx_ldblcplex), Kind::Other),         // MPI_CXX_LONG_DOUBLE_COMPLEX
    (handle!(ompi_mpi_float_int), Kind::Other),             // MPI_FLOAT_INT
    (handle!(ompi_mpi_2int), Kind::Int32),                  // MPI_2INT
    (handle!(ompi_mpi_character), Kind::Int8),              // MPI_CHARACTER
    (handle!(ompi_mpi_logical), Kind::Int32),               // MPI_LOGICAL
    (handle!(ompi_mpi_integer), Kind::Int32),               // MPI_INTEGER
    (handle!(ompi_mpi_real), Kind::F32),                    // MPI_REAL
    (handle!(ompi_mpi_dblprec), Kind::F64),                 // MPI_DOUBLE_PRECISION
    (handle!(ompi_mpi_cplex), Kind::F32),                   // MPI_COMPLEX
    (handle!(ompi_mpi_dblcplex), Kind::F64),                // MPI_DOUBLE_COMPLEX
    (handle!(ompi_mpi_integer1), Kind::Int8),               // MPI_INTEGER1
    (handle!(ompi_mpi_integer2), Kind::Int16),              // MPI_INTEGER2
    (handle!(ompi_mpi_integer4), Kind::Int32),              // MPI_INTEGER4
    (handle!(ompi_mpi_integer8), Kind::Int64),              // MPI_INTEGER8
    (handle!(ompi_mpi_real4), Kind::F32),                   // MPI_REAL4
    (handle!(ompi_mpi_real8), Kind::F64),                   // MPI_REAL8
    (handle!(ompi_mpi_complex8), Kind::F32),                // MPI_COMPLEX8
    (handle!(ompi_mpi_complex16), Kind::F64),               // MPI_COMPLEX16
    (handle!(ompi_mpi_2integer), Kind::Int32),              // MPI_2INTEGER
    (handle!(ompi_mpi_2real), Kind::F32),                   // MPI_2REAL
    (handle!(ompi_mpi_2dblprec), Kind::F64),                // MPI_2DOUBLE_PRECISION
];
