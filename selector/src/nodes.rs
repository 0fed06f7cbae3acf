//! Which links lead to which nodes: nodes that are reached equally fast share a class.

use crate::link::{ENOUGH, Observed, PEER_CLASSES, PeerClass, Samples, Train};
use alloc::collections::BTreeMap;

/// A train that is this many times faster or slower than the link of its node's class is not like it.
const OTHER: f64 = 2.0;
/// Links that differ by less than this factor are alike.
const ALIKE: f64 = 1.25;
/// The fastest of the trains that were not like their class, this many, may be outliers; the next one is used for the node's own link.
const LUCKY: usize = 2;

/// The nodes of which trains have come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    known: BTreeMap<u32, Node>,
    /// By class, the number of trains that were like it.
    alike: [u32; PEER_CLASSES],
}

#[derive(Clone, Debug)]
struct Node {
    class: PeerClass,
    /// The latest trains, if none of them was like the class, and whether they were faster.
    others: Samples,
    are_faster: bool,
    /// The number of trains like the class before them.
    alike: u32,
}

impl Default for Node {
    fn default() -> Self {
        Self { class: PeerClass::NETWORK, others: Samples::default(), are_faster: false, alike: 0 }
    }
}

impl Nodes {
    /// The class of a node.
    pub(crate) fn class(&self, node: Option<u32>) -> PeerClass {
        let known = node.and_then(|node| self.known.get(&node));
        known.map_or(PeerClass::NETWORK, |node| node.class)
    }

    /// Records a train from this node. If [`ENOUGH`] in a row were not like the link of the node's class, while as many of other nodes were, the node
    /// gets the class that is, or one of its own, which is returned. If all nodes change together, their class changes ([`Observed::came`]), and
    /// they keep it.
    pub(crate) fn train(
        &mut self,
        node: u32,
        Train { mb_s, is_exact }: Train,
        links: &mut [Observed; PEER_CLASSES],
    ) -> Option<PeerClass> {
        let of = |class: PeerClass| links[class.index()].link().bandwidth_mb_s;
        let known = self.known.entry(node).or_default();
        if is_within(of(known.class), of(PeerClass::NETWORK), ALIKE) {
            known.class = PeerClass::NETWORK;
        }
        let alike = &mut self.alike[known.class.index()];
        let (is_faster, is_slower) =
            (mb_s > OTHER * of(known.class), is_exact && OTHER * mb_s < of(known.class));
        if !is_faster && !is_slower {
            *alike = alike.wrapping_add(u32::from(is_exact));
            known.others = Samples::default();
            return None;
        }
        if known.others.is_empty() || known.are_faster != is_faster {
            (known.others, known.are_faster, known.alike) = (Samples::default(), is_faster, *alike);
        }
        let mb_s = known.others.add(mb_s, LUCKY)?;
        if (alike.wrapping_sub(known.alike) as usize) < ENOUGH {
            return None;
        }
        known.others = Samples::default();
        let like = self.used().find(|&class| is_within(of(class), mb_s, ALIKE));
        let unused = PeerClass::all()
            .find(|&class| class != PeerClass::SAME_NODE && self.used().all(|used| used != class));
        let new = unused.filter(|_| like.is_none());
        if let Some(new) = new {
            links[new.index()] = links[PeerClass::NETWORK.index()].with_bandwidth(mb_s);
        }
        // Where all classes are used, a node that is like none of them stays.
        self.known.get_mut(&node)?.class = like.or(new)?;
        new
    }

    /// The number of nodes of a class that is not that of all others.
    pub(crate) fn count(&self, class: PeerClass) -> usize {
        self.known.values().filter(|node| node.class == class && class != PeerClass::NETWORK).count()
    }

    /// The classes of other nodes that have any.
    fn used(&self) -> impl Iterator<Item = PeerClass> {
        let has_nodes = |class| self.known.values().any(|node| node.class == class);
        PeerClass::all().filter(move |&class| class == PeerClass::NETWORK || has_nodes(class))
    }
}

fn is_within(a: f64, b: f64, factor: f64) -> bool {
    a < factor * b && b < factor * a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;

    const MB_S: f64 = 1000.0;

    struct Network {
        nodes: Nodes,
        links: [Observed; PEER_CLASSES],
    }

    impl Network {
        fn new() -> Self {
            let link = Link { latency_us: 20.0, bandwidth_mb_s: MB_S };
            Self { nodes: Nodes::default(), links: core::array::from_fn(|_| Observed::new(link)) }
        }

        /// A megabyte comes from a node at this speed.
        fn comes(&mut self, node: u32, mb_s: f64) {
            let train = Train::new(1_000_000, 1e9 / mb_s, 0.0).unwrap();
            self.links[self.nodes.class(Some(node)).index()].came(train);
            self.nodes.train(node, train, &mut self.links);
        }

        fn mb_s(&self, node: u32) -> f64 {
            self.links[self.nodes.class(Some(node)).index()].link().bandwidth_mb_s
        }
    }

    #[test]
    fn nodes_that_are_not_like_others_have_links_of_their_own() {
        let mut network = Network::new();
        let mb_s = |node: u32| [MB_S, MB_S, 100.0, 105.0, 4000.0, MB_S][node as usize];
        for _ in 0..40 {
            (0..6).for_each(|node| network.comes(node, mb_s(node)));
        }
        for node in 0..6 {
            assert!(is_within(network.mb_s(node), mb_s(node), 1.1), "{node}: {}", network.mb_s(node));
        }
        let class = |node| network.nodes.class(Some(node));
        assert_eq!(
            (class(0), class(1), class(5)),
            (PeerClass::NETWORK, PeerClass::NETWORK, PeerClass::NETWORK)
        );
        assert_eq!(class(2), class(3));
        assert!(class(2) != class(4) && class(4) != PeerClass::NETWORK);
        assert_eq!(
            (network.nodes.class(None), network.nodes.class(Some(99))),
            (PeerClass::NETWORK, PeerClass::NETWORK)
        );
    }

    #[test]
    fn nodes_that_change_together_stay_together() {
        for nodes in [1, 2, 10] {
            let mut network = Network::new();
            for mb_s in [MB_S, 100.0, MB_S] {
                for _ in 0..40 {
                    (0..nodes).for_each(|node| network.comes(node, mb_s));
                }
                assert!((0..nodes).all(|node| network.nodes.class(Some(node)) == PeerClass::NETWORK));
                assert!(is_within(network.mb_s(0), mb_s, 1.1), "{nodes}");
            }
        }
    }

    #[test]
    fn a_node_that_is_like_the_others_again_returns_to_them() {
        let mut network = Network::new();
        for mb_s in [100.0, MB_S] {
            for _ in 0..40 {
                network.comes(0, mb_s);
                network.comes(1, MB_S);
            }
            assert!(is_within(network.mb_s(0), mb_s, 1.1), "{}", network.mb_s(0));
            assert_eq!(network.nodes.class(Some(0)) == PeerClass::NETWORK, mb_s == MB_S);
        }
    }

    #[test]
    fn more_sorts_of_links_than_classes_do_no_harm() {
        let mut network = Network::new();
        for at in 0..400 {
            network.comes(0, MB_S);
            network.comes(1 + at % 7, 1.0 + 400.0 * f64::from(at % 7 == at % 5));
        }
        assert!((0..8).all(|node| network.nodes.class(Some(node)) != PeerClass::SAME_NODE));
    }
}
