//! Bandwidths by node. Most nodes are reached over the rank's own link, which is the same for all of them, so they share the estimate of their class.
//! Those that are unlike most, because of their own link or a switch on the way, have an estimate of their own.

use crate::trains::{Train, Trains};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A node is unlike most if its bandwidth differs by this factor from theirs.
const UNLIKE: f64 = 1.5;
/// The number of nodes that are remembered: those with the latest trains.
const MOST: usize = 256;
/// A node is forgotten if this many times the number of nodes that are remembered trains came from others.
const STALE: usize = 64;

/// The nodes from which trains came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    /// The trains from all nodes together.
    all: Trains,
    /// By the number of the node, its trains and the number of the latest one.
    trains: BTreeMap<u32, (Trains, u64)>,
    /// The number of trains so far.
    count: u64,
    /// The bandwidths of nodes that are unlike most, in MB/s.
    unlike: BTreeMap<u32, f64>,
}

impl Nodes {
    /// Records a train from a node, or from several at once. `believed`: the bandwidth of the class so far. Returns that of most nodes, if it is known
    /// from trains and may have changed.
    pub(crate) fn add(&mut self, node: Option<u32>, train: Train, believed: f64) -> Option<f64> {
        self.count += 1;
        let mut is_new = self.all.add(train, believed);
        if let Some(node) = node {
            let (trains, latest) = self.trains.entry(node).or_default();
            *latest = self.count;
            is_new |= trains.add(train, believed);
            self.forget();
        }
        if !is_new {
            return None;
        }
        let most = self.most()?;
        let unlike = self.trains.iter().filter_map(|(node, (trains, _))| {
            let mb_s = trains.bandwidth()?;
            let is_unlike = !(1.0 / UNLIKE..=UNLIKE).contains(&(mb_s / most));
            is_unlike.then_some((*node, mb_s))
        });
        self.unlike = unlike.collect();
        Some(most)
    }

    /// The median of the nodes' bandwidths, once half of them are known; the faster of two, as a network that is believed to be slow costs more if it is
    /// not. Before, and where there are too many nodes to know them one by one, that of all trains.
    fn most(&self) -> Option<f64> {
        let mut nodes: Vec<_> = self.trains.values().filter_map(|(trains, _)| trains.bandwidth()).collect();
        if nodes.is_empty() || 2 * nodes.len() < self.trains.len() {
            return self.all.bandwidth();
        }
        nodes.sort_unstable_by(f64::total_cmp);
        nodes.get(nodes.len() / 2).copied()
    }

    /// Forgets nodes from which no train has come for long.
    fn forget(&mut self) {
        let (count, oldest) = (self.count, (self.trains.len() * STALE) as u64);
        self.trains.retain(|_, (_, latest)| count - *latest <= oldest);
        if self.trains.len() > MOST
            && let Some((&node, _)) = self.trains.iter().min_by_key(|(_, (_, latest))| *latest)
        {
            self.trains.remove(&node);
        }
        self.unlike.retain(|node, _| self.trains.contains_key(node));
    }

    /// Forgets the nodes that are unlike most: no train has told of any for some time.
    pub(crate) fn doubt(&mut self) {
        self.trains.retain(|node, _| !self.unlike.contains_key(node));
        self.unlike.clear();
    }

    /// The bandwidth of this node in MB/s, if it is unlike that of most.
    #[inline]
    pub(crate) fn own(&self, node: Option<u32>) -> Option<f64> {
        if self.unlike.is_empty() { None } else { self.unlike.get(&node?).copied() }
    }

    /// The bandwidths of all nodes that are unlike most, in MB/s.
    pub(crate) fn unlike(&self) -> impl Iterator<Item = f64> + '_ {
        self.unlike.values().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends trains of these MB/s from these nodes in turn, and returns the latest bandwidth of most.
    fn after(nodes: &mut Nodes, rounds: usize, trains: &[(Option<u32>, f64)]) -> Option<f64> {
        let all = (0..rounds).flat_map(|_| trains);
        let ns = |mb_s: f64| 1e6 * 1e3 / mb_s;
        let told =
            all.filter_map(|&(node, mb_s)| nodes.add(node, Train::new(1_000_000, ns(mb_s), 0.0)?, 120.0));
        told.last()
    }

