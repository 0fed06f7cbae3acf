//! Hold-out data: messages of small simulations that were never used to choose a setting of a codec. The same seed gives the same files.

mod blast;
mod cg;
mod edges;
mod elements;
mod grid;
mod integers;
mod lattice;
mod mesh;
mod particles;
mod sensors;
mod spectra;
mod waves;

use crate::Result;
use crate::corpus::{Entry, at, write};
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs;
use std::path::Path;

type Rng = Xoshiro256PlusPlus;
/// Payloads in the order of the sends.
type Messages = Vec<Vec<u8>>;

type Make = fn(&mut Rng) -> Messages;

/// All files, and their generators.
const FILES: &[(&str, Make)] = &[
    ("heat.f64", grid::heat::<f64>),
    ("heat.f32", grid::heat::<f32>),
    ("tracer.f32", grid::tracer),
    ("acoustic.f64", grid::acoustic),
    ("particles.f64", particles::ghosts),
    ("migrants.bin", particles::migrants),
    ("mesh.f64", mesh::gathers),
    ("cg.f64", cg::planes),
    ("lattice.f64", lattice::faces),
    ("spectra.f64", spectra::blocks),
    ("sensors.f64", sensors::readings::<f64>),
    ("sensors.f32", sensors::readings::<f32>),
    ("random.f64", sensors::random),
    ("ids.i32", integers::ids),
    ("columns.i32", integers::columns),
    ("adjacency.i64", integers::adjacency),
    ("stamps.i64", integers::stamps),
    ("counters.i64", integers::counters),
    ("blast.f64", blast::faces),
    ("elements.f64", elements::gathers),
    ("edges.bin", edges::packed),
    ("atoms.bin", particles::atoms),
    ("indices.i64", integers::indices),
    ("samples.i16", integers::samples),
];

/// Writes all files for this seed to a folder, which is created if necessary.
///
/// # Errors
/// If a file cannot be written.
pub fn write_all(folder: &Path, seed: u64) -> Result<()> {
    fs::create_dir_all(folder).map_err(at(folder))?;
    for (name, make) in FILES {
        let messages = make(&mut rng(name, seed));
        let mut offset = 0;
        let entry = |message: &Vec<u8>| {
            let bytes = message.len();
            offset += bytes;
            Entry { offset: offset - bytes, bytes, src: 0, dst: 1, tag: 0, call: "isend".into() }
        };
        let index: Vec<_> = messages.iter().map(entry).collect();
        write(folder, name, &messages.concat(), &index)?;
    }
    Ok(())
}

/// A separate generator for each file, so that a new file does not change the others.
fn rng(name: &str, seed: u64) -> Rng {
    Rng::seed_from_u64(name.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())))
}

/// The bytes of a message.
fn bytes<T: bytemuck::NoUninit>(elements: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(elements).to_vec()
}

/// A message length in bytes as in real programs: a few recurring ones.
fn length(rng: &mut Rng) -> usize {
    [2 << 10, 6 << 10, 16 << 10, 40 << 10, 64 << 10, 256 << 10].choose(rng).copied().unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    #[test]
    fn every_file_is_as_long_as_promised_and_the_same_each_time() {
        for (name, make) in FILES {
            let messages = make(&mut rng(name, 1));
            let total: usize = messages.iter().map(Vec::len).sum();
            assert!((1 << 20..=4 << 20).contains(&total), "{name}: {total}");
            let width = Element::of(Path::new(name)).unwrap().width();
            for len in messages.iter().map(Vec::len) {
                assert!((2 << 10..=256 << 10).contains(&len) && len % width == 0, "{name}: {len}");
            }
        }
        let (name, make) = FILES[FILES.len() - 1];
        assert!(make(&mut rng(name, 1)) == make(&mut rng(name, 1)));
        assert!(make(&mut rng(name, 1)) != make(&mut rng(name, 2)));
    }
}
