//! Buffers for buffered sends that the program has given the MPI for a communicator, or a session (MPI 4.1).
//!
//! A call that detaches or flushes one waits for the messages in it, and for no others. Which messages those are is not known here, so buffered sends are the
//! MPI's own once there has been such a buffer.

#[cfg(shim)]
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there has been such a buffer.
static ANY: AtomicBool = AtomicBool::new(false);

/// Whether buffered sends are left to the MPI.
pub(super) fn are_the_mpis() -> bool {
    ANY.load(Ordering::Acquire)
}

/// Comm_attach_buffer and Session_attach_buffer.
#[cfg(shim)]
pub(crate) fn attaching(pass: impl FnOnce() -> c_int) -> c_int {
    ANY.store(true, Ordering::Release);
    pass()
}
