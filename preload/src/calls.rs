//! The exported functions: each is a jump through a slot.
//!
//! All arguments of MPI functions are integers or pointers. On 64-bit Linux, with the calling conventions of
//! x86-64 and AArch64, each argument takes one register or eight bytes of the stack. So a function with the
//! same number of `usize` arguments passes them on unchanged, whatever their types.

#![allow(non_snake_case, reason = "the names are those of MPI")]

use crate::{resolve, tools};
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("the functions pass their arguments on as 64-bit Linux does");

/// The address of a function.
pub(crate) struct Slot(AtomicPtr<c_void>);

impl Slot {
    pub(crate) const fn new(address: *mut c_void) -> Self {
        Self(AtomicPtr::new(address))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> *mut c_void {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, address: *mut c_void) {
        self.0.store(address, Ordering::Release);
    }

    /// The contents of the slot after the resolution; null if that is still `first`, because there is no such
    /// function.
    fn resolved(&self, first: *mut c_void) -> *mut c_void {
        resolve::resolve();
        let address = self.get();
        if address == first { std::ptr::null_mut() } else { address }
    }
}

/// A call of the table.
pub(crate) struct Call {
    pub(crate) mpi_name: &'static CStr,
    pub(crate) pmpi_name: &'static CStr,
    /// The name of the shim's function.
    pub(crate) handler_name: &'static CStr,
    /// The target of `MPI_X`.
    pub(crate) mpi: Slot,
    /// The target of `PMPI_X`.
    pub(crate) pmpi: Slot,
    /// The targets of both while the shim handles the call.
    pub(crate) handled: [Slot; 2],
    /// For a call that the shim makes through a tool: see [`tools`].
    pub(crate) detour: tools::Detour,
}

/// The type of a function with these arguments. An error handler in C++ may throw.
macro_rules! type_of {
    ($($arg:ident)*) => { unsafe extern "C-unwind" fn($(integer!($arg)),*) -> c_int };
}

macro_rules! integer {
    ($arg:ident) => {
        usize
    };
}

/// Calls the function at an address; returns an error if there is none.
macro_rules! call {
    ($address:expr, ($($arg:ident)*)) => {{
        let address: *mut c_void = $address;
        if address.is_null() {
            return ERR_INTERN;
        }
        // SAFETY: the address of a function with this number of arguments, all of them integers or pointers;
        // see the head of the file.
        let function = unsafe { std::mem::transmute::<*mut c_void, type_of!($($arg)*)>(address) };
        // SAFETY: the arguments come from the caller, for the function that it meant to call.
        unsafe { function($($arg),*) }
    }};
}

macro_rules! calls {
    ($($index:literal $name:ident $pname:ident $mpi:literal $pmpi:literal $handler:literal ($($arg:ident)*);)*) => {
        /// All calls of the table, in their order.
        pub(crate) static CALLS: [Call; COUNT] = [$(
            Call {
                mpi_name: $mpi,
                pmpi_name: $pmpi,
                handler_name: $handler,
                mpi: Slot::new($name::first as *mut c_void),
                pmpi: Slot::new($name::first_pmpi as *mut c_void),
                handled: [const { Slot::new(std::ptr::null_mut()) }; 2],
                detour: tools::Detour::new($name::there as *mut c_void, $name::back as *mut c_void),
            }
        ),*];

        $(
            #[allow(clippy::too_many_arguments, reason = "MPI's own list")]
            mod $name {
                use super::*;

                static CALL: &Call = &CALLS[$index];

                #[unsafe(no_mangle)]
                unsafe extern "C-unwind" fn $name($($arg: usize),*) -> c_int {
                    call!(CALL.mpi.get(), ($($arg)*))
                }

                #[unsafe(no_mangle)]
                unsafe extern "C-unwind" fn $pname($($arg: usize),*) -> c_int {
                    call!(CALL.pmpi.get(), ($($arg)*))
                }

                pub(super) unsafe extern "C-unwind" fn first($($arg: usize),*) -> c_int {
                    call!(CALL.mpi.resolved(first as *mut c_void), ($($arg)*))
                }

                pub(super) unsafe extern "C-unwind" fn first_pmpi($($arg: usize),*) -> c_int {
                    call!(CALL.pmpi.resolved(first_pmpi as *mut c_void), ($($arg)*))
                }

                /// From the shim to the tool.
                pub(super) unsafe extern "C-unwind" fn there($($arg: usize),*) -> c_int {
                    tools::inside($index, || call!(CALL.detour.there(), ($($arg)*)))
                }

                /// `PMPI_X` of the program or, inside [`there`], of a tool.
                pub(super) unsafe extern "C-unwind" fn back($($arg: usize),*) -> c_int {
                    call!(CALL.detour.back($index), ($($arg)*))
                }
            }
        )*
    };
}

/// The result of a function that the MPI does not have: `MPI_ERR_INTERN` of MPICH, an error in every ABI.
const ERR_INTERN: c_int = 16;

include!(concat!(env!("OUT_DIR"), "/calls.rs"));
