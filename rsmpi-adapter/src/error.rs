//! Errors of the adapter, besides those for which plain rsmpi ends the program.

use mpi::{Rank, ffi};
use mpress::{FrameError, SettingsError};
use std::ffi::{c_char, c_int};

/// An error of the adapter. Its `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting of this rank is invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The ranks cannot exchange frames, for this reason: different versions or settings, or another rank's wrong ones.
    #[error(
        "{0} (all need the same program, and the same Settings or MPRESS_* variables; with Open MPI: mpirun -x NAME)"
    )]
    Disagreement(String),
    /// The MPI lacks a required function, or its functions are not in a shared library loaded with the program.
    #[error("mpress cannot work with this MPI: {0}")]
    Unsupported(String),
    /// Compression needs an intra-communicator.
    #[error("an inter-communicator cannot be compressed: use rsmpi's own methods on it")]
    InterCommunicator,
    /// A method of this crate was called on a communicator, or on a process of a communicator, that is not a
    /// [`CompressedCommunicator`](crate::CompressedCommunicator).
    #[error(
        "the communicator is not a CompressedCommunicator: make one of it (duplicates and parts of one need that, too)"
    )]
    NotCompressed,
    /// A compressed message arrived damaged, or some ranks called rsmpi's own method for a collective operation. The content of the receive buffer is undefined.
    #[error("a compressed message arrived damaged: {0}")]
    Frame(#[from] FrameError),
    /// A compressed message, or a compressed broadcast from another node, is longer than its receive buffer. The content of the buffer is
    /// undefined. Of other messages the MPI finds this: it ends the program, or with another error handler gives [`Error::Mpi`].
    #[error(
        "a message of {message} bytes is longer than its receive buffer of {room} bytes (of a single one, compressed_receive_vec takes any length)"
    )]
    Truncated {
        /// Length of the message in bytes.
        message: usize,
        /// Length of the buffer in bytes.
        room: usize,
    },
    /// The length of a message is not a whole number of elements of the type it is received as, or not one where one is received.
    #[error("a message of {message} bytes is not {} of {element} bytes", wanted(*message, *element))]
    Elements {
        /// Length of the message in bytes.
        message: usize,
        /// Size of an element in bytes.
        element: usize,
    },
    /// The buffer of a collective operation does not have a part for every rank.
    #[error(
        "a buffer has {parts} parts, but the communicator has {ranks} ranks: each needs a part, which may be empty"
    )]
    Parts {
        /// Number of parts of the buffer.
        parts: usize,
        /// Number of ranks of the communicator.
        ranks: usize,
    },
    /// A method for the root was called on another rank, or a method for the other ranks on the root.
    #[error("rank {rank} called the method for {}", caller(*rank == *root))]
    Root {
        /// The calling rank.
        rank: Rank,
        /// The root.
        root: Rank,
    },
    /// Allocation of this number of bytes failed.
    #[error("no memory for a message of {0} bytes")]
    Memory(usize),
    /// An error of the MPI, returned because the communicator's error handler is not the default one, which ends the program.
    #[error("{text} (MPI error {code})")]
    Mpi {
        /// The MPI's error code.
        code: c_int,
        /// The MPI's text for the code.
        text: String,
    },
}

fn caller(is_root: bool) -> &'static str {
    if is_root { "the other ranks, but is the root" } else { "the root, but is not the root" }
}

fn wanted(message: usize, element: usize) -> &'static str {
    let is_whole = message.checked_rem(element) == Some(0);
    if is_whole { "the one element" } else { "a whole number of elements" }
}

/// The result type of this crate's methods.
pub type Result<T> = std::result::Result<T, Error>;

#[cold]
pub(crate) fn mpi_error(code: c_int) -> Error {
    let mut text = [0_u8; ffi::MPI_MAX_ERROR_STRING as usize];
    let mut len = 0;
    // SAFETY: the buffer has room for the longest error text, and the length pointer is valid.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &raw mut len) };
    let text = text.get(..usize::try_from(len).unwrap_or(0)).unwrap_or_default();
    let text = String::from_utf8_lossy(text).lines().next().unwrap_or_default().to_owned();
    Error::Mpi { code, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_one_line() {
        let root = Error::Root { rank: 1, root: 0 }.to_string();
        assert_eq!(root, "rank 1 called the method for the root, but is not the root");
        let root = Error::Root { rank: 0, root: 0 }.to_string();
        assert_eq!(root, "rank 0 called the method for the other ranks, but is the root");
        let elements = |message| Error::Elements { message, element: 8 }.to_string();
        assert_eq!(elements(16), "a message of 16 bytes is not the one element of 8 bytes");
        assert_eq!(elements(9), "a message of 9 bytes is not a whole number of elements of 8 bytes");
        let settings = Error::from(SettingsError::NoGuide).to_string();
        assert!(settings.contains("MPRESS_GUIDE") && settings.lines().count() == 1);
    }
}
