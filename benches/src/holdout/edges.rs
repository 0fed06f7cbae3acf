//! A search in a graph with a power-law degree distribution: edges sent to the owners of their vertices, with keys of several widths.

use super::{Messages, Rng, bytes};
use rand::RngExt;

/// The number of vertices, as a power of two.
const SCALE: u32 = 20;

/// A vertex of an edge, from the recursive matrix of Graph500.
fn vertex(rng: &mut Rng) -> u64 {
    (0..SCALE).fold(0, |vertex, _| vertex << 1 | u64::from(rng.random_bool(0.24)))
}

/// Structures of 16 bytes: the vertex reached, its parent's number at its owner, the level, and a mark. The edges of a parent are consecutive.
pub(super) fn packed(rng: &mut Rng) -> Messages {
    let message = |level: u16, count: usize, rng: &mut Rng| {
        let mut message = Vec::new();
        while message.len() < count * 16 {
            let parent = vertex(rng) as u32;
            let degree = 1 + (40.0 * rng.random::<f64>().powi(4)) as usize;
            for _ in 0..degree {
                message.extend_from_slice(&bytes(&[vertex(rng)]));
                message.extend_from_slice(&bytes(&[parent]));
                message.extend_from_slice(&bytes(&[level, 0x8001]));
            }
        }
        message.truncate(count * 16);
        message
    };
    (0..40).map(|i| message(2 + i / 8, 600 << (i % 4), rng)).collect()
}
