//! Broadcast of a table: the root encodes it once, and each rank decodes it.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpress_rsmpi::{CompressedCommunicator, traits::*};
use std::error::Error;

fn main() {
    let Some(universe) = mpi::initialize() else { return };
    let world = universe.world();
    if let Err(error) = run(&world) {
        let line = format!("rank {}: {error}\n", world.rank());
        eprint!("{line}"); // in one write: launchers do not cut it
        world.abort(1); // ends all ranks: otherwise, others wait for this one for ever
    }
}

fn run(world: &SimpleCommunicator) -> Result<(), Box<dyn Error>> {
    let world = CompressedCommunicator::from_env(world)?;
    let root = world.process_at_rank(0);

    let expected: Vec<i64> = (0..50_000).map(|i| i * i / 7).collect();
    let mut table = if world.rank() == 0 { expected.clone() } else { vec![0; expected.len()] };
    root.compressed_broadcast_into(&mut table[..])?;
    assert_eq!(table, expected);
    println!("Rank {} received a table that ends in {}.", world.rank(), table[table.len() - 1]);

    // Short messages are left to the MPI.
    let mut x = if world.rank() == 0 { 1024_u64 } else { 0 };
    root.compressed_broadcast_into(&mut x)?;
    assert_eq!(x, 1024);
    Ok(())
}
