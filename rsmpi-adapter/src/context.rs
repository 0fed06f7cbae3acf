//! State of a compressed communicator: its layer, through which all calls are made.

use crate::error::{Error, Result, mpi_error};
use mpi::Rank;
use mpi::datatype::Partitioned;
use mpi::ffi;
use mpress::{DecodeError, DecodeErrorKind, Engine, FrameError};
use mpress_layer::{Found, Layer};
use std::ffi::c_int;

// The layer must have been built for the MPI that rsmpi was built for.
const _: () = assert!(size_of::<ffi::MPI_Comm>() == size_of::<mpress_layer::MPI_Comm>());
const _: () = assert!(size_of::<ffi::MPI_Status>() == size_of::<mpress_layer::MPI_Status>());

/// Shared by a communicator and its requests.
pub(crate) struct Context {
    /// `None` if all calls go to the MPI, because there is nothing to gain or because the shim compresses.
    layer: Option<Layer>,
    /// The engine used where there is no layer. Its counts are zero.
    unused: Engine,
    ranks: usize,
}

// SAFETY: the layer is designed for use by all threads of a program. Its MPI handles and addresses are plain values, which any thread
// that may call the MPI at all may use; all mutable state is locked or atomic.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn new(layer: Option<Layer>, unused: Engine, ranks: Rank) -> Self {
        Self { layer, unused, ranks: usize::try_from(ranks).unwrap_or(0) }
    }

    /// The layer, to be passed to its calls.
    pub(crate) fn layer(&self) -> Option<&Layer> {
        self.layer.as_ref()
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.layer().map_or(&self.unused, Layer::engine)
    }

    /// Converts the error code of a call of the layer.
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

    /// The counts and displacements of a buffer, which must have a part for every rank.
    pub(crate) fn parts<P: Partitioned + ?Sized>(
        &self,
        buffer: &P,
    ) -> Result<(*const mpi::Count, *const mpi::Count)> {
        let (counts, displacements, ranks) = (buffer.counts(), buffer.displs(), self.ranks);
        let parts = counts.len().min(displacements.len());
        if parts < ranks {
            return Err(Error::Parts { parts, ranks });
        }
        Ok((counts.as_ptr(), displacements.as_ptr()))
    }

    /// Number of elements of a buffer per rank. A remainder is ignored, as in rsmpi.
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
