//! Ping-pong between the first and the last rank; prints the median one-way time: `ping_pong [BYTES [ROUNDS [plain|compressed
//! [smooth|random]]]]`. The payload is doubles. Each round is one sample.

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
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, default| args.get(at).map_or(default, String::as_str);
    let (bytes, rounds): (usize, usize) = (word(0, "1048576").parse()?, word(1, "100").parse()?);
    let (plain, random) = (word(2, "compressed") == "plain", word(3, "smooth") == "random");

    let (rank, last) = (world.rank(), world.size() - 1);
    let mine: Vec<f64> = (0..bytes / 8).map(|i| if random { noise(i) } else { smooth(i) }).collect();
    let mut theirs = vec![0.0_f64; mine.len()];
    let mut times = Vec::with_capacity(rounds);
    for round in 0..rounds + rounds / 10 + 1 {
        let start = mpi::time();
        if rank == 0 && last > 0 {
            let other = world.process_at_rank(last);
            if plain {
                other.send(&mine[..]);
                other.receive_into(&mut theirs[..]);
            } else {
                other.compressed_send(&mine[..])?;
                other.compressed_receive_into(&mut theirs[..])?;
            }
        } else if rank == last && last > 0 {
            let other = world.process_at_rank(0);
            if plain {
                other.receive_into(&mut theirs[..]);
                other.send(&theirs[..]);
            } else {
                other.compressed_receive_into(&mut theirs[..])?;
                other.compressed_send(&theirs[..])?;
            }
        }
        // The first rounds are not counted.
        if round > rounds / 10 {
            times.push((mpi::time() - start) / 2.0);
        }
    }
    if rank == 0 {
        let same = mine.iter().zip(&theirs).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same || last == 0, "the message came back changed");
        times.sort_by(f64::total_cmp);
        let sent = world.stats().total();
        println!(
            "bytes {bytes} rounds {rounds} median_us {:.3} ratio {:.2}",
            times[rounds / 2] * 1e6,
            sent.ratio()
        );
    }
    Ok(())
}

fn smooth(i: usize) -> f64 {
    1.0 + 0.5 * (0.01 * i as f64).sin()
}

/// Random bits, by the mixing function of splitmix64.
fn noise(i: usize) -> f64 {
    let mut word = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    f64::from_bits(word ^ (word >> 31))
}
