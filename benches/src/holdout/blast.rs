//! The early phase of a blast on a 3-D grid: a hot corner, a front of finite speed, and ahead of it the initial state, the same in every cell.

use super::{Messages, Rng, bytes};
use rand::RngExt;

/// Cells along each side.
const SIDE: usize = 48;

fn number(at: [usize; 3]) -> usize {
    (at[0] * SIDE + at[1]) * SIDE + at[2]
}

/// Faces inside the grid, three consecutive fields: energy, pressure, and the flow across the face. Energy spreads by nonlinear diffusion, faster
/// where there is more of it.
pub(super) fn faces(rng: &mut Rng) -> Messages {
    let ambient = 1e-6;
    let mut energy = vec![ambient; SIDE.pow(3)];
    energy[0] = rng.random_range(3e4..5e4);
    let mut messages = Vec::new();
    for step in 0..240 {
        let old = energy.clone();
        let flow = |here: usize, there: usize| {
            let mean: f64 = 0.5 * (old[here] + old[there]);
            0.05 * mean.sqrt().min(2.0) * (old[here] - old[there])
        };
        for cell in 0..SIDE.pow(3) {
            let at = [cell / (SIDE * SIDE), cell / SIDE % SIDE, cell % SIDE];
            for d in 0..3 {
                if at[d] + 1 < SIDE {
                    let mut next = at;
                    next[d] += 1;
                    let flow = flow(cell, number(next));
                    // Flows below the ambient state are set to zero, so that the front is sharp.
                    if flow.abs() > ambient {
                        energy[cell] -= flow;
                        energy[number(next)] += flow;
                    }
                }
            }
        }
        if step % 12 == 11 {
            for d in 0..3 {
                let across = |i: usize, j: usize, depth: usize| {
                    let mut at = [i, j, depth];
                    at.rotate_right((d + 1) % 3);
                    number(at)
                };
                let cells = (0..SIDE * SIDE).map(|n| (n / SIDE, n % SIDE));
                let (mut face, mut pressure, mut flows) = (Vec::new(), Vec::new(), Vec::new());
                for (i, j) in cells {
                    let (here, there) = (across(i, j, 4), across(i, j, 5));
                    face.push(energy[here]);
                    pressure.push(energy[here] * (1.4 - 1.0));
                    flows.push(energy[here] - energy[there]);
                }
                messages.push(bytes(&[face, pressure, flows].concat()));
            }
        }
    }
    messages
}
