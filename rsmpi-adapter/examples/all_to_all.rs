//! Communication from every rank to every rank: all-gather and all-to-all.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpress_rsmpi::{CompressedCommunicator, traits::*};
use std::error::Error;

/// Elements that a rank sends to each rank.
const EACH: usize = 10_000;

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
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let value = |from: usize, to: usize, i: usize| ((from * 10 + to) * EACH + i) as u32;

    let mine: Vec<u32> = (0..EACH).map(|i| value(rank, 0, i)).collect();
    let mut all = vec![0_u32; size * EACH];
    world.compressed_all_gather_into(&mine[..], &mut all[..])?;
    for (i, &x) in all.iter().enumerate() {
        assert_eq!(x, value(i / EACH, 0, i % EACH));
    }

    let out: Vec<u32> = (0..size * EACH).map(|i| value(rank, i / EACH, i % EACH)).collect();
    world.compressed_all_to_all_into(&out[..], &mut all[..])?;
    for (i, &x) in all.iter().enumerate() {
        assert_eq!(x, value(i / EACH, rank, i % EACH));
    }
    println!("Rank {rank} has {} values from {size} ranks.", all.len());
    Ok(())
}
