//! MPI: the types and constants of the ABI that this shim is built for, and the functions of the MPI that is loaded.
#![allow(non_camel_case_types, non_snake_case, reason = "the names are those of MPI")]

use crate::symbol::Symbol;
use mpress::Kind;
use mpress_datatype::{Abi, Dialect};
use std::ffi::{c_char, c_int, c_void};

#[cfg_attr(abi = "openmpi", path = "abi/openmpi.rs")]
#[cfg_attr(abi = "mpich", path = "abi/mpich.rs")]
#[cfg_attr(abi = "standard", path = "abi/standard.rs")]
#[allow(missing_docs, dead_code, unreachable_pub, reason = "MPI's own")]
mod abi;

#[cfg(not(abi = "mpich"))]
#[path = "abi/pointers.rs"]
#[allow(missing_docs, dead_code, unreachable_pub, reason = "MPI's own")]
mod pointers;

pub use abi::*;

/// Types that are the same in every ABI.
pub(crate) type MPI_Aint = i64;
pub(crate) type MPI_Count = i64;
pub(crate) type MPI_Offset = i64;
pub(crate) type MPI_Comm_copy_attr_function =
    Option<unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int>;
pub(crate) type MPI_Comm_delete_attr_function =
    Option<unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int>;
pub(crate) type MPI_Type_copy_attr_function = Option<
    unsafe extern "C" fn(MPI_Datatype, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int,
>;
pub(crate) type MPI_Type_delete_attr_function =
    Option<unsafe extern "C" fn(MPI_Datatype, c_int, *mut c_void, *mut c_void) -> c_int>;
pub(crate) type MPI_Grequest_query_function =
    Option<unsafe extern "C" fn(*mut c_void, *mut MPI_Status) -> c_int>;
pub(crate) type MPI_Grequest_free_function = Option<unsafe extern "C" fn(*mut c_void) -> c_int>;
pub(crate) type MPI_Grequest_cancel_function = Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>;

/// The functions of the MPI, by their second name: `MPI_ERR_INTERN` is the answer of those that it does not have.
macro_rules! functions {
    ($($name:ident ($($arg:ident: $ty:ty),*);)*) => {
        $(
            #[allow(clippy::too_many_arguments, dead_code, reason = "MPI's own list")]
            pub(crate) unsafe fn $name($($arg: $ty),*) -> c_int {
                // An error handler in C++ may throw.
                type Function = unsafe extern "C-unwind" fn($($ty),*) -> c_int;
                static SYMBOL: Symbol = Symbol::of(concat!(stringify!($name), "\0"));
                let Some(address) = SYMBOL.get() else { return ERR_INTERN };
                // SAFETY: the function of this name has this type, as the standard says.
                let function: Function = unsafe { std::mem::transmute::<*mut c_void, Function>(address) };
                // SAFETY: the caller gives what the MPI function asks for.
                unsafe { function($($arg),*) }
            }
        )*
    };
}

include!(concat!(env!("OUT_DIR"), "/functions.rs"));

/// Whether the MPI has the forms of its functions whose counts are `MPI_Count`.
pub(crate) fn has_large_counts() -> bool {
    static SEND: Symbol = Symbol::of("PMPI_Send_c\0");
    SEND.get().is_some()
}

/// The handler that makes functions return their errors. Asked of the MPI, whose files have it until the program says otherwise (MPI
/// 3.1, section 13.7): the ABI of Intel MPI 2021.18 has another constant than the standard.
pub(crate) fn errors_return() -> MPI_Errhandler {
    let mut handler = ERRORS_RETURN;
    // SAFETY: a valid output pointer; no file has the default. An MPI that was built without files says that it has none.
    if unsafe { PMPI_File_get_errhandler(FILE_NULL, &raw mut handler) } == SUCCESS {
        handler
    } else {
        ERRORS_RETURN
    }
}

/// A status with nothing in it.
pub(crate) fn empty_status() -> MPI_Status {
    // SAFETY: a C struct of integers; all zero is a value of it.
    unsafe { std::mem::zeroed() }
}

/// A code as a result: `Err` for anything but success.
pub(crate) fn ok(code: c_int) -> Result<(), c_int> {
    if code == SUCCESS { Ok(()) } else { Err(code) }
}
