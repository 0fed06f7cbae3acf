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
pub(super) const EVENTS: usize = 768;
/// Buckets of the index, as many as a byte has values, and the numbers in each.
const BUCKETS: usize = 256;
const WAYS: usize = 8;

/// What belongs to an event beside its message.
#[derive(Clone, Copy, Debug)]
struct Place {
    site: u8,
    bucket: u8,
    /// Whether it was seen since it was last looked at for replacement.
    seen: bool,
}

/// The events that are known.
#[derive(Clone, Debug)]
pub(super) struct Events {
    envelopes: Vec<Envelope>,
    places: Vec<Place>,
    /// Where to look for an event.
    index: Vec<[Event; WAYS]>,
    /// The next to be replaced, unless it was seen.
    hand: usize,
}

impl Events {
    pub(super) fn new() -> Self {
        Self {
            envelopes: vec![Envelope::default(); EVENTS],
            places: vec![Place { site: 0, bucket: 0, seen: false }; EVENTS],
            index: vec![[NONE; WAYS]; BUCKETS],
            hand: 0,
        }
    }

    pub(super) fn envelope(&self, event: Event) -> Envelope {
        self.envelopes.get(usize::from(event)).copied().unwrap_or_default()
    }

    pub(super) fn site(&self, event: Event) -> u8 {
        self.places.get(usize::from(event)).map_or(0, |place| place.site)
    }

    fn is(&self, event: Event, site: u8, envelope: &Envelope) -> bool {
        let event = usize::from(event);
        self.places.get(event).is_some_and(|known| known.site == site)
            && self.envelopes.get(event) == Some(envelope)
    }

    /// The number of an event, if it is known; `guess` is looked at first.
    pub(super) fn find(&self, site: u8, envelope: &Envelope, guess: Event) -> Option<Event> {
        if self.is(guess, site, envelope) {
            return Some(guess);
        }
        let ways = self.index[usize::from(bucket(site, envelope))];
        ways.into_iter().find(|event| self.is(*event, site, envelope))
    }

    /// A known event came again.
    pub(super) fn seen(&mut self, event: Event) {
        self.places[usize::from(event)].seen = true;
    }

    /// Gives a number to a new event.
    ///
    /// The number may have been that of another event before. From then on, whatever names it means the new one: what was
    /// said about the old one is judged before.
    pub(super) fn add(&mut self, site: u8, envelope: &Envelope) -> Event {
        let place = Place { site, bucket: bucket(site, envelope), seen: true };
        // Each is passed once at most: then all are marked as not seen.
        while self.places[self.hand].seen {
            self.places[self.hand].seen = false;
            self.hand = (self.hand + 1) % EVENTS;
        }
        let event = self.hand as Event;
        self.hand = (self.hand + 1) % EVENTS;
        let old = usize::from(self.places[usize::from(event)].bucket);
        if let Some(way) = self.index[old].iter_mut().find(|way| **way == event) {
            *way = NONE;
        }
        self.envelopes[usize::from(event)] = *envelope;
        self.places[usize::from(event)] = place;
        let ways = &mut self.index[usize::from(place.bucket)];
        // Where all are taken, one is forgotten: its event gets another number when it comes again.
        let way = ways.iter().position(|way| *way == NONE).unwrap_or(usize::from(event) % WAYS);
        ways[way] = event;
        event
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.envelopes) + size_of_val(&*self.places) + size_of_val(&*self.index)
    }
}

fn bucket(site: u8, envelope: &Envelope) -> u8 {
    let Envelope { buffer, count, source, tag, datatype, comm } = *envelope;
    let pair = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
    // Odd numbers without a pattern, so that no sum of two words is that of two others.
    let words = [
        buffer.wrapping_mul(0x9fb2_1c65_1e98_df25),
        count.wrapping_mul(0xc2b2_ae3d_27d4_eb4f),
        pair(source.cast_unsigned(), tag.cast_unsigned()).wrapping_mul(0x1656_67b1_9e37_79f9),
        pair(datatype, comm).wrapping_mul(0x27d4_eb2f_1656_67c5),
    ];
    (hash(words.iter().fold(u64::from(site), |sum, word| sum.wrapping_add(*word))) >> 56) as u8
}
