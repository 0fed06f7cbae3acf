//! The messages by which the engine measures the network.

use mpi::Rank;
use mpi::collective::SystemOperation;
use mpi::point_to_point::send_receive_into;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};
use mpress::network::Exchange;
use std::convert::Infallible;

/// Over a communicator on which nothing else goes on.
pub(crate) struct Messages<'a> {
    comm: &'a SimpleCommunicator,
    out: Vec<u8>,
    into: Vec<u8>,
}

impl<'a> Messages<'a> {
    pub(crate) fn new(comm: &'a SimpleCommunicator) -> Self {
        Self { comm, out: Vec::new(), into: Vec::new() }
    }
}

impl Exchange for Messages<'_> {
    type Error = Infallible;

    fn exchange(&mut self, to: usize, from: usize, len: usize) -> Result<(), Infallible> {
        self.out.resize(len, 0x5a);
        self.into.resize(len, 0);
        // Ranks of the communicator, which are `int`s.
        let process = |rank: usize| self.comm.process_at_rank(rank as Rank);
        send_receive_into(&self.out[..], &process(to), &mut self.into[..], &process(from));
        Ok(())
    }

    fn sums(&mut self, numbers: [u64; 2]) -> Result<[u64; 2], Infallible> {
        let mut sums = [0_u64; 2];
        self.comm.all_reduce_into(&numbers[..], &mut sums[..], SystemOperation::sum());
        Ok(sums)
    }
}
