//! Errors, and whether the program's error handler has been called for them.

use crate::messages::context::Context;
use crate::mpi::sys::*;
use mpress::{Buffer, FrameError};
use std::cell::Cell;

/// The code of an operation's error, and the communicator whose handler is to be called; null if none is.
pub(crate) type Failure = (MPI_Comm, c_int);

/// An error code, and whether the MPI has called the error handler for it.
#[derive(Clone, Copy)]
pub(crate) struct Error {
    code: c_int,
    raised: bool,
}

impl From<c_int> for Error {
    /// An error found by the layer.
    fn from(code: c_int) -> Self {
        Self { code, raised: false }
    }
}

impl Error {
    /// The code, whether or not an error handler has been called.
    pub(crate) fn code(self) -> c_int {
        self.code
    }

    /// An error of a call of the MPI with the program's own communicator.
    pub(crate) fn raised(code: c_int) -> Self {
        Self { code, raised: true }
    }
}

/// The result of a call of the MPI with the program's own communicator.
pub(crate) fn called(code: c_int) -> Result<(), Error> {
    ok(code).map_err(Error::raised)
}

/// Calls the error handler of `comm`, if there is one and the MPI has not called it, and returns the code, as MPI does for its own errors. A layer
/// without the shim only returns the code of an error that it found, and calls no handler.
pub(crate) fn raise(comm: MPI_Comm, error: impl Into<Error>) -> c_int {
    let error = error.into();
    if cfg!(shim) && !error.raised && comm != COMM_NULL {
        PMPI_Comm_call_errhandler(comm, error.code);
    }
    error.code
}

/// What is wrong with a message, in addition to the error code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is damaged.
    Damaged(FrameError),
    /// It is longer than its receive buffer.
    Truncated {
        /// Length of the message in bytes.
        message: usize,
        /// Length of the buffer in bytes.
        room: usize,
    },
    /// Allocation of this number of bytes failed.
    Memory(usize),
}

thread_local! {
    static FOUND: Cell<Option<Found>> = const { Cell::new(None) };
}

/// Takes what the layer last found wrong with a message in a call of this thread.
#[must_use]
pub fn found() -> Option<Found> {
    FOUND.take()
}

/// The error of a message, with what was found wrong with it, kept until it is reported: maybe by another call, in another thread.
pub(crate) struct Untold {
    code: c_int,
    found: Option<Found>,
}

impl Untold {
    /// An error that this thread has just found.
    pub(crate) fn new(code: c_int) -> Self {
        Self { code, found: FOUND.take() }
    }

    /// The code, for the caller of the current call.
    pub(crate) fn tell(self) -> c_int {
        FOUND.set(self.found);
        self.code
    }
}

/// Whether this is a code of the MPI for a message that is longer than its buffer.
pub(crate) fn is_truncation(code: c_int) -> bool {
    let mut class = SUCCESS;
    ok(PMPI_Error_class(code, &mut class)).is_ok() && class == ERR_TRUNCATE
}

/// The code for a message that is longer than its buffer.
pub(crate) fn truncated(message: usize, room: usize) -> c_int {
    FOUND.set(Some(Found::Truncated { message, room }));
    ERR_TRUNCATE
}

impl Context {
    /// Allocates memory for a message: `len` bytes of any content.
    pub(crate) fn room(&self, len: usize) -> Result<Buffer, c_int> {
        let mut buffer = self.engine.buffer(len).ok_or_else(|| {
            FOUND.set(Some(Found::Memory(len)));
            ERR_NO_MEM
        })?;
        buffer.set_len(len);
        Ok(buffer)
    }

    /// The code for a damaged message.
    pub(crate) fn damage(&self, error: FrameError) -> c_int {
        FOUND.set(Some(Found::Damaged(error)));
        self.damaged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_stays_with_its_request() {
        let first = Untold::new(truncated(2000, 1000));
        let second = Untold::new(truncated(4000, 3000));
        let third = Untold::new(ERR_OTHER);
        assert_eq!(found(), None);
        assert_eq!(first.tell(), ERR_TRUNCATE);
        assert_eq!(found(), Some(Found::Truncated { message: 2000, room: 1000 }));
        assert_eq!(second.tell(), ERR_TRUNCATE);
        // Nothing remains known for a later error.
        assert_eq!(third.tell(), ERR_OTHER);
        assert_eq!(found(), None);
    }
}
