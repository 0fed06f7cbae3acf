//! Discovery of cycles: the last cycle alone (6.1), and the last cycle of each head (6.4).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Finds cycles in a sequence of messages and predicts by them.
pub trait Discovery<M> {
    /// The message expected next.
    fn predict(&self) -> Option<M>;
    /// The message that came.
    fn observe(&mut self, message: M);
    /// The longest cycle so far, in messages, from its head to the return of its head, both counted. That is how the
    /// paper counts: an iteration of 42 calls takes 43 (Table 1, BT and SP).
    fn longest(&self) -> usize;
    /// How many cycles are kept, each by its head.
    fn heads(&self) -> usize;
}

/// The Single-cycle algorithm of section 6.1, without the initialisation phase.
///
/// From a cycle-head on, the first message or one that was not predicted, messages are logged until the head comes
/// again; what was logged is the cycle that is followed from then on, up to the first miss. While a cycle forms, the
/// message that came last is offered.
#[derive(Clone, Debug)]
pub struct Cycle<M> {
    /// The cycle, or what will be one; its head comes first.
    log: Vec<M>,
    /// The place of the message expected next; none while the cycle forms.
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
    /// Follows a cycle that was found elsewhere, and whose head has just come again.
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

/// The algorithm of section 6.4: as [`Cycle`], but the cycle of every head is kept, and followed again when a miss is
/// the head of one.
#[derive(Clone, Debug)]
pub struct Bettercycle<M> {
    /// What is logged while a cycle forms, its head first.
    log: Vec<M>,
    /// The cycles that are kept.
    cycles: Vec<Vec<M>>,
    /// Where in `cycles` that of a head is.
    by_head: BTreeMap<M, usize>,
    /// The cycle that is followed, and the place of the message expected next.
    following: Option<(usize, usize)>,
    last: Option<M>,
    longest: usize,
}

impl<M> Default for Bettercycle<M> {
    fn default() -> Self {
        Self {
            log: Vec::new(),
            cycles: Vec::new(),
            by_head: BTreeMap::new(),
            following: None,
            last: None,
            longest: 0,
        }
    }
}

impl<M: Copy> Bettercycle<M> {
    fn expected(&self) -> Option<M> {
        let (cycle, next) = self.following?;
        self.cycles.get(cycle)?.get(next).copied()
    }

    /// Follows a cycle whose head has just come.
    fn follow(&mut self, cycle: usize) {
        self.following = Some((cycle, 0));
        self.step();
    }

    fn step(&mut self) {
        if let Some((cycle, next)) = &mut self.following {
            let len = self.cycles.get(*cycle).map_or(1, Vec::len);
            *next = (*next + 1) % len.max(1);
        }
    }
}

impl<M: Copy + Ord> Discovery<M> for Bettercycle<M> {
    fn predict(&self) -> Option<M> {
        if self.following.is_some() { self.expected() } else { self.last }
    }

    fn observe(&mut self, message: M) {
        if self.following.is_some() {
            if self.expected() == Some(message) {
                self.step();
            } else if let Some(&cycle) = self.by_head.get(&message) {
                self.follow(cycle);
            } else {
                self.following = None;
                self.log.push(message);
            }
        } else if self.log.first() == Some(&message) {
            self.longest = self.longest.max(self.log.len() + 1);
            let cycle = self.cycles.len();
            self.cycles.push(core::mem::take(&mut self.log));
            self.by_head.insert(message, cycle);
            self.follow(cycle);
        } else {
            self.log.push(message);
        }
        self.last = Some(message);
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn heads(&self) -> usize {
        self.cycles.len()
    }
}
