//! Errors, and whether the program's error handler has heard of them.

use crate::context::Context;
use crate::sys::*;
use mpress::{Buffer, FrameError};
use std::cell::Cell;
use std::ffi::c_int;

/// An error code, and whether the MPI has called the error handler for it.
#[derive(Clone, Copy)]
pub(crate) struct Error {
    code: c_int,
    raised: bool,
}

impl From<c_int> for Error {
    /// An error that we found.
    fn from(code: c_int) -> Self {
        Self { code, raised: false }
    }
}

impl Error {
    /// The code, whoever has heard of it.
    pub(crate) fn code(self) -> c_int {
        self.code
    }
}

/// The outcome of a call of the MPI's, made with the program's own communicator.
pub(crate) fn called(code: c_int) -> Result<(), Error> {
    if code == SUCCESS { Ok(()) } else { Err(Error { code, raised: true }) }
}

/// Calls the error handler of `comm`, if there is one and the MPI has not, and gives the code: what MPI does with an error of its own. Without
/// the shim the caller hears of what we found, and no handler.
pub(crate) fn raise(comm: MPI_Comm, error: impl Into<Error>) -> c_int {
    let error = error.into();
    if cfg!(shim) && !error.raised && comm != COMM_NULL {
        // SAFETY: `comm` comes from the call that failed.
        unsafe { PMPI_Comm_call_errhandler(comm, error.code) };
    }
    error.code
}

/// What is wrong with a message that an error code stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is damaged.
    Damaged(FrameError),
    /// It is longer than its receive buffer.
    Truncated {
        /// Bytes of the message.
        message: usize,
        /// Bytes of the buffer.
        room: usize,
    },
    /// There is no memory of so many bytes.
    Memory(usize),
}

thread_local! {
    static FOUND: Cell<Option<Found>> = const { Cell::new(None) };
}

/// What the layer last found wrong with a message in a call of this thread; once.
#[must_use]
pub fn found() -> Option<Found> {
    FOUND.take()
}

/// The error of a message, with what was found wrong with it, until the call that tells of it: that may be another one, of another thread.
pub(crate) struct Kept {
    code: c_int,
    found: Option<Found>,
}

impl Kept {
    /// An error that this thread has just found.
    pub(crate) fn new(code: c_int) -> Self {
        Self { code, found: FOUND.take() }
    }

    /// The code, for the caller of the call that this thread is in.
    pub(crate) fn tell(self) -> c_int {
        FOUND.set(self.found);
        self.code
    }
}

/// The code for a message that is too long.
pub(crate) fn truncated(message: usize, room: usize) -> c_int {
    FOUND.set(Some(Found::Truncated { message, room }));
    ERR_TRUNCATE
}

impl Context {
    /// Memory for a message.
    pub(crate) fn room(&self, len: usize) -> Result<Buffer, c_int> {
        self.engine.buffer(len).ok_or_else(|| {
            FOUND.set(Some(Found::Memory(len)));
            ERR_NO_MEM
        })
    }

    /// The code for a damaged message.
    pub(crate) fn damage(&self, error: FrameError) -> c_int {
        FOUND.set(Some(Found::Damaged(error)));
        self.damaged
    }
}

/// This rank cannot do its part: other ranks would wait for ever, or take something else for the result. The job ends.
pub(crate) fn give_up(what: impl std::fmt::Display, comm: MPI_Comm, code: c_int) -> ! {
    say!("mpress: {what}; the job ends");
    // SAFETY: the program's communicator.
    unsafe { PMPI_Abort(comm, code) };
    std::process::abort()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_stays_with_its_request() {
        let first = Kept::new(truncated(2000, 1000));
        let second = Kept::new(truncated(4000, 3000));
        let third = Kept::new(ERR_OTHER);
        assert_eq!(found(), None);
        assert_eq!(first.tell(), ERR_TRUNCATE);
        assert_eq!(found(), Some(Found::Truncated { message: 2000, room: 1000 }));
        assert_eq!(second.tell(), ERR_TRUNCATE);
        // Nothing is known of an error that comes after it.
        assert_eq!(third.tell(), ERR_OTHER);
        assert_eq!(found(), None);
    }
}
