//! The calls that have a handler, and their large-count forms, generated from `calls.txt` and `functions.txt`: both the functions that the shim
//! exports to C and those for programs with a layer of their own. Without a layer, a call is passed on at once.

#![allow(non_snake_case, reason = "the names are those of MPI")]
#![allow(clippy::too_many_arguments, reason = "MPI's own lists")]

use crate::mpi::{arguments, arguments::Out, open, sys::*};
use crate::operations::state::Shim;

/// The handler of each call, by its name.
mod handlers {
    pub(super) use crate::collectives::handlers::*;
    pub(super) use crate::handlers::{
        completion::*, info::*, matched_probe::*, packing::*, persistent::*, probe::*,
    };
    pub(super) use crate::handlers::{recv::*, send::*, sendrecv::*};
}

include!(concat!(env!("OUT_DIR"), "/calls.rs"));
