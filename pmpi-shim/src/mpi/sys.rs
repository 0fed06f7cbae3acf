//! MPI: the types and constants of the ABI that this shim is built for, and the functions of the loaded MPI.
#![allow(non_camel_case_types, non_snake_case, reason = "the names are those of MPI")]

use crate::mpi::symbol::Symbol;
pub(crate) use std::ffi::{c_char, c_int, c_void};

use std::ffi::CStr;

#[path = "abi/types.rs"]
#[allow(missing_docs, dead_code, unreachable_pub, reason = "MPI's own")]
mod abi;

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

/// The functions of the MPI, by their `PMPI` names; those that it lacks return `MPI_ERR_INTERN`.
macro_rules! functions {
    ($($([$unsafe:tt])? $name:ident ($($arg:ident: $ty:ty),*);)*) => {
        $(
            #[allow(clippy::too_many_arguments, dead_code, reason = "MPI's own list")]
            pub(crate) $($unsafe)? fn $name($($arg: $ty),*) -> c_int {
                // An error handler in C++ may throw.
                type Function = unsafe extern "C-unwind" fn($($ty),*) -> c_int;
                static SYMBOL: Symbol = Symbol::of(concat!(stringify!($name), "\0"));
                let Some(address) = SYMBOL.get() else { return ERR_INTERN };
                // SAFETY: the function of this name has this type, by the standard.
                let function: Function = unsafe { std::mem::transmute::<*mut c_void, Function>(address) };
                // SAFETY: the caller fulfils the requirements of the MPI function, or it has none (`handle`).
                unsafe { function($($arg),*) }
            }
        )*
    };
}

include!(concat!(env!("OUT_DIR"), "/functions.rs"));

/// The handler that makes functions return their errors. It is obtained as the default of files, which lasts until the program changes it (MPI 3.1,
/// section 13.7), since the constant in Intel MPI 2021.18's ABI differs from the standard's.
pub(crate) fn errors_return() -> MPI_Errhandler {
    let mut handler = ERRORS_RETURN;
    // The null file has the default handler. An MPI built without files returns an error.
    if PMPI_File_get_errhandler(FILE_NULL, &mut handler) == SUCCESS { handler } else { ERRORS_RETURN }
}

/// What a receive or a probe asks for.
#[derive(Clone, Copy)]
pub(crate) struct Match {
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) comm: MPI_Comm,
}

/// The size in bytes of a datatype that the MPI knows.
pub(crate) fn type_size(datatype: MPI_Datatype) -> Option<usize> {
    let mut size: MPI_Count = 0;
    ok(PMPI_Type_size_x(datatype, &mut size)).ok()?;
    usize::try_from(size).ok()
}

/// This process's rank in a communicator, and the number of its ranks.
pub(crate) fn rank_and_size(comm: MPI_Comm) -> Result<(c_int, c_int), c_int> {
    let (mut rank, mut size) = (0, 0);
    ok(PMPI_Comm_rank(comm, &mut rank))?;
    ok(PMPI_Comm_size(comm, &mut size))?;
    Ok((rank, size))
}

pub(crate) fn empty_status() -> MPI_Status {
    // SAFETY: a C struct of integers; all zero is valid.
    unsafe { std::mem::zeroed() }
}

/// The callback of an attribute that duplicates of a communicator or datatype do not inherit: they determine their own.
pub(crate) unsafe extern "C" fn not_copied<H>(
    _: H,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI gives a valid output pointer.
    unsafe { *flag = 0 };
    SUCCESS
}

/// What a function of the MPI writes, such as a name; `None` for an error. It may have up to 8192 bytes (the version of MPICH).
pub(crate) fn written(write: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> Option<String> {
    let (mut text, mut len) = ([0_u8; 8193], 0);
    let code = write(text.as_mut_ptr().cast(), &raw mut len);
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    (code == SUCCESS).then(|| text.to_string_lossy().into_owned())
}

/// A code as a result: `Err` for anything but success.
pub(crate) fn ok(code: c_int) -> Result<(), c_int> {
    if code == SUCCESS { Ok(()) } else { Err(code) }
}
