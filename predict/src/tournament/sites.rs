//! Call sites, and the last events at each.

use super::events::{Event, NONE};
use super::hash;
use crate::Tag;
use alloc::boxed::Box;

/// The maximum number of known call sites.
const SITES: usize = 256;
/// The number of places where a site is looked up.
const REACH: usize = 8;
/// The maximum of the counters.
const SUREST: u8 = 7;

/// A call site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    tag: Tag,
    /// The last events here, newest first.
    pub(super) last: [Event; 2],
    /// Two events whose difference is that between the last event here and the corresponding past event.
    pub(super) shift: [Event; 2],
    /// How often the last event recurred.
    pub(super) constant: u8,
    /// How often the difference between consecutive events was the same.
    pub(super) stride: u8,
    /// How often the shift was the same.
    pub(super) steady: u8,
    known: bool,
}

const NEW: Site =
    Site { tag: 0, last: [NONE; 2], shift: [NONE; 2], constant: 0, stride: 0, steady: 0, known: false };

/// The known call sites.
#[derive(Clone, Debug)]
pub(super) struct Sites {
    sites: Box<[Site; SITES]>,
}

impl Sites {
    pub(super) fn new() -> Self {
        Self { sites: Box::new([NEW; SITES]) }
    }

    pub(super) fn get(&self, site: u8) -> &Site {
        &self.sites[usize::from(site)]
    }

    pub(super) fn get_mut(&mut self, site: u8) -> &mut Site {
        &mut self.sites[usize::from(site)]
    }

    /// The number of a site, if known; tries `guess` first.
    pub(super) fn find(&self, tag: Tag, guess: u8) -> Option<u8> {
        let is = |site: &u8| self.get(*site).known && self.get(*site).tag == tag;
        if is(&guess) { Some(guess) } else { places(tag).find(is) }
    }

    /// Assigns a number to a new site. If there is no room, another site is forgotten and its number reassigned.
    pub(super) fn add(&mut self, tag: Tag) -> u8 {
        let free = places(tag).find(|site| !self.get(*site).known);
        let site = free.unwrap_or((hash(tag) >> 24) as u8);
        *self.get_mut(site) = Site { tag, known: true, ..NEW };
        site
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.sites)
    }
}

/// The places where a site may be.
fn places(tag: Tag) -> impl Iterator<Item = u8> {
    let first = (hash(tag) >> 24) as u8;
    (0..REACH as u8).map(move |at| first.wrapping_add(at))
}

/// Updates a counter of how often something held.
pub(super) fn count(times: &mut u8, held: bool) {
    *times = if held { (*times + 1).min(SUREST) } else { *times / 4 };
}
