//! Events, a message at a call site each, and their numbers. Of bounded number: an event that was not seen for long makes
//! place for a new one.

use super::hash;
use crate::Envelope;
use alloc::boxed::Box;

/// A number of an event.
pub(super) type Event = u16;
/// No event.
pub(super) const NONE: Event = u16::MAX;

/// Events that are known at a time.
pub(super) const EVENTS: usize = 768;
/// Buckets of the index, as many as a byte has values, and the numbers in each.
const BUCKETS: usize = 256;
const WAYS: usize = 8;
/// The bits of a number that is not `NONE`, in the index.
const NUMBER: u16 = 0x3ff;
const _: () = assert!(EVENTS <= NUMBER as usize);

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
    envelopes: Box<[Envelope; EVENTS]>,
    places: Box<[Place; EVENTS]>,
    /// Where to look for an event: numbers, with bits above them that tell most events apart.
    index: Box<[[u16; WAYS]; BUCKETS]>,
    /// The next to be replaced, unless it was seen.
    hand: usize,
}

impl Events {
    pub(super) fn new() -> Self {
        Self {
            envelopes: Box::new([Envelope::default(); EVENTS]),
            places: Box::new([Place { site: 0, bucket: 0, seen: false }; EVENTS]),
            index: Box::new([[NONE; WAYS]; BUCKETS]),
            hand: 0,
        }
    }

    /// The message of an event; of none, one without arguments.
    ///
    /// Not a copy: to read one back at once costs more than all that is done with it.
    pub(super) fn envelope(&self, event: Event) -> &Envelope {
        const NOTHING: &Envelope = &Envelope { buffer: 0, count: 0, source: 0, tag: 0, datatype: 0, comm: 0 };
        self.envelopes.get(usize::from(event)).unwrap_or(NOTHING)
    }

    pub(super) fn site(&self, event: Event) -> u8 {
        self.places.get(usize::from(event)).map_or(0, |place| place.site)
    }

    fn is(&self, event: Event, site: u8, envelope: &Envelope) -> bool {
        let event = usize::from(event);
        self.places.get(event).is_some_and(|known| known.site == site)
            && self.envelopes.get(event).is_some_and(|known| alike(known, envelope))
    }

    /// The number of an event, if it is known; `guess` is looked at first.
    pub(super) fn find(&self, site: u8, envelope: &Envelope, guess: Event) -> Option<Event> {
        if self.is(guess, site, envelope) {
            return Some(guess);
        }
        let Key { bucket, check } = key(site, envelope);
        let ways = self.index[usize::from(bucket)];
        let of_key = ways.into_iter().filter(|way| way & !NUMBER == check);
        of_key.map(|way| way & NUMBER).find(|event| self.is(*event, site, envelope))
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
        let Key { bucket, check } = key(site, envelope);
        let place = Place { site, bucket, seen: true };
        // Each is passed once at most: then all are marked as not seen.
        while self.places[self.hand].seen {
            self.places[self.hand].seen = false;
            self.hand = (self.hand + 1) % EVENTS;
        }
        let event = self.hand as Event;
        self.hand = (self.hand + 1) % EVENTS;
        let old = usize::from(self.places[usize::from(event)].bucket);
        if let Some(way) = self.index[old].iter_mut().find(|way| **way & NUMBER == event) {
            *way = NONE;
        }
        self.envelopes[usize::from(event)] = *envelope;
        self.places[usize::from(event)] = place;
        let ways = &mut self.index[usize::from(place.bucket)];
        // Where all are taken, one is forgotten: its event gets another number when it comes again.
        let way = ways.iter().position(|way| *way == NONE).unwrap_or(usize::from(event) % WAYS);
        ways[way] = check | event;
        event
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.envelopes) + size_of_val(&*self.places) + size_of_val(&*self.index)
    }
}

/// Whether two messages are the same, without a branch for each argument.
pub(super) fn alike(a: &Envelope, b: &Envelope) -> bool {
    (a.buffer == b.buffer)
        & (a.count == b.count)
        & (a.source == b.source)
        & (a.tag == b.tag)
        & (a.datatype == b.datatype)
        & (a.comm == b.comm)
}

/// Where an event is in the index, and what tells it from others there.
struct Key {
    bucket: u8,
    check: u16,
}

fn key(site: u8, envelope: &Envelope) -> Key {
    let Envelope { buffer, count, source, tag, datatype, comm } = *envelope;
    let pair = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
    // Odd numbers without a pattern, so that no sum of two words is that of two others.
    let words = [
        buffer.wrapping_mul(0x9fb2_1c65_1e98_df25),
        count.wrapping_mul(0xc2b2_ae3d_27d4_eb4f),
        pair(source.cast_unsigned(), tag.cast_unsigned()).wrapping_mul(0x1656_67b1_9e37_79f9),
        pair(datatype, comm).wrapping_mul(0x27d4_eb2f_1656_67c5),
    ];
    let mixed = hash(words.iter().fold(u64::from(site), |sum, word| sum.wrapping_add(*word)));
    Key { bucket: (mixed >> 56) as u8, check: (mixed >> 40) as u16 & !NUMBER }
}
