//! The messages by which the engine measures the network.

use crate::sys::*;
use mpress::network::{Exchange, LONGEST};
use std::ffi::c_int;

/// Over a communicator of their own, once connected.
pub(crate) struct Messages {
    comm: MPI_Comm,
    out: Vec<u8>,
    into: Vec<u8>,
}

impl Messages {
    pub(crate) fn new() -> Self {
        Self { comm: COMM_NULL, out: Vec::new(), into: Vec::new() }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        if self.comm != COMM_NULL {
            // SAFETY: a communicator of ours that nothing uses any more; all ranks come here.
            unsafe { PMPI_Comm_free(&raw mut self.comm) };
        }
    }
}

impl Exchange for Messages {
    type Error = c_int;

    fn connect(&mut self) -> Result<(), c_int> {
        (self.out, self.into) = (vec![0x5a; LONGEST], vec![0; LONGEST]);
        // SAFETY: a collective call over the world; a place for the new communicator.
        ok(unsafe { PMPI_Comm_dup(COMM_WORLD, &raw mut self.comm) })
    }

    fn exchange(&mut self, to: usize, from: usize, len: usize) -> Result<(), c_int> {
        let int = |number: usize| c_int::try_from(number).map_err(|_| ERR_INTERN);
        let (out, into) = (self.out.get(..len), self.into.get_mut(..len));
        let (out, into) = out.zip(into).ok_or(ERR_INTERN)?;
        let (count, to, from) = (int(len)?, int(to)?, int(from)?);
        // SAFETY: both buffers have `len` bytes.
        ok(unsafe {
            PMPI_Sendrecv(
                out.as_ptr().cast(),
                count,
                BYTE,
                to,
                0,
                into.as_mut_ptr().cast(),
                count,
                BYTE,
                from,
                0,
                self.comm,
                STATUS_IGNORE,
            )
        })
    }

    fn sum(&mut self, number: u64) -> Result<(u64, usize), c_int> {
        let (mut sum, mut size) = (0_u64, 1);
        // SAFETY: a number each, and places for the answers.
        unsafe {
            ok(PMPI_Comm_size(COMM_WORLD, &raw mut size))?;
            ok(PMPI_Allreduce(
                (&raw const number).cast(),
                (&raw mut sum).cast(),
                1,
                UINT64_T,
                SUM,
                COMM_WORLD,
            ))?;
        }
        Ok((sum, usize::try_from(size).unwrap_or(1)))
    }
}
