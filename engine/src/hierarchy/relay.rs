//! The messages that a rank sends and receives when blocks are relayed in chunks, and their order (`docs/format/collectives.md`).
//!
//! Chunks between two ranks are ordered by the sum of their number and the number of ranks that they have passed ([`HandOn::step`]). In this order,
//! each chunk waits only for earlier ones, so ranks do not wait for each other in a cycle.

use super::{HandOn, Hierarchy};
use std::collections::BTreeMap;

/// A message: a chunk of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relayed {
    /// The number of the block.
    pub block: usize,
    /// The number of its chunk.
    pub index: usize,
}

/// A message, and its position in the order between two ranks.
type Keyed = ((usize, usize), Relayed);

/// All messages from or to another rank.
#[derive(Clone, Debug)]
pub struct Edge {
    /// That rank.
    pub other: usize,
    /// Whether it is on the same node.
    pub inside: bool,
    /// The messages in order.
    pub due: Vec<Relayed>,
}

impl Hierarchy {
    /// The messages that a rank receives, and those that it sends, for blocks with these owners and numbers of chunks.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn relay(&self, rank: usize, blocks: impl IntoIterator<Item = (usize, usize)>) -> [Vec<Edge>; 2] {
        let [mut from, mut to] = [BTreeMap::new(), BTreeMap::new()];
        for (block, (owner, chunks)) in blocks.into_iter().enumerate() {
            let HandOn { from: source, to: dests, step } = self.hand_on(owner, rank);
            let plan = |list: &mut BTreeMap<usize, Vec<_>>, other, step: usize| {
                let due = (0..chunks).map(|index| ((index + step, step), Relayed { block, index }));
                list.entry(other).or_default().extend(due);
            };
            if let Some(source) = source {
                plan(&mut from, source, step - 1);
            }
            dests.into_iter().for_each(|dest| plan(&mut to, dest, step));
        }
        [from, to].map(|edges| {
            let edge = |(other, mut due): (usize, Vec<Keyed>)| {
                due.sort_by_key(|(key, _)| *key); // the sort is stable: equal keys stay in the order of their blocks
                let inside = self.node(other) == self.node(rank);
                Edge { other, inside, due: due.into_iter().map(|(_, message)| message).collect() }
            };
            edges.into_iter().map(edge).collect()
        })
    }

    /// Whether a rank passes the block of this owner on to another node.
    ///
    /// # Panics
    /// If there is no such rank.
    #[must_use]
    pub fn leaves_node(&self, owner: usize, rank: usize) -> bool {
        self.hand_on(owner, rank).to.first().is_some_and(|&to| self.node(to) != self.node(rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_keep_the_order_never_wait_in_a_cycle() {
        for nodes in [&[0, 0, 0][..], &[4, 7], &[0, 0, 1, 1], &[0, 1, 0, 1, 0], &[3, 3, 1, 3, 1, 2, 2, 2, 2]]
        {
            let (hierarchy, ranks) = (Hierarchy::new(nodes), nodes.len());
            let blocks = || (0..ranks).map(|owner| (owner, 1 + owner % 4));
            let edges: Vec<_> = (0..ranks).map(|rank| hierarchy.relay(rank, blocks())).collect();
            // The number of messages that have gone from a rank to another, and the chunks that a rank has.
            let mut gone = vec![vec![0; ranks]; ranks];
            let mut here: Vec<Vec<usize>> = vec![vec![0; ranks]; ranks];
            blocks().for_each(|(owner, chunks)| here[owner][owner] = chunks);
            loop {
                let mut moved = false;
                for (rank, [_, to]) in edges.iter().enumerate() {
                    for Edge { other, inside, due } in to {
                        assert_eq!(*inside, nodes[rank] == nodes[*other]);
                        let from = edges[*other][0].iter().find(|edge| edge.other == rank).unwrap();
                        assert_eq!(from.due, *due, "both ends have the same order");
                        while let Some(next) = due.get(gone[rank][*other])
                            && here[rank][next.block] > next.index
                        {
                            assert_eq!(here[*other][next.block], next.index);
                            here[*other][next.block] += 1;
                            gone[rank][*other] += 1;
                            moved = true;
                        }
                    }
                }
                if !moved {
                    break;
                }
            }
            let all: Vec<_> = blocks().map(|(_, chunks)| chunks).collect();
            assert!(here.iter().all(|here| *here == all), "{nodes:?}: {here:?}");
        }
    }

    #[test]
    fn one_rank_of_a_node_passes_a_block_on() {
        let hierarchy = Hierarchy::new(&[0, 0, 1, 1, 2]);
        let leaves = |owner| (0..5).filter(|&rank| hierarchy.leaves_node(owner, rank)).collect::<Vec<_>>();
        assert_eq!([leaves(0), leaves(1), leaves(4)], [vec![0, 2], vec![1, 3], vec![0, 4]]);
    }
}
