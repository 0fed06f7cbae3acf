//! Gather, scatter, and their forms with varying counts.

use mpi::Count;
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpress_rsmpi::{CompressedCommunicator, traits::*};
use std::error::Error;

/// Elements per rank; in the half with varying counts, the rank times this.
const EACH: usize = 5000;

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
    let root = world.process_at_rank(0);

    let of = |rank: usize, len: usize| -> Vec<f64> {
        (0..len).map(|i| (rank * EACH + i) as f64 * 0.5 + 1.0).collect()
    };
    let mine = of(rank, EACH);
    if rank == 0 {
        let mut all = vec![0.0; size * EACH];
        root.compressed_gather_into_root(&mine[..], &mut all[..])?;
        assert_eq!(all, of(0, size * EACH));
        println!("Root gathered {} values.", all.len());
        let mut back = vec![0.0; EACH];
        root.compressed_scatter_into_root(&all[..], &mut back[..])?;
        assert_eq!(back, mine);
    } else {
        root.compressed_gather_into(&mine[..])?;
        let mut back = vec![0.0; EACH];
        root.compressed_scatter_into(&mut back[..])?;
        assert_eq!(back, mine);
    }

    let counts: Vec<Count> = (0..size).map(|rank| (rank * EACH) as Count).collect();
    let starts: Vec<Count> = (0..size).map(|rank| counts[..rank].iter().sum()).collect();
    let mine = of(rank, rank * EACH);
    if rank == 0 {
        let mut all = vec![0.0; counts.iter().sum::<Count>() as usize];
        let mut parts = PartitionMut::new(&mut all[..], counts.clone(), &starts[..]);
        root.compressed_gather_varcount_into_root(&mine[..], &mut parts)?;
        for (rank, &start) in starts.iter().enumerate() {
            assert_eq!(all[start as usize..][..rank * EACH], of(rank, rank * EACH));
        }
        let mut back = vec![0.0; mine.len()];
        let parts = Partition::new(&all[..], counts, &starts[..]);
        root.compressed_scatter_varcount_into_root(&parts, &mut back[..])?;
        println!("Root gathered {} values of varying counts.", all.len());
    } else {
        root.compressed_gather_varcount_into(&mine[..])?;
        let mut back = vec![0.0; mine.len()];
        root.compressed_scatter_varcount_into(&mut back[..])?;
        assert_eq!(back, mine);
        println!("Rank {rank} has its values back.");
    }
    Ok(())
}
