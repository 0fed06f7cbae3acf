//! Makes, for each wrapped call of the table (`calls.txt`), the handler `mpress_MPI_X`, which the preload library calls for `MPI_X` and
//! `PMPI_X` (Fortran bindings call either), and two ways to the MPI's own function:
//!
//! - [`real`]: what the MPI calls of itself meanwhile is passed straight on. For all that carries a frame: it must not be
//!   framed again.
//! - [`open`]: what is called meanwhile is handled like any call. For completion calls, and for calls passed on as they
//!   came: there the MPI may call the program's error handlers, which may do what they like, even never come back. (An MPI
//!   that passes such a call on to another wrapped function has that passed on for the same reasons.)
//!
//! A call is passed on at once while the shim is not active. Otherwise the row's expression handles it.

#![allow(non_snake_case, reason = "the names are those of MPI")]

use crate::collective::How::{Blocking, Nonblocking};
use crate::collective::{equal, typed, varied};
use crate::send::Mode::{Buffered, Ready, Standard, Synchronous};
use crate::span::{Envelope, Span};
use crate::state::{self, Depth};
use crate::sys::*;
use crate::{
    collective, complete, info, matched, orphans, passed, persistent, probe, recv, send, sendrecv, traffic,
};
use std::ffi::{c_char, c_int, c_void};

macro_rules! table {
    (
        always { $($bare:ident $pbare:ident $bexport:literal ( $($barg:ident: $bty:ty),* ) => |$bpass:ident| $bbody:expr;)* }
        active { $($name:ident $pname:ident $export:literal ( $($arg:ident: $ty:ty),* ) => |$shim:ident, $pass:ident| $body:expr;)* }
    ) => {
        /// The MPI's own functions; calls of wrapped functions meanwhile are handled.
        pub(crate) mod open {
            #[allow(unused_imports, reason = "not every call is made by the shim")]
            pub(crate) use crate::sys::{$($pbare as $bare,)* $($pname as $name,)*};
        }

        /// The MPI's own functions; calls of wrapped functions meanwhile are the MPI's own, and passed on.
        pub(crate) mod real {
            use super::*;
            $(
                #[allow(clippy::too_many_arguments, dead_code)]
                pub(crate) unsafe fn $name($($arg: $ty),*) -> c_int {
                    let _depth = Depth::enter();
                    // SAFETY: the caller gives what the MPI function asks for.
                    unsafe { open::$name($($arg),*) }
                }
            )*
        }

        $(
            table!(@export $bexport ($($barg: $bty),*) {
                let $bpass = || {
                    let _depth = Depth::enter();
                    // SAFETY: the arguments are the caller's own, for the function it meant to call.
                    unsafe { open::$bare($($barg),*) }
                };
                if state::nested() { $bpass() } else { $bbody }
            });
        )*
        $(
            table!(@export $export ($($arg: $ty),*) {
                let $pass = || {
                    // SAFETY: as above.
                    unsafe { open::$name($($arg),*) }
                };
                match state::active() {
                    None => $pass(),
                    // SAFETY: handlers ask of their arguments what the MPI function asks of them.
                    Some($shim) => unsafe { $body },
                }
            });
        )*
    };
    (@export $export:literal ($($arg:ident: $ty:ty),*) $body:block) => {
        const _: () = {
            #[allow(clippy::too_many_arguments, reason = "MPI's own list")]
            #[allow(unused_variables, unused_unsafe, reason = "not every row needs all")]
            #[unsafe(export_name = $export)]
            unsafe extern "C-unwind" fn handle($($arg: $ty),*) -> c_int $body
        };
    };
}

/// The buffer of a message, by the arguments of a call.
fn span(buf: *const c_void, count: impl Into<MPI_Count>, datatype: MPI_Datatype) -> Span {
    Span::new(buf.cast_mut(), count, datatype)
}

/// A message, by the arguments of a call.
fn envelope(
    buf: *const c_void,
    count: impl Into<MPI_Count>,
    datatype: MPI_Datatype,
    peer: c_int,
    tag: c_int,
    comm: MPI_Comm,
) -> Envelope {
    Envelope::new(span(buf, count, datatype), peer, tag, comm)
}

include!(concat!(env!("OUT_DIR"), "/table.rs"));
