//! `MPI_Type_free`, after the layer has dropped what it keeps for the datatype.

use crate::mpi::{arguments, predefined, span::is_valid};
use crate::operations::state::Shim;
use std::ffi::c_int;

handlers! {
    type_free(Type_free): |shim, call, pass| {
        // Null, or the place of a handle.
        if let Some(datatype) = call.datatype.read()
            && predefined::kind(datatype).is_none()
            && is_valid(datatype)
        {
            shim.datatypes.forget(datatype);
        }
        pass()
    };
}
