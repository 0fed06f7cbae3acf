//! Finite elements of an unstructured mesh, each sent with the values at its nodes, so that the values of a node occur once for each of its elements.

use super::waves::Waves;
use super::{Messages, Rng, bytes};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Nodes along each side of the mesh, before they are displaced.
const SIDE: usize = 20;

/// Displacements at the four nodes of each tetrahedron of a part of the mesh.
pub(super) fn gathers(rng: &mut Rng) -> Messages {
    let waves = [(); 3].map(|()| Waves::new(rng));
    let number = |at: [usize; 3]| (at[0] * SIDE + at[1]) * SIDE + at[2];
    let nodes: Vec<[f64; 3]> = (0..SIDE.pow(3))
        .map(|i| {
            let at = [i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE];
            at.map(|x| (x as f64 + rng.random_range(-0.3..0.3)) / SIDE as f64)
        })
        .collect();
    // Six tetrahedra per cube, all from its first to its last corner: one for each order of the directions.
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut elements = Vec::new();
    for cube in 0..(SIDE - 1).pow(3) {
        let at = [cube / (SIDE - 1).pow(2), cube / (SIDE - 1) % (SIDE - 1), cube % (SIDE - 1)];
        for order in orders {
            let mut corner = at;
            let mut element = [number(at); 4];
            for (to, d) in element[1..].iter_mut().zip(order) {
                corner[d] += 1;
                *to = number(corner);
            }
            elements.push(element);
        }
    }
    // Numbered as by a partitioner: nearby elements are close together, in random order.
    elements.chunks_mut(64).for_each(|near| near.shuffle(rng));
    let mut messages = Vec::new();
    for step in 0..4 {
        let value = |i: usize| [0, 1, 2].map(|d| 0.01 * waves[d].at(nodes[i], f64::from(step) * 0.05));
        for part in elements.chunks(1500).step_by(3).take(7) {
            let values: Vec<[f64; 3]> = part.as_flattened().iter().map(|i| value(*i)).collect();
            messages.push(bytes(values.as_flattened()));
        }
    }
    messages
}
