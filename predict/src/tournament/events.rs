//! Events, a message at a call site each, and their numbers. Of bounded number: an event that was not seen for long makes
//! place for a new one.

use super::hash;
use crate::Envelope;
use alloc::vec;
use alloc::vec::Vec;

/// A number of an event.
pub(super) type Event = u16;
/// No event.
pub(super) const NONE: Event = u16::MAX;

/// Events that are known at a time.
const EVENTS: usize = 768;
/// Buckets of the index, a power of two, and the numbers in each.
const BUCKETS: usize = 256;
const WAYS: usize = 8;

/// The events that are known.
#[derive(Clone, Debug)]
pub(super) struct Events {
    envelopes: Vec<Envelope>,
    /// The call site of each, and whether it was seen since it was last looked at for replacement.
    sites: Vec<(u8, bool)>,
    /// Where to look for an event.
    index: Vec<[Event; WAYS]>,
    /// The next to be replaced, unless it was seen.
    hand: usize,
}

impl Events {
    pub(super) fn new() -> Self {
        Self {
            envelopes: vec![Envelope::default(); EVENTS],
            sites: vec![(0, false); EVENTS],
            index: vec![[NONE; WAYS]; BUCKETS],
            hand: 0,
        }
    }

    pub(super) fn envelope(&self, event: Event) -> Envelope {
        self.envelopes.get(usize::from(event)).copied().unwrap_or_default()
    }

    pub(super) fn site(&self, event: Event) -> u8 {
        self.sites.get(usize::from(event)).map_or(0, |(site, _)| *site)
    }

    fn is(&self, event: Event, site: u8, envelope: &Envelope) -> bool {
        let event = usize::from(event);
        self.sites.get(event).is_some_and(|known| known.0 == site)
            && self.envelopes.get(event) == Some(envelope)
    }

    /// The number of an event, an old one or a new one, and whether it is new; `guess` is looked at first.
    ///
    /// A new number may have been that of another event before, so whatever names it means that one.
    pub(super) fn number(&mut self, site: u8, envelope: &Envelope, guess: Event) -> (Event, bool) {
        let known = if self.is(guess, site, envelope) {
            Some(guess)
        } else {
            let ways = self.index[bucket(site, envelope)];
            ways.into_iter().find(|event| self.is(*event, site, envelope))
        };
        let event = known.unwrap_or_else(|| self.add(site, envelope));
        self.sites[usize::from(event)].1 = true;
        (event, known.is_none())
    }

    fn add(&mut self, site: u8, envelope: &Envelope) -> Event {
        // Each is passed once at most: then all are marked as not seen.
        while self.sites[self.hand].1 {
            self.sites[self.hand].1 = false;
            self.hand = (self.hand + 1) % EVENTS;
        }
        let event = self.hand as Event;
        self.hand = (self.hand + 1) % EVENTS;
        let old = bucket(self.site(event), &self.envelope(event));
        if let Some(way) = self.index[old].iter_mut().find(|way| **way == event) {
            *way = NONE;
        }
        self.envelopes[usize::from(event)] = *envelope;
        self.sites[usize::from(event)] = (site, true);
        let ways = &mut self.index[bucket(site, envelope)];
        // Where all are taken, one is forgotten: its event gets another number when it comes again.
        let way = ways.iter().position(|way| *way == NONE).unwrap_or(usize::from(event) % WAYS);
        ways[way] = event;
        event
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.envelopes) + size_of_val(&*self.sites) + size_of_val(&*self.index)
    }
}

fn bucket(site: u8, envelope: &Envelope) -> usize {
    let Envelope { buffer, count, source, tag, datatype, comm } = *envelope;
    let words = [
        buffer,
        count,
        u64::from(source.cast_unsigned()) << 32 | u64::from(tag.cast_unsigned()),
        u64::from(datatype) << 32 | u64::from(comm),
    ];
    let mixed = words.iter().fold(u64::from(site), |mixed, word| hash(mixed ^ word));
    (mixed >> 32) as usize % BUCKETS
}
