//! What programs call: MPI's functions for C, and the same functions for a program that has a layer of its own.

#[cfg(not(shim))]
pub(crate) mod attach;
pub mod calls;
#[cfg(shim)]
mod exports;
#[cfg(shim)]
mod panics;
