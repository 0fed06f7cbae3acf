//! Ranks in a ring, each with a slab of a field, exchange their border planes with both neighbours and smooth the field.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpress_rsmpi::{CompressedCommunicator, compressed_send_receive_into, traits::*};
use std::error::Error;

/// Cells of a plane, and planes of a rank in addition to its neighbours' two.
const PLANE: usize = 64 * 64;
const PLANES: usize = 8;
const STEPS: usize = 10;

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
    let (rank, size) = (world.rank(), world.size());
    let (below, above) = ((rank + size - 1) % size, (rank + 1) % size);
    let (below, above) = (world.process_at_rank(below), world.process_at_rank(above));

    let mut field = vec![0.0_f64; (PLANES + 2) * PLANE];
    for (i, cell) in field[PLANE..(PLANES + 1) * PLANE].iter_mut().enumerate() {
        let (plane, at) = (rank as usize * PLANES + i / PLANE, i % PLANE);
        *cell = (plane as f64 * 0.3).sin() + (at as f64 * 1e-3).cos();
    }
    for _ in 0..STEPS {
        let (inner, end) = field.split_at_mut((PLANES + 1) * PLANE);
        compressed_send_receive_into(&inner[PLANE..2 * PLANE], &below, end, &above)?;
        let (begin, inner) = field.split_at_mut(PLANE);
        compressed_send_receive_into(&inner[(PLANES - 1) * PLANE..PLANES * PLANE], &above, begin, &below)?;
        let old = field.clone();
        for i in PLANE..(PLANES + 1) * PLANE {
            field[i] = 0.25 * old[i - PLANE] + 0.5 * old[i] + 0.25 * old[i + PLANE];
        }
    }

    // A digest of the field in rank order, the same for any number of nodes.
    let own = &field[PLANE..(PLANES + 1) * PLANE];
    let digest = own.iter().fold(0_u64, |sum, cell| sum.wrapping_mul(31).wrapping_add(cell.to_bits()));
    let root = world.process_at_rank(0);
    if rank == 0 {
        let mut all = vec![0_u64; size as usize];
        root.compressed_gather_into_root(&digest, &mut all[..])?;
        println!("after {STEPS} steps: {all:x?}");
    } else {
        root.compressed_gather_into(&digest)?;
    }
    Ok(())
}
