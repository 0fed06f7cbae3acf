//! What a compressed communicator knows: its layer, by which all calls are made.

use crate::error::{Error, Result, mpi_error};
use mpi::Rank;
use mpi::ffi;
use mpress::{DecodeError, DecodeErrorKind, Engine, FrameError};
use mpress_layer::{Found, Layer};
use std::ffi::c_int;

// The layer must have been built for the MPI that rsmpi was built for.
const _: () = assert!(size_of::<ffi::MPI_Comm>() == size_of::<mpress_layer::MPI_Comm>());
const _: () = assert!(size_of::<ffi::MPI_Status>() == size_of::<mpress_layer::MPI_Status>());

/// Shared by a communicator and its requests.
pub(crate) struct Context {
    /// `None`: all is the MPI's, for there is nothing to gain, or the shim does it.
    layer: Option<Layer>,
    /// The engine where there is no layer. It has counted nothing.
    unused: Engine,
    ranks: usize,
}

// SAFETY: the layer is made for all threads of a program: its handles of the MPI and its addresses are plain values, which the MPI lets any thread
// use that may call the MPI at all; everything that changes is locked or atomic.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn new(layer: Option<Layer>, unused: Engine, ranks: Rank) -> Self {
        Self { layer, unused, ranks: usize::try_from(ranks).unwrap_or(0) }
    }

    /// The layer, for one of its calls.
    pub(crate) fn layer(&self) -> Option<&Layer> {
        self.layer.as_ref()
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.layer().map_or(&self.unused, Layer::engine)
    }

    /// The outcome of a call of the layer's.
    pub(crate) fn outcome(&self, code: c_int) -> Result<()> {
        if code == mpress_layer::SUCCESS { Ok(()) } else { Err(self.error(code)) }
    }

    #[cold]
    pub(crate) fn error(&self, code: c_int) -> Error {
        let found = mpress_layer::found();
        if self.layer().is_some_and(|layer| layer.is_damage(code)) {
            return Error::Frame(match found {
                Some(Found::Damaged(error)) => error,
                _ => FrameError::Damaged(DecodeError::new(DecodeErrorKind::Length, 0)),
            });
        }
        match found {
            Some(Found::Truncated { message, room }) if code == mpress_layer::ERR_TRUNCATE => {
                Error::Truncated { message, room }
            }
            Some(Found::Memory(len)) if code == mpress_layer::ERR_NO_MEM => Error::Memory(len),
            _ => mpi_error(code),
        }
    }

    /// Whether a buffer has a part for every rank.
    pub(crate) fn parts(&self, counts: &[mpi::Count], displacements: &[mpi::Count]) -> Result<()> {
        let (parts, ranks) = (counts.len().min(displacements.len()), self.ranks);
        if parts < ranks { Err(Error::Parts { parts, ranks }) } else { Ok(()) }
    }

    /// How many elements of a buffer each rank has; those that are left over are none's, as in rsmpi.
    pub(crate) fn share(&self, count: mpi::Count) -> mpi::Count {
        count / c_int::try_from(self.ranks).unwrap_or(c_int::MAX).max(1)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(layer) = self.layer.take() {
            mpress_layer::detach(layer);
        }
    }
}
