//! The compression window: the lengths between which compression may pay (PRAcTICaL-MPI, section 3, figure 1).

use crate::size::{CLASSES, SizeClass};
use alloc::vec::Vec;

/// After this number of messages in a row without a gain, a size class is assumed not to gain.
const PATIENCE: i8 = 4;
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
    /// The length of the shortest that may gain, in bytes.
    pub smallest: usize,
    /// The length in bytes from which on none gains. Not below `smallest`; equal to it if none gains at all.
    pub end: usize,
}

/// The window of a kind. Inside, the gain of each message is estimated; outside, messages are sent raw immediately. A window extends
/// from the shortest to the longest size class that may gain. Unlike the paper's it may have holes: classes in between that do not gain, whatever the
/// reason, are outside, too.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// By size class, the number of messages in a row that have not gained.
    misses: [i8; CLASSES],
    first: u8,
    end: u8,
    messages: u64,
    outside: u32,
    reopen: u32,
    history: Vec<Thresholds>,
}

impl Window {
    /// A window with all lengths inside.
    pub(crate) fn new() -> Self {
        Self {
            misses: [0; CLASSES],
            first: 0,
            end: CLASSES as u8,
            messages: 0,
            outside: 0,
            reopen: REOPEN,
            history: Vec::new(),
        }
    }

    /// Whether a message of this class may gain, as far as is known, or a check of that is due.
    #[inline]
    pub(crate) fn admits(&mut self, size: SizeClass) -> bool {
        self.messages += 1;
        let at = size.index();
        if self.misses[at] < PATIENCE {
            return true;
        }
        self.outside += 1;
        if self.outside < self.reopen {
            return false;
        }
        self.outside = 0;
        self.reopen = (self.reopen * 2).min(REOPEN_MAX);
        self.misses[at] = 0;
        self.adjust();
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
                self.adjust();
            }
        }
    }

    /// Forgets the knowledge of size classes.
    pub(crate) fn reset(&mut self) {
        self.misses = [0; CLASSES];
        self.reopen = REOPEN;
        self.adjust();
    }

    fn adjust(&mut self) {
        let open = |misses: &i8| *misses < PATIENCE;
        let first = self.misses.iter().position(open).unwrap_or(CLASSES);
        let end = self.misses.iter().rposition(open).map_or(first, |last| last + 1);
        if (first as u8, end as u8) != (self.first, self.end) {
            (self.first, self.end) = (first as u8, end as u8);
            self.remember();
        }
    }

    fn remember(&mut self) {
        if self.history.len() == HISTORY {
            // Keep every other one, so that the history covers a run of any length.
            let mut at = 0;
            self.history.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
        self.history.push(self.thresholds());
    }

    /// The current thresholds.
    pub(crate) fn thresholds(&self) -> Thresholds {
        let length =
            |class: u8| SizeClass::all().nth(usize::from(class)).map_or(usize::MAX, SizeClass::start);
        Thresholds { messages: self.messages, smallest: length(self.first), end: length(self.end) }
    }

    /// The thresholds after each change, the earliest first; a selection if there are very many.
    pub(crate) fn history(&self) -> &[Thresholds] {
        &self.history
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(len: usize) -> SizeClass {
        SizeClass::of(len)
    }

    #[test]
    fn sizes_that_do_not_gain_shut_and_open_again() {
        let mut window = Window::new();
        for len in [1024, 1536, 1 << 26] {
            for _ in 0..PATIENCE {
                assert!(window.admits(size(len)));
                window.gained(size(len), false);
            }
            assert!(!window.admits(size(len)), "{len}");
        }
        let thresholds = window.thresholds();
        assert_eq!((thresholds.smallest, thresholds.end), (2048, 1 << 26));
        assert!(window.admits(size(5000)));
        let again = (1..).find(|_| window.admits(size(1024)));
        assert!(again.is_some_and(|messages| messages <= REOPEN), "{again:?}");
        (0..PATIENCE).for_each(|_| window.gained(size(1024), false));
        assert!(!window.admits(size(1024)));
        let again = (1..).find(|_| window.admits(size(1024)));
        assert!(again.is_some_and(|messages| messages > REOPEN), "{again:?}");
        window.gained(size(1024), true);
        assert!(window.admits(size(1024)));
        assert_eq!(window.thresholds().smallest, 1024);
    }

    #[test]
    fn a_hole_is_outside() {
        let mut window = Window::new();
        (0..PATIENCE).for_each(|_| window.gained(size(4096), false));
        assert!(!window.admits(size(4096)));
        assert!(window.admits(size(2048)) && window.admits(size(8192)));
        assert_eq!(window.thresholds().smallest, 1024);
    }

    #[test]
    fn history_is_bounded() {
        let mut window = Window::new();
        for _ in 0..1000 {
            (0..PATIENCE).for_each(|_| window.gained(size(1024), false));
            window.reset();
        }
        assert!(window.history().len() <= HISTORY);
        assert!(window.history().is_sorted_by_key(|thresholds| thresholds.messages));
    }
}
