//! Locality (5.2): sets of k messages, of which one may come next.

use alloc::vec::Vec;

/// Which message makes place for a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// The one not used for the longest time.
    LeastRecentlyUsed,
    /// The one that has been in the set for the longest time.
    FirstIn,
    /// The one that was used the least times since it came into the set; of several the one in the first place. (Were it
    /// the oldest, then LFU would be FIFO wherever all messages are used alike, as in BT; the paper finds it better.)
    LeastFrequentlyUsed,
}

/// The set of the last k messages. It does not say which of them comes next: a hit is a message that is in it.
#[derive(Clone, Debug)]
pub struct Window<M> {
    replace: Replace,
    size: usize,
    /// A message and its rank: the one of least rank is replaced.
    places: Vec<(M, u64)>,
    now: u64,
}

impl<M: Copy + Eq> Window<M> {
    /// A set of at most `size` messages, at first empty.
    #[must_use]
    pub fn new(replace: Replace, size: usize) -> Self {
        Self { replace, size, places: Vec::new(), now: 0 }
    }

    /// Takes a call, and says whether its message was in the set.
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
