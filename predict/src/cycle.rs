//! Discovery of cycles: only the last cycle (6.1), or the last cycle of each head (6.4).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Finds cycles in a sequence of messages and predicts from them.
pub trait Discovery<M> {
    /// The predicted next message.
    fn predict(&self) -> Option<M>;
    /// Reports the message that occurred.
    fn observe(&mut self, message: M);
    /// The length of the longest cycle so far in messages, including both its head and the recurrence of its head. This is how the paper counts: an
    /// iteration of 42 calls takes 43 (Table 1, BT and SP).
    fn longest(&self) -> usize;
    /// The number of cycles kept, one per head.
    fn heads(&self) -> usize;
}

/// The Single-cycle algorithm of section 6.1, without the initialisation phase.
///
/// Starting at a cycle-head (the first message, or one that was mispredicted), messages are logged until the head recurs. The log is then the
/// cycle, which is followed until the next miss. While a cycle forms, the last message is predicted.
#[derive(Clone, Debug)]
pub struct Cycle<M> {
    /// The cycle, complete or forming, starting with its head.
    log: Vec<M>,
    /// The index of the predicted next message; `None` while the cycle forms.
    next: Option<usize>,
    last: Option<M>,
    longest: usize,
}

impl<M> Default for Cycle<M> {
    fn default() -> Self {
        Self { log: Vec::new(), next: None, last: None, longest: 0 }
    }
}

impl<M: Copy + Eq> Cycle<M> {
    /// Follows a cycle that was found elsewhere and whose head has just recurred.
    pub(crate) fn follow(cycle: impl Iterator<Item = M>) -> Self {
        let log: Vec<_> = cycle.collect();
        Self { next: Some(1 % log.len().max(1)), last: log.first().copied(), longest: log.len() + 1, log }
    }
}

impl<M: Copy + Eq> Discovery<M> for Cycle<M> {
    fn predict(&self) -> Option<M> {
        match self.next {
            Some(next) => self.log.get(next).copied(),
            None => self.last,
        }
    }

    fn observe(&mut self, message: M) {
        match self.next {
            Some(next) if self.log.get(next) == Some(&message) => {
                self.next = Some((next + 1) % self.log.len())
            }
            Some(_) => {
                self.log.clear();
                self.log.push(message);
                self.next = None;
            }
            None if self.log.first() == Some(&message) => {
                self.longest = self.longest.max(self.log.len() + 1);
                self.next = Some(1 % self.log.len());
            }
            None => self.log.push(message),
        }
        self.last = Some(message);
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn heads(&self) -> usize {
        usize::from(self.longest > 0)
    }
}

/// The algorithm of section 6.4: like [`Cycle`], but the cycle of each head is kept, and followed again when a miss is one of the heads.
#[derive(Clone, Debug)]
pub struct Bettercycle<M> {
    /// All kept cycles, each starting with its head, followed by the log of the forming one.
    log: Vec<M>,
    /// The start of the forming cycle in the log.
    forming: u32,
    /// The range of the cycle of each head.
    by_head: BTreeMap<M, (u32, u32)>,
    /// The index of the predicted next message, and the range of the followed cycle.
    following: Option<(u32, (u32, u32))>,
    last: Option<M>,
    longest: usize,
}

impl<M> Default for Bettercycle<M> {
    fn default() -> Self {
        Self {
            log: Vec::new(),
            forming: 0,
            by_head: BTreeMap::new(),
            following: None,
            last: None,
            longest: 0,
        }
    }
}

impl<M: Copy> Bettercycle<M> {
    fn at(&self, place: u32) -> Option<M> {
        self.log.get(place as usize).copied()
    }

    fn expected(&self) -> Option<M> {
        self.at(self.following?.0)
    }

    /// Logs a message of the forming cycle.
    fn log(&mut self, message: M) {
        // Indices have 32 bits, because there may be as many cycles as calls. Messages beyond that are in no cycle.
        if self.log.len() < u32::MAX as usize {
            self.log.push(message);
        }
    }
}

/// The index after `place` in a cycle.
fn next(place: u32, (begin, end): (u32, u32)) -> u32 {
    if place + 1 < end { place + 1 } else { begin }
}

impl<M: Copy + Ord> Discovery<M> for Bettercycle<M> {
    fn predict(&self) -> Option<M> {
        if self.following.is_some() { self.expected() } else { self.last }
    }

    fn observe(&mut self, message: M) {
        self.last = Some(message);
        if let Some((place, cycle)) = self.following {
            let known = if self.at(place) == Some(message) {
                Some((place, cycle))
            } else {
                self.by_head.get(&message).map(|cycle| (cycle.0, *cycle))
            };
            self.following = known.map(|(place, cycle)| (next(place, cycle), cycle));
            if known.is_none() {
                self.log(message);
            }
        } else if self.at(self.forming) == Some(message) {
            let cycle = (self.forming, self.log.len() as u32);
            self.longest = self.longest.max(self.log.len() - self.forming as usize + 1);
            self.by_head.insert(message, cycle);
            self.following = Some((next(cycle.0, cycle), cycle));
            self.forming = cycle.1;
        } else {
            self.log(message);
        }
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn heads(&self) -> usize {
        self.by_head.len()
    }
}
