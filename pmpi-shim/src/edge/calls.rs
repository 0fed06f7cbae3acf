//! The calls that have a handler, and their large-count forms, generated from `calls.txt` and
//! `functions.txt`: both the functions that the shim exports to C and those for programs with a layer of
//! their own.
//!
//! Without a layer, a call is passed on at once. Otherwise its arguments are put into the call's struct
//! (`arguments`) and given to its function in `handlers`, with a closure that passes the call on unchanged,
//! or with another info if the call has one.

#![allow(non_snake_case, reason = "the names are those of MPI")]
#![allow(clippy::too_many_arguments, reason = "MPI's own lists")]

use crate::mpi::arguments::{self, Out};
use crate::mpi::open;
use crate::mpi::sys::*;
use crate::operations::state::Shim;
use std::ffi::{c_char, c_int, c_void};

/// The handler of each call, by its name.
mod handlers {
    pub(super) use crate::collectives::handlers::*;
    pub(super) use crate::handlers::completion::{
        cancel, request_free, request_get_status, request_get_status_all, request_get_status_any,
        request_get_status_some, test, testall, testany, testsome, wait, waitall, waitany, waitsome,
    };
    pub(super) use crate::handlers::info::{
        comm_create_from_group, comm_dup_with_info, comm_idup_with_info, comm_set_info, comm_split_type,
        dist_graph_create, dist_graph_create_adjacent, intercomm_create_from_groups,
    };
    pub(super) use crate::handlers::matched_probe::{improbe, imrecv, mprobe, mrecv};
    pub(super) use crate::handlers::packing::{pack, unpack};
    pub(super) use crate::handlers::persistent::{
        bsend_init, recv_init, rsend_init, send_init, ssend_init, start, startall,
    };
    pub(super) use crate::handlers::probe::{iprobe, probe};
    pub(super) use crate::handlers::recv::{irecv, recv};
    pub(super) use crate::handlers::send::{bsend, ibsend, irsend, isend, issend, rsend, send, ssend};
    pub(super) use crate::handlers::sendrecv::{isendrecv, isendrecv_replace, sendrecv, sendrecv_replace};
    pub(super) use crate::handlers::type_free::type_free;
}

include!(concat!(env!("OUT_DIR"), "/calls.rs"));
