//! Calls that are passed to the MPI as they come, and counted. They are the sections "passed" of the table, `calls.txt`.

use crate::state;
use crate::sys::*;
use crate::table::Symbol;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many calls of each sort there were.
pub(crate) fn counts() -> Vec<(&'static str, u64)> {
    SORTS.iter().zip(&COUNTS).map(|(sort, count)| (*sort, count.load(Ordering::Relaxed))).collect()
}

macro_rules! passed {
    ([$($sort:literal),*] $($at:literal $name:ident $pname:ident ($($arg:ident: $ty:ty),*);)*) => {
        const SORTS: &[&str] = &[$($sort),*];
        static COUNTS: [AtomicU64; SORTS.len()] = [const { AtomicU64::new(0) }; SORTS.len()];
        $(passed!(@export $at $name $pname ($($arg: $ty),*));)*
    };
    (@export $at:literal $name:ident $pname:ident ($($arg:ident: $ty:ty),*)) => {
        const _: () = {
            #[allow(clippy::too_many_arguments, reason = "MPI's own list")]
            fn handle($($arg: $ty),*) -> ::std::os::raw::c_int {
                type Function = unsafe extern "C-unwind" fn($($ty),*) -> ::std::os::raw::c_int;
                static SYMBOL: Symbol = Symbol::of(concat!(stringify!($pname), "\0"));
                let address = SYMBOL.get();
                if address.is_null() {
                    return ERR_INTERN;
                }
                // SAFETY: the symbol of this name has this type, as mpi.h says.
                let function = unsafe { std::mem::transmute::<*mut c_void, Function>(address) };
                if state::active().is_some() {
                    COUNTS[$at].fetch_add(1, Ordering::Relaxed);
                }
                // SAFETY: the caller gives what the MPI function asks for.
                unsafe { function($($arg),*) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $name($($arg: $ty),*) -> ::std::os::raw::c_int {
                handle($($arg),*)
            }

            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $pname($($arg: $ty),*) -> ::std::os::raw::c_int {
                handle($($arg),*)
            }
        };
    };
}

include!(concat!(env!("OUT_DIR"), "/passed.rs"));
