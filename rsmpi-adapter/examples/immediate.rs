//! Immediate operations in an rsmpi scope: completed by waiting, by testing and by dropping.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpress_rsmpi::{CompressedCommunicator, traits::*, wait_any};
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
    let (rank, size) = (world.rank(), world.size());
    let next = world.process_at_rank((rank + 1) % size);
    let previous = world.process_at_rank((rank + size - 1) % size);
    let of = |rank: i32| -> Vec<f32> { (0..20_000).map(|i| (rank * 20_000 + i) as f32 * 0.25).collect() };
    let (mine, expected) = (of(rank), of((rank + size - 1) % size));

    let mut x = vec![0.0_f32; mine.len()];
    mpi::request::scope(|scope| {
        let receive = previous.immediate_compressed_receive_into(scope, &mut x[..])?;
        let mut send = next.immediate_compressed_send(scope, &mine[..])?;
        let status = receive.wait()?;
        assert_eq!(status.count(f32::equivalent_datatype()), 20_000);
        // A request can also be completed by testing.
        while let Err(request) = send.test()? {
            send = request;
        }
        Ok::<(), mpress_rsmpi::Error>(())
    })?;
    assert_eq!(x, expected);

    // A dropped request is completed, too.
    let mut y = vec![0.0_f32; mine.len()];
    mpi::request::scope(|scope| {
        let _receive = previous.immediate_compressed_receive_into_with_tag(scope, &mut y[..], 7)?;
        next.immediate_compressed_send_with_tag(scope, &mine[..], 7)?.wait_without_status()
    })?;
    assert_eq!(y, expected);

    // Several at a time.
    let mut parts = vec![[0.0_f32; 4096]; 3];
    mpi::request::scope(|scope| {
        let mut receives = Vec::new();
        for (tag, part) in (10..).zip(&mut parts) {
            receives.push(previous.immediate_compressed_receive_into_with_tag(scope, part, tag)?);
        }
        for tag in 10..13 {
            next.compressed_send_with_tag(&mine[..4096], tag)?;
        }
        while let Some((_, status)) = wait_any(&mut receives)? {
            assert_eq!(status.source_rank(), previous.rank());
        }
        Ok::<(), mpress_rsmpi::Error>(())
    })?;
    assert!(parts.iter().all(|part| part[..] == expected[..4096]));

    // A collective operation, overlapped with computation.
    let mut all = vec![0.0_f32; mine.len() * size as usize];
    mpi::request::scope(|scope| {
        let gather = world.immediate_compressed_all_gather_into(scope, &mine[..], &mut all[..])?;
        let sum: f32 = mine.iter().sum();
        assert!(sum > 0.0);
        gather.wait_without_status()
    })?;
    assert!(all.chunks(mine.len()).eq((0..size).map(of)));
    println!("Rank {rank} has everything that rank {} sent.", previous.rank());
    Ok(())
}
