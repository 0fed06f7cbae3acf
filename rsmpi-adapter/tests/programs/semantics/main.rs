//! Checks of the adapter on all ranks: messages arrive as sent, with the status of plain rsmpi, and faults are errors. `semantics
//! [framed|adaptive]`: with `framed`, sends frames wherever they are shorter; with `adaptive`, sends some frames; without an
//! argument, sends none.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod collectives;
mod data;
mod errors;
mod immediate;
mod long;
mod pairs;
mod requests;
mod types;

use mpi::traits::*;
use mpress_rsmpi::CompressedCommunicator;

/// The communicators that all checks use.
pub(crate) struct Job {
    /// The communicator that compresses.
    pub(crate) world: CompressedCommunicator,
    /// A plain communicator on which rsmpi does the same.
    pub(crate) plain: mpi::topology::SimpleCommunicator,
    /// Whether all messages that get shorter are sent as frames.
    pub(crate) framed: bool,
}

impl Job {
    /// This rank, the one after it and the one before, in a ring.
    pub(crate) fn ring(&self) -> (i32, i32, i32) {
        let (rank, size) = (self.world.rank(), self.world.size());
        (rank, (rank + 1) % size, (rank + size - 1) % size)
    }
}

fn main() {
    // A rank that unwinds would finalize the MPI while others wait for its messages.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        hook(info);
        std::process::abort();
    }));
    let universe = mpi::initialize().unwrap();
    let plain = universe.world().duplicate();
    let world = CompressedCommunicator::from_env(&universe.world()).unwrap();
    let mode = std::env::args().nth(1).unwrap_or_default();
    let (framed, compresses) = (mode == "framed", !mode.is_empty());
    let others = (0..world.size()).filter(|&rank| rank != world.rank());
    assert!(others.into_iter().all(|rank| world.compresses_with(rank) == compresses));
    let job = Job { world, plain, framed };
    long::check(&job);
    pairs::check(&job);
    requests::check(&job);
    types::check(&job);
    collectives::check(&job);
    immediate::check(&job);
    errors::check(&job);
    let sent = job.world.stats().total();
    assert_eq!(sent.wire_bytes < sent.raw_bytes, compresses);
    assert_eq!(sent.decoded > 0, compresses);
    job.world.barrier();
    if job.world.rank() == 0 {
        println!("done");
    }
}
