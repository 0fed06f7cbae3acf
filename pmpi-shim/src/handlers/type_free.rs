//! `MPI_Type_free`: what is kept for the datatype is dropped first.

use crate::mpi::arguments;
use crate::mpi::predefined;
use crate::mpi::span::is_valid;
use crate::operations::state::Shim;
use std::ffi::c_int;

pub(crate) unsafe fn type_free(shim: &Shim, call: arguments::Type_free, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own argument: null, or the place of a handle.
    if let Some(&datatype) = unsafe { call.datatype.as_ref() }
        && predefined::kind(datatype).is_none()
        && is_valid(datatype)
    {
        shim.datatypes.forget(datatype);
    }
    pass()
}
