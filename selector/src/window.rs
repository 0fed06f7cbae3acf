//! The compression window: the lengths between which compression may pay (PRAcTICaL-MPI, section 3, figure 1).

use crate::size::SizeClass;
use alloc::vec::Vec;

/// After this number of messages in a row without a gain, a size class is assumed not to gain.
const PATIENCE: u8 = 4;
/// After this number of messages outside the window some are admitted, to detect changes; if they do not gain, the number doubles, up to the maximum.
const REOPEN: u32 = 128;
const REOPEN_MAX: u32 = 512;
/// The number of threshold changes kept for the report.
const HISTORY: usize = 32;

/// The thresholds at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// The number of messages of this kind decided until then.
    pub messages: u64,
    /// The length of the shortest message that may gain, in bytes.
    pub smallest: usize,
    /// The length in bytes from which on no message gains. Not below `smallest`; equal to it if none gains at all.
    pub end: usize,
}

/// The window of a kind. Inside, the gain of each message is estimated; outside, messages are sent raw immediately. A window extends from the
/// shortest to the longest size class that may gain. Unlike the paper's, it may have holes: classes in between that do not gain, for whatever reason,
/// are also outside.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// By size class, the number of messages in a row that have not gained.
    misses: [u8; SizeClass::COUNT],
    messages: u64,
    outside: u32,
    reopen: u32,
    history: Vec<Thresholds>,
}

impl Window {
    /// A window with all lengths inside.
    pub(crate) fn new() -> Self {
        let (misses, history) = ([0; SizeClass::COUNT], Vec::new());
        Self { misses, messages: 0, outside: 0, reopen: REOPEN, history }
    }

    /// Whether a message of this class may gain, as far as is known, or is due for a check.
    #[inline]
    pub(crate) fn admits(&mut self, size: SizeClass) -> bool {
        self.messages += 1;
        if self.misses[size.index()] < PATIENCE {
            return true;
        }
        self.outside += 1;
        if self.outside < self.reopen {
            return false;
        }
        self.outside = 0;
        self.reopen = (self.reopen * 2).min(REOPEN_MAX);
        self.misses[size.index()] = 0;
        self.remember();
        true
    }

    /// Records whether a message of this class gained.
    pub(crate) fn gained(&mut self, size: SizeClass, gained: bool) {
        let misses = &mut self.misses[size.index()];
        if gained {
            *misses = 0;
            self.reopen = REOPEN;
        } else if *misses < PATIENCE {
            *misses += 1;
            if *misses == PATIENCE {
                self.remember();
            }
        }
    }

    /// Forgets the knowledge of size classes.
    pub(crate) fn reset(&mut self) {
        self.misses = [0; SizeClass::COUNT];
        self.reopen = REOPEN;
        self.remember();
    }

    /// The current thresholds.
    pub(crate) fn thresholds(&self) -> Thresholds {
        let open = |misses: &u8| *misses < PATIENCE;
        let first = self.misses.iter().position(open).unwrap_or(SizeClass::COUNT);
        let end = self.misses.iter().rposition(open).map_or(first, |last| last + 1);
        let length = |class| SizeClass::all().nth(class).map_or(usize::MAX, SizeClass::start);
        Thresholds { messages: self.messages, smallest: length(first), end: length(end) }
    }

    /// Adds the thresholds to the history if they have changed.
    fn remember(&mut self) {
        let now = self.thresholds();
        let all = (SizeClass::of(0).start(), usize::MAX);
        let last = self.history.last().map_or(all, |last| (last.smallest, last.end));
        if (now.smallest, now.end) == last {
            return;
        }
        if self.history.len() == HISTORY {
            self.history.remove(1);
        }
        self.history.push(now);
    }

    /// The thresholds after each change, earliest first; if there are very many, only the first and the latest.
    pub(crate) fn history(&self) -> &[Thresholds] {
        &self.history
    }
}
