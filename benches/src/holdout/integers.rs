//! Integers: numbers of particles, indices of sparse matrices and graphs, time stamps, counters, samples.

use super::{Messages, Rng, bytes, length};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Exp1, Poisson, StandardNormal};

/// Numbers of particles that move to a neighbour, in the order of their cells: half of the messages are sorted, with gaps, half are in random order
/// within a cell.
pub(super) fn ids(rng: &mut Rng) -> Messages {
    let message = |i| {
        let len = length(rng) / 4;
        let mut id = rng.random_range(0..4_000_000);
        let next = |_| {
            id += 1 + (rng.sample::<f64, _>(Exp1) * 20.0) as i32;
            id
        };
        let mut ids: Vec<i32> = (0..len).map(next).collect();
        if i % 2 == 1 {
            ids.chunks_mut(96).for_each(|cell| cell.shuffle(rng));
        }
        bytes(&ids)
    };
    (0..36).map(message).collect()
}

/// Column indices of a matrix of a 3-D grid, in rows of up to 27.
pub(super) fn columns(_rng: &mut Rng) -> Messages {
    let size = [30_i32, 28, 26];
    let number = |at: [i32; 3]| (at[0] * size[1] + at[1]) * size[2] + at[2];
    let row = |i: i32| {
        let at = [i / (size[1] * size[2]), i / size[2] % size[1], i % size[2]];
        let around = (0..27).map(move |n| [at[0] + n / 9 - 1, at[1] + n / 3 % 3 - 1, at[2] + n % 3 - 1]);
        around.filter(move |at| (0..3).all(|d| (0..size[d]).contains(&at[d]))).map(number)
    };
    let all: Vec<i32> = (0..size.iter().product()).flat_map(row).collect();
    all.chunks_exact(16 << 10).map(bytes).collect()
}

/// Global column indices of a solver's matrix: rows of seven points, each rank's numbers following those of the previous ranks, two unknowns per
/// point.
pub(super) fn indices(rng: &mut Rng) -> Messages {
    let size = [24_i64, 24, 24];
    let message = |part: i64| {
        let first = part * size.iter().product::<i64>() * 2 + (1 << 33);
        let number =
            |at: [i64; 3], unknown: i64| first + 2 * ((at[0] * size[1] + at[1]) * size[2] + at[2]) + unknown;
        let planes = rng.random_range(1..4);
        let mut columns = Vec::new();
        for i in 0..planes * size[1] * size[2] {
            let at = [i / (size[1] * size[2]), i / size[2] % size[1], i % size[2]];
            let around = [[0, 0, 0], [-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];
            for by in around {
                let there = [0, 1, 2].map(|d| at[d] + by[d]);
                if (0..3).all(|d| (0..size[d]).contains(&there[d])) {
                    columns.extend([number(there, 0), number(there, 1)]);
                }
            }
        }
        bytes(&columns)
    };
    (0..20).map(message).collect()
}

/// A graph's compressed rows: the start of each row, then the neighbours' numbers, most of them nearby.
pub(super) fn adjacency(rng: &mut Rng) -> Messages {
    let message = |part: i64| {
        let (first, rows) = (part * 100_000, rng.random_range(500..3000));
        let (mut begins, mut neighbours) = (vec![0_i64], Vec::new());
        for row in 0..rows {
            let degree = 2 + rng.sample::<f64, _>(Exp1).mul_add(6.0, 0.0) as usize;
            let other = |_| {
                let far = if rng.random_bool(0.1) { 1e6 } else { 200.0 };
                (first + row + (far * rng.sample::<f64, _>(StandardNormal)) as i64).abs()
            };
            let mut others: Vec<i64> = (0..degree).map(other).collect();
            others.sort_unstable();
            neighbours.extend(others);
            begins.push(neighbours.len() as i64);
        }
        bytes(&[begins, neighbours].concat())
    };
    (0..20).map(message).collect()
}

/// Times of events in nanoseconds since 1970.
pub(super) fn stamps(rng: &mut Rng) -> Messages {
    let mut now = 1_750_000_000_000_000_000_i64;
    let mut message = |_| {
        let len = length(rng) / 8;
        let next = |_| {
            now += (rng.sample::<f64, _>(Exp1) * 25_000.0) as i64;
            now
        };
        bytes(&(0..len).map(next).collect::<Vec<_>>())
    };
    (0..36).map(&mut message).collect()
}

/// Counts in the bins of a histogram, which grow from message to message and are then summed over all ranks.
pub(super) fn counters(rng: &mut Rng) -> Messages {
    let mut counts = vec![0_i64; 6000];
    let mut messages = Vec::new();
    for _ in 0..40 {
        for (bin, count) in counts.iter_mut().enumerate() {
            let mean = 400.0 * (-((bin as f64 - 2500.0) / 900.0).powi(2)).exp() + 0.5;
            // The mean is above zero, as the distribution requires.
            *count += Poisson::new(mean).map_or(0.0, |poisson| rng.sample(poisson)) as i64;
        }
        messages.push(bytes(&counts));
    }
    messages
}

/// Samples of a 14-bit detector: noise around a level, with occasional pulses.
pub(super) fn samples(rng: &mut Rng) -> Messages {
    let mut pulse = 0.0;
    let mut message = |_| {
        let next = |_| {
            pulse = if rng.random_bool(0.002) { rng.random_range(500.0..9000.0) } else { pulse * 0.97 };
            let noise: f64 = rng.sample(StandardNormal);
            (1200.0 + pulse + 6.0 * noise).clamp(0.0, 16383.0) as i16
        };
        bytes(&(0..32 << 10).map(next).collect::<Vec<_>>())
    };
    (0..24).map(&mut message).collect()
}
