//! The messages with which the engine measures the network.

use crate::mpi::{channel::Channel, fatal, sys::*};
use mpress::network::Exchange;

/// Sends them over a communicator of all ranks that has no other traffic.
pub(crate) struct Messages {
    comm: MPI_Comm,
    out: Vec<u8>,
    into: Vec<u8>,
}

impl Messages {
    pub(crate) fn new(comm: MPI_Comm) -> Self {
        Self { comm, out: Vec::new(), into: Vec::new() }
    }
}

impl Exchange for Messages {
    type Error = c_int;

    fn exchange(&mut self, to: usize, from: usize, len: usize) -> Result<(), c_int> {
        let int = |number: usize| c_int::try_from(number).map_err(|_| ERR_INTERN);
        let (to, from) = (int(to)?, int(from)?);
        self.out.resize(len, 0x5a);
        self.into.resize(len, 0);
        let with = |peer| Channel { comm: self.comm, peer, tag: 0 };
        // SAFETY: both buffers have `len` bytes, and live until both messages are complete, or the job ends.
        let (receive, send) = unsafe {
            (with(from).receive(self.into.as_mut_ptr(), len), with(to).send(self.out.as_ptr(), len, false))
        };
        fatal::await_all(receive);
        fatal::await_all(send);
        Ok(())
    }

    fn sums(&mut self, numbers: [u64; 2]) -> Result<[u64; 2], c_int> {
        let (mut sums, mut request) = ([0_u64; 2], REQUEST_NULL);
        let (from, to) = (numbers.as_ptr().cast(), sums.as_mut_ptr().cast());
        // SAFETY: two numbers and valid output pointers, which live until the operation is complete, or the job ends.
        let code = unsafe { PMPI_Iallreduce(from, to, 2, UINT64_T, SUM, self.comm, &raw mut request) };
        fatal::await_all(ok(code).map(|()| request));
        Ok(sums)
    }
}
