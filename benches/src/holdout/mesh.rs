//! An unstructured mesh: three values per node, gathered through lists of the nodes shared with a neighbour.

use super::waves::Waves;
use super::{Messages, Rng, bytes};
use rand::RngExt;
use rand::seq::SliceRandom;

const NODES: usize = 40_000;

/// Nodes are numbered roughly as by a partitioner: nearby ones are close together, in random order.
pub(super) fn gathers(rng: &mut Rng) -> Messages {
    let waves = [(); 3].map(|()| Waves::new(rng));
    let mut nodes: Vec<[f64; 3]> = (0..NODES).map(|_| [(); 3].map(|()| rng.random())).collect();
    let block = |node: &[f64; 3]| node.map(|x| (x * 12.0) as u8);
    nodes.sort_by_key(block);
    for together in nodes.chunk_by_mut(|a, b| block(a) == block(b)) {
        together.shuffle(rng);
    }
    // Each neighbour shares the nodes of a different slab.
    let slab = |_| {
        let (direction, from) = (rng.random_range(0..3), rng.random_range(0.0..0.9));
        let until = from + rng.random_range(0.005..0.06);
        let shared = |i: &usize| (from..until).contains(&nodes[*i][direction]);
        (0..NODES).filter(shared).collect()
    };
    let lists: Vec<Vec<usize>> = (0..8).map(slab).collect();
    let message = |step: i32, list: &Vec<usize>| {
        let values = list.iter().map(|&i| [0, 1, 2].map(|d| waves[d].at(nodes[i], f64::from(step) * 0.01)));
        bytes(values.collect::<Vec<_>>().as_flattened())
    };
    (0..10)
        .flat_map(|step| lists.iter().map(move |list| (step, list)))
        .map(|(step, list)| message(step, list))
        .collect()
}
