//! The messages by which the engine measures the network.

use mpi::Rank;
use mpi::collective::SystemOperation;
use mpi::point_to_point::send_receive_into;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};
use mpress::network::{Exchange, LONGEST};
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

    fn connect(&mut self) -> Result<(), Infallible> {
        (self.out, self.into) = (vec![0x5a; LONGEST], vec![0; LONGEST]);
        Ok(())
    }

    fn exchange(&mut self, to: usize, from: usize, len: usize) -> Result<(), Infallible> {
        // Ranks of the communicator, which are `int`s.
        let process = |rank: usize| self.comm.process_at_rank(rank as Rank);
        send_receive_into(&self.out[..len], &process(to), &mut self.into[..len], &process(from));
        Ok(())
    }

    fn sum(&mut self, number: u64) -> Result<(u64, usize), Infallible> {
        let mut sum = 0_u64;
        self.comm.all_reduce_into(&number, &mut sum, SystemOperation::sum());
        Ok((sum, usize::try_from(self.comm.size()).unwrap_or(1)))
    }
}
