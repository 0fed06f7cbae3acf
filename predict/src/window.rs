//! Locality (5.2): sets of k messages, one of which may come next.

use alloc::vec::Vec;

/// Which message is replaced by a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// The least recently used one.
    LeastRecentlyUsed,
    /// The one that has been in the set for the longest time.
    FirstIn,
    /// The one used least often since it was added; the one in the first place if there are ties. (If ties went to the oldest, LFU would equal
    /// FIFO wherever all messages are used equally often, as in BT; the paper finds it better.)
    LeastFrequentlyUsed,
}

/// A set of up to k recent messages. It does not predict which of them comes next: a hit is a message in the set.
#[derive(Clone, Debug)]
pub struct Window<M> {
    replace: Replace,
    size: usize,
    /// Messages and their ranks: the one of lowest rank is replaced.
    places: Vec<(M, u64)>,
    now: u64,
}

impl<M: Copy + Eq> Window<M> {
    /// An empty set of at most `size` messages.
    #[must_use]
    pub fn new(replace: Replace, size: usize) -> Self {
        Self { replace, size, places: Vec::new(), now: 0 }
    }

    /// Adds a call. Returns whether its message was in the set.
    pub fn observe(&mut self, message: M) -> bool {
        self.now += 1;
        if let Some((_, rank)) = self.places.iter_mut().find(|(member, _)| *member == message) {
            match self.replace {
                Replace::LeastRecentlyUsed => *rank = self.now,
                Replace::FirstIn => {}
                Replace::LeastFrequentlyUsed => *rank += 1,
            }
            return true;
        }
        let rank = if self.replace == Replace::LeastFrequentlyUsed { 1 } else { self.now };
        if self.places.len() < self.size {
            self.places.push((message, rank));
        } else if let Some(place) = self.places.iter_mut().min_by_key(|(_, rank)| *rank) {
            *place = (message, rank);
        }
        false
    }
}
