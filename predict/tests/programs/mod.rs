//! Receive calls of various kinds of programs. Each function returns those of one rank.
#![allow(unreachable_pub, dead_code, reason = "a module of tests, of which not all need all of it")]

use mpress_predict::{Envelope, Tag};

pub type Call = (Tag, Envelope);

/// Makes the calls of a program.
pub type Program = fn() -> Vec<Call>;

/// Pseudorandom numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

fn call(site: Tag, source: i32, tag: i32, count: u64, buffer: u64) -> Call {
    (site, Envelope { buffer: 0x5555_0000_0000 + buffer, count, source, tag, datatype: 0, comm: 0 })
}

const ANY: i32 = -1;

/// A wavefront solver (like NPB LU): planes are swept from one corner and back, received from any source; with exchanges of faces in between.
pub fn wavefront() -> Vec<Call> {
    let mut calls = Vec::new();
    for _ in 0..100 {
        for (site, from) in [(0x100, 1), (0x200, 4)] {
            for _ in 0..31 {
                calls.push(call(site, from, from, 160, 0));
                calls.push(call(site + 8, from + 1, from, 160, 0));
            }
        }
        for (site, tag) in [(0x300, 1), (0x310, 2), (0x320, 3), (0x330, 4)] {
            calls.push(call(site, ANY, tag, 10_000, 64));
        }
    }
    calls
}

/// A multigrid solver (like NPB MG): levels of different lengths in a V-cycle, received from any source.
pub fn multigrid() -> Vec<Call> {
    let mut calls = Vec::new();
    let mut level = |level: u64| {
        for axis in 0..3 {
            for side in 0..2 {
                let place = 0x8000 * (axis as u64 * 2 + side);
                calls.push(call(0x10 + side, ANY, 100 + axis * 2 + side as i32, 4 << (2 * level), place));
            }
        }
    };
    for _ in 0..40 {
        (0..6).rev().for_each(&mut level);
        (0..6).for_each(&mut level);
        level(5);
    }
    calls
}

/// Persistent receives started together at one place; every tenth step a reduction along a tree.
pub fn persistent() -> Vec<Call> {
    let mut calls = Vec::new();
    for step in 0..400 {
        for neighbour in 0..26 {
            calls.push(call(0x40, neighbour, neighbour + 7, 300, neighbour as u64 * 4096));
        }
        if step % 10 == 9 {
            calls.extend((0..4).map(|at| call(0x90, 1 << at, 0, 1, 8)));
        }
    }
    calls
}

/// Loops that end on convergence, after a varying number of iterations.
pub fn convergence() -> Vec<Call> {
    let (mut calls, mut random) = (Vec::new(), Random::new(1));
    for _ in 0..200 {
        calls.push(call(0x10, 3, 1, 1000, 0));
        for _ in 0..3 + random.below(6) {
            calls.push(call(0x20, 1, 2, 500, 1));
            calls.push(call(0x30, 2, 2, 500, 2));
        }
        for _ in 0..1 + random.below(3) {
            calls.push(call(0x40, 5, 9, 50, 3));
        }
    }
    calls
}

/// Tags that count steps, so that no two messages are equal.
pub fn counted_tags() -> Vec<Call> {
    let mut calls = Vec::new();
    for step in 0..500 {
        for from in 1..8 {
            calls.push(call(0x10, from, step, 100, from as u64 * 800));
        }
        calls.push(call(0x20, 0, step + 1000, 8, 0));
    }
    calls
}

/// Buffers used in rotation, a different number of them at each place.
pub fn rotating_buffers() -> Vec<Call> {
    let mut calls = Vec::new();
    for step in 0..900_u64 {
        calls.push(call(0x10, 1, 1, 100, step % 2 * 800));
        calls.push(call(0x20, 2, 1, 100, 10_000 + step % 3 * 800));
        calls.push(call(0x30, 3, 1, 100, 20_000 + step % 5 * 800));
    }
    calls
}

/// A master that receives results in order of arrival, and then associated data from the same worker.
pub fn master() -> Vec<Call> {
    let (mut calls, mut random) = (Vec::new(), Random::new(2));
    for _ in 0..1500 {
        let worker = 1 + random.below(7) as i32;
        calls.push(call(0x10, ANY, ANY, 4, 0));
        calls.push(call(0x20, worker, 7, 1 << 16, 64));
    }
    calls
}

/// A mesh whose neighbours change every twenty steps.
pub fn adaptive_mesh() -> Vec<Call> {
    let (mut calls, mut random) = (Vec::new(), Random::new(3));
    for _ in 0..25 {
        let neighbours: Vec<_> =
            (0..12).map(|_| (random.below(64) as i32, 64 + random.below(9) * 8)).collect();
        for _ in 0..20 {
            for (at, (source, count)) in neighbours.iter().enumerate() {
                calls.push(call(0x10, *source, 5, *count, at as u64 * 4096));
            }
            calls.push(call(0x20, 0, 1, 1, 8));
        }
    }
    calls
}

/// A newly allocated buffer for one of the messages of a step.
pub fn fresh_buffers() -> Vec<Call> {
    let (mut calls, mut random) = (Vec::new(), Random::new(4));
    for _ in 0..300 {
        for from in 0..9 {
            calls.push(call(0x10, from, 1, 100 + from as u64, from as u64 * 4096));
        }
        calls.push(call(0x20, 3, 2, 10, 0x1000_0000 + random.below(1 << 20) * 16));
    }
    calls
}

/// Many messages in a fixed order (like PSTSWM), two hundred distinct ones.
pub fn many_messages() -> Vec<Call> {
    let mut random = Random::new(5);
    let step: Vec<_> = (0..700)
        .map(|_| {
            let which = random.below(200);
            call(0x10 + which % 7, (which % 16) as i32, 3, 10 + which, which * 512)
        })
        .collect();
    step.repeat(30)
}

/// All programs whose order is not random, by name.
pub const PROGRAMS: [(&str, Program); 9] = [
    ("wavefront", wavefront),
    ("multigrid", multigrid),
    ("persistent", persistent),
    ("convergence", convergence),
    ("counted tags", counted_tags),
    ("rotating buffers", rotating_buffers),
    ("adaptive mesh", adaptive_mesh),
    ("fresh buffers", fresh_buffers),
    ("many messages", many_messages),
];
