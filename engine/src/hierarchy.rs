//! The ranks of a communicator by node, and the ranks that combine data in a two-step reduction. The first step is inside each node, so each element
//! goes at most once from one node to another.

mod relay;

pub use relay::{Edge, Relayed};

use std::collections::HashMap;

/// The version of what ranks send each other in collectives (`docs/format/collectives.md`). Raise it with each change, because ranks of different
/// versions would wait for each other.
pub(crate) const VERSION: u32 = 4;

/// The distribution of ranks over nodes. Each rank owns one block of the data to be reduced; in each node one rank, its *aggregator*, combines the
/// contributions of the node's ranks to the block.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// For each node its ranks, in ascending order; nodes are in the order of their first ranks.
    members: Vec<Vec<usize>>,
    /// For each rank its node, and its index among the node's members.
    places: Vec<(usize, usize)>,
}

impl Hierarchy {
    /// `nodes`: for each rank, an identifier of its node.
    #[must_use]
    pub fn new(nodes: &[i32]) -> Self {
        let mut numbers = HashMap::new();
        let mut members: Vec<Vec<usize>> = Vec::new();
        let places = nodes
            .iter()
            .enumerate()
            .map(|(rank, name)| {
                let node = *numbers.entry(name).or_insert(members.len());
                if node == members.len() {
                    members.push(Vec::new());
                }
                members[node].push(rank);
                (node, members[node].len() - 1)
            })
            .collect();
        Self { members, places }
    }

    /// The number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.places.len()
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.members.len()
    }

    /// The node of a rank, numbered from 0.
    ///
    /// # Panics
    /// If there is no such rank.
    #[must_use]
    pub fn node(&self, rank: usize) -> usize {
        self.places[rank].0
    }

    /// The ranks of a node in cyclic order, starting with the one `step` after `rank`.
    ///
    /// # Panics
    /// If there is no such rank.
    #[must_use]
    pub fn neighbour(&self, rank: usize, step: usize) -> usize {
        let (node, place) = self.places[rank];
        let members = &self.members[node];
        members[(place + step) % members.len()]
    }

    /// The number of ranks in the node of a rank.
    ///
    /// # Panics
    /// If there is no such rank.
    #[must_use]
    pub fn beside(&self, rank: usize) -> usize {
        self.members[self.places[rank].0].len()
    }

    /// The rank of `node` that is the aggregator for the block of `owner`: the owner itself in its own node, in other nodes the one at the same
    /// index.
    ///
    /// # Panics
    /// If there is no such node or rank.
    #[must_use]
    pub fn aggregator(&self, node: usize, owner: usize) -> usize {
        let members = &self.members[node];
        members[self.places[owner].1 % members.len()]
    }

    /// The ranks whose blocks `rank` aggregates in its node, in ascending order. `rank` is one of them.
    pub fn aggregated_by(&self, rank: usize) -> impl Iterator<Item = usize> {
        let node = self.node(rank);
        (0..self.ranks()).filter(move |&owner| self.aggregator(node, owner) == rank)
    }

    /// The part of `rank` in passing a block on from its owner to all ranks.
    ///
    /// The block travels from node to node, from one aggregator to the next, so that it enters each node once and leaves each node at most once.
    /// Inside a node it travels from the aggregator to the others in a binary tree.
    ///
    /// # Panics
    /// If there is no such rank.
    #[must_use]
    fn hand_on(&self, owner: usize, rank: usize) -> HandOn {
        let (nodes, node) = (self.nodes(), self.node(rank));
        let aggregator = self.aggregator(node, owner);
        let beside = self.beside(rank);
        // From here on, indices in a node are relative to its aggregator.
        let place = (self.places[rank].1 + beside - self.places[aggregator].1) % beside;
        let at = |place| self.neighbour(aggregator, place);
        let distance = (node + nodes - self.node(owner)) % nodes;
        let from = match place {
            0 if distance == 0 => None,
            0 => Some(self.aggregator((node + nodes - 1) % nodes, owner)),
            _ => Some(at((place - 1) / 2)),
        };
        let next_node =
            (place == 0 && distance + 1 < nodes).then(|| self.aggregator((node + 1) % nodes, owner));
        let inside = [2 * place + 1, 2 * place + 2].into_iter().filter(|&place| place < beside).map(at);
        HandOn {
            from,
            to: next_node.into_iter().chain(inside).collect(),
            step: distance + (place + 1).ilog2() as usize,
        }
    }
}

/// The rank from which a rank gets a block, and the ranks to which it passes it on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HandOn {
    /// `None` if the block is the rank's own.
    from: Option<usize>,
    /// The one on another node comes first, if there is one.
    to: Vec<usize>,
    /// The number of ranks through which the block has passed.
    step: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_has_one_aggregator_in_each_node() {
        for nodes in [&[0][..], &[0, 0, 0], &[4, 7], &[0, 1, 0, 1], &[3, 3, 1, 3, 1, 2, 2, 2, 2]] {
            let hierarchy = Hierarchy::new(nodes);
            for owner in 0..nodes.len() {
                assert_eq!(hierarchy.aggregator(hierarchy.node(owner), owner), owner, "{nodes:?}");
                let aggregators: Vec<_> = (0..nodes.len())
                    .filter(|&rank| hierarchy.aggregated_by(rank).any(|aggregated| aggregated == owner))
                    .collect();
                assert_eq!(aggregators.len(), hierarchy.nodes(), "{nodes:?}");
                let mut of: Vec<_> = aggregators.iter().map(|&rank| hierarchy.node(rank)).collect();
                of.sort_unstable();
                assert!(of.iter().copied().eq(0..hierarchy.nodes()), "{nodes:?}");
            }
        }
    }

    #[test]
    fn neighbours_share_the_node() {
        let hierarchy = Hierarchy::new(&[5, 8, 5, 5]);
        assert_eq!((0..4).map(|step| hierarchy.neighbour(2, step)).collect::<Vec<_>>(), [2, 3, 0, 2]);
        assert_eq!(hierarchy.beside(3), 3);
        assert_eq!((hierarchy.neighbour(1, 1), hierarchy.beside(1)), (1, 1));
    }

    #[test]
    fn every_rank_gets_a_block_once_and_each_node_does() {
        for nodes in
            [&[0][..], &[0, 0, 0], &[4, 7], &[0, 0, 1, 1], &[0, 1, 0, 1, 0], &[3, 3, 1, 3, 1, 2, 2, 2, 2]]
        {
            let hierarchy = Hierarchy::new(nodes);
            for owner in 0..nodes.len() {
                let mut came = vec![0; nodes.len()];
                let mut between = 0;
                for rank in 0..nodes.len() {
                    let own = hierarchy.hand_on(owner, rank);
                    for &to in &own.to {
                        let other = hierarchy.hand_on(owner, to);
                        assert_eq!((other.from, other.step), (Some(rank), own.step + 1), "{nodes:?} {owner}");
                        came[to] += 1;
                        between += usize::from(nodes[to] != nodes[rank]);
                    }
                    assert_eq!(own.from.is_none(), rank == owner);
                }
                came[owner] += 1;
                assert!(came.iter().all(|&came| came == 1), "{nodes:?} {owner}: {came:?}");
                assert_eq!(between, hierarchy.nodes() - 1);
            }
        }
    }
}
