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
    /// The cycles that are kept, one after the other, each from its head on; then what is logged while one forms.
    log: Vec<M>,
    /// Where in the log that begins.
    forming: u32,
    /// Where the cycle of a head begins and ends.
    by_head: BTreeMap<M, (u32, u32)>,
    /// The place of the message expected next, and the cycle that is followed.
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

    /// Logs a message of the cycle that forms.
    fn log(&mut self, message: M) {
        // Places are numbers of 32 bits: there may be as many cycles as calls. What is beyond is in no cycle.
        if self.log.len() < u32::MAX as usize {
            self.log.push(message);
        }
    }
}

/// The place after another one, of a cycle.
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
