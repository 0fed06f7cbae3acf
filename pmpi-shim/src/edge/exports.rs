//! The functions `mpress_MPI_X`, which the preload library calls for `MPI_X` and `PMPI_X` (Fortran bindings call either): one for each wrapped call
//! and its large-count form, generated from `calls.txt` and `functions.txt`. Nothing else in the shim uses them.

#![allow(non_snake_case, reason = "the names are those of MPI")]
#![allow(clippy::too_many_arguments, reason = "MPI's own lists")]

use crate::edge::calls;
use crate::job::{
    finish::session_beginning, finish::session_ending, profile, profile::About, startup::committing,
    startup::freeing, startup::starting,
};
use crate::messages::uncompressed;
use crate::mpi::{arguments::Out, nested, open, real, sys::*};
use crate::progress::{active, made};

include!(concat!(env!("OUT_DIR"), "/exports.rs"));