    fn is_near(one: Option<f64>, other: f64) -> bool {
        one.is_some_and(|one| (one / other - 1.0).abs() < 1e-6)
    }

    #[test]
    fn a_node_with_another_link_has_its_own() {
        for (odd, mb_s) in [(0, 12.0), (1, 1200.0), (2, 12.0)] {
            let mut nodes = Nodes::default();
            let trains: Vec<_> =
                (0..3).map(|node| (Some(node), if node == odd { mb_s } else { 110.0 })).collect();
            assert!(is_near(after(&mut nodes, 16, &trains), 110.0), "{nodes:?}");
            assert!(is_near(nodes.own(Some(odd)), mb_s));
            assert_eq!(nodes.unlike().count(), 1);
            assert_eq!(
                (nodes.own(Some((odd + 1) % 3)), nodes.own(Some(7)), nodes.own(None)),
                (None, None, None)
            );
        }
    }

    #[test]
    fn of_two_links_the_faster_one_is_that_of_most() {
        let mut nodes = Nodes::default();
        assert!(is_near(after(&mut nodes, 16, &[(Some(3), 12.0), (Some(1), 110.0)]), 110.0));
        assert!(is_near(nodes.own(Some(3)), 12.0));
    }

    #[test]
    fn a_network_that_changes_as_a_whole_has_no_odd_nodes() {
        let mut nodes = Nodes::default();
        after(&mut nodes, 16, &[(Some(1), 110.0), (Some(2), 115.0), (Some(3), 90.0)]);
        assert_eq!(nodes.unlike().count(), 0);
        assert!(is_near(after(&mut nodes, 12, &[(Some(1), 11.0), (Some(2), 11.5), (Some(3), 9.0)]), 11.0));
        assert_eq!(nodes.unlike().count(), 0, "{nodes:?}");
    }

    #[test]
    fn trains_of_several_nodes_count_until_one_is_known() {
        let mut nodes = Nodes::default();
        assert!(is_near(after(&mut nodes, 16, &[(None, 60.0)]), 60.0));
        after(&mut nodes, 16, &[(None, 60.0), (Some(1), 110.0)]);
        assert!(is_near(nodes.most(), 110.0));
    }

    #[test]
    fn more_nodes_than_are_remembered_show_the_bandwidth_together() {
        for count in [16, 300] {
            let mut nodes = Nodes::default();
            let all = |mb_s| (0..count).map(|node| (Some(node), mb_s)).collect::<Vec<_>>();
            assert!(is_near(after(&mut nodes, 1, &all(110.0)), 110.0), "{count}");
            assert!(
                is_near(after(&mut nodes, if count > 256 { 1 } else { 16 }, &all(11.0)), 11.0),
                "{count}"
            );
            assert_eq!(nodes.unlike().count(), 0);
        }
    }

    #[test]
    fn nodes_are_forgotten_and_doubted() {
        let mut nodes = Nodes::default();
        after(&mut nodes, 16, &[(Some(1), 110.0), (Some(2), 12.0)]);
        after(&mut nodes, 2 * STALE + 1, &[(Some(1), 110.0)]);
        assert_eq!(nodes.own(Some(2)), None);
        after(&mut nodes, 16, &[(Some(1), 110.0), (Some(2), 12.0)]);
        assert!(nodes.own(Some(2)).is_some());
        nodes.doubt();
        after(&mut nodes, 1, &[(Some(1), 110.0)]);
        assert_eq!(nodes.own(Some(2)), None);
        (0..1000).for_each(|node| _ = after(&mut nodes, 1, &[(Some(node), 12.0)]));
        assert!(nodes.trains.len() <= MOST);
    }
}
