//! The traffic on the links: the byte counters of the interfaces at one moment.

/// The bytes that each node has sent on its link, including Ethernet headers. Messages within a node do not
/// count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    sent: Vec<u64>,
}

impl Traffic {
    pub(crate) fn new(sent: Vec<u64>) -> Self {
        Self { sent }
    }

    /// The traffic since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let earlier = earlier.sent.iter().copied().chain(std::iter::repeat(0));
        Self { sent: self.sent.iter().zip(earlier).map(|(now, then)| now.saturating_sub(then)).collect() }
    }

    /// The bytes that one node sent; 0 if there is no such node.
    #[must_use]
    pub fn sent(&self, node: usize) -> u64 {
        self.sent.get(node).copied().unwrap_or(0)
    }

    /// The bytes that all nodes sent: the traffic through the switch.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.sent.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Traffic;

    #[test]
    fn a_delta_is_per_node() {
        let (before, after) = (Traffic::new(vec![10, 20]), Traffic::new(vec![15, 120]));
        let delta = after.since(&before);
        assert_eq!((delta.sent(0), delta.sent(1), delta.sent(2)), (5, 100, 0));
        assert_eq!(delta.total(), 105);
    }
}
