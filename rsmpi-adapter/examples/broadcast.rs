//! Broadcast of a table: the root encodes it once, and each rank decodes it.

use mpi::traits::*;
use mpress_rsmpi::{CompressedCommunicator, traits::*};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let world = CompressedCommunicator::from_env(&universe.world())?;
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
