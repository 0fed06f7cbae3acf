//! Random datatypes, reproducible by seed.

use super::recipe::{NAMED, Recipe};
use crate::{Dimension, Distribution, Order};
use std::boxed::Box;
use std::vec::Vec;

/// Numbers for tests (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number from `low` to `high`, both included.
    pub fn within(&mut self, low: isize, high: isize) -> isize {
        low + (self.number() % (high - low + 1) as u64) as isize
    }

    /// A number from `low` to `high`, both included.
    pub fn count(&mut self, low: usize, high: usize) -> usize {
        low + (self.number() % (high - low + 1) as u64) as usize
    }
}

/// A random datatype of nested constructors, at most `depth` deep. With `empties`, parts may be empty.
#[must_use]
pub fn random(random: &mut Random, depth: usize, empties: bool) -> Recipe {
    if depth == 0 || random.count(0, 9) == 0 {
        return Recipe::Named(random.count(0, NAMED.len() - 1));
    }
    let old = |numbers: &mut Random| Box::new(self::random(numbers, depth - 1, empties));
    let least = usize::from(!(empties && random.count(0, 3) == 0));
    let count = random.count(least, 4);
    // Sometimes a long loop of elements, for which kernels have their own code.
    let count = if random.count(0, 5) == 0 { count * 9 } else { count };
    let len = random.count(least, 3);
    let lens = |numbers: &mut Random| (0..count).map(|_| numbers.count(least, 3)).collect();
    let places = |numbers: &mut Random, reach: isize| -> Vec<isize> {
        let ordered = numbers.count(0, 2) > 0;
        let mut at = numbers.within(-reach, reach);
        let mut next = || {
            at = if ordered { at + numbers.within(0, reach) } else { numbers.within(-reach, 2 * reach) };
            at
        };
        (0..count).map(|_| next()).collect()
    };
    let order = if random.count(0, 1) == 0 { Order::C } else { Order::Fortran };
    match random.count(1, 12) {
        1 => Recipe::Dup(old(random)),
        2 => Recipe::Contiguous(count, old(random)),
        3 => Recipe::Vector(count, len, random.within(-6, 9), old(random)),
        4 => Recipe::Hvector(count, len, random.within(-60, 120), old(random)),
        5 => Recipe::Indexed(lens(random), places(random, 6), old(random)),
        6 => Recipe::Hindexed(lens(random), places(random, 90), old(random)),
        7 => Recipe::IndexedBlock(len, places(random, 6), old(random)),
        8 => Recipe::HindexedBlock(len, places(random, 90), old(random)),
        9 => {
            let (lens, places) = (lens(random), places(random, 90));
            Recipe::Struct(lens, places, (0..count).map(|_| *old(random)).collect())
        }
        10 => {
            let dimensions = random.count(1, 3);
            let subsizes: Vec<_> = (0..dimensions).map(|_| random.count(1, 4)).collect();
            let starts: Vec<_> = (0..dimensions).map(|_| random.count(0, 3)).collect();
            let mut size = |i: usize| subsizes[i] + starts[i] + random.count(0, 2);
            let sizes = (0..dimensions).map(&mut size).collect();
            Recipe::Subarray(sizes, subsizes, starts, order, old(random))
        }
        11 => {
            let dimensions: Vec<_> = (0..random.count(1, 3)).map(|_| dimension(random, empties)).collect();
            let processes: usize = dimensions.iter().map(|dimension| dimension.processes).product();
            Recipe::Darray(random.count(0, processes - 1), dimensions, order, old(random))
        }
        _ => Recipe::Resized(random.within(-24, 24), random.within(-16, 96), old(random)),
    }
}

/// A dimension that gives every process elements; with `empties`, some may have none.
fn dimension(random: &mut Random, empties: bool) -> Dimension {
    let processes = random.count(1, 3);
    let len = random.count(1, 3);
    let global = random.count(if empties { 1 } else { processes * len }, 9.max(processes * len));
    let (distribution, processes) = match random.count(0, 4) {
        0 => (Distribution::None, 1),
        // For example, of 5 elements over 3 processes with 2 each, the last one has one.
        1 if empties || global.div_ceil(processes) * (processes - 1) < global => {
            (Distribution::Block(None), processes)
        }
        2 => (Distribution::Cyclic(None), processes),
        3 => (Distribution::Cyclic(Some(len)), processes),
        _ if empties => {
            (Distribution::Block(Some(global.div_ceil(processes) + random.count(0, 1))), processes)
        }
        _ => (Distribution::Cyclic(None), processes),
    };
    Dimension { global, distribution, processes }
}
