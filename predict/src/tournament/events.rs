//! Events, each a message at a call site, and their numbers. The number of events is bounded: a new event replaces one that has not been seen for a
//! long time.

use super::hash;
use crate::Envelope;
use alloc::boxed::Box;

/// The number of an event.
pub(super) type Event = u16;
/// No event.
pub(super) const NONE: Event = u16::MAX;

/// The maximum number of known events.
pub(super) const EVENTS: usize = 768;
/// The number of buckets in the index (as many as a byte has values), and of entries in each.
const BUCKETS: usize = 256;
const WAYS: usize = 8;
/// The bits of an index entry that hold the number, unless it is `NONE`.
const NUMBER: u16 = 0x3ff;
const _: () = assert!(EVENTS <= NUMBER as usize);

/// The data of an event besides its message.
#[derive(Clone, Copy, Debug)]
struct Place {
    site: u8,
    bucket: u8,
    /// Whether it was seen since it was last considered for replacement.
    seen: bool,
}

/// The known events.
#[derive(Clone, Debug)]
pub(super) struct Events {
    envelopes: Box<[Envelope; EVENTS]>,
    places: Box<[Place; EVENTS]>,
    /// The index for finding events: numbers, with a check in the bits above them that distinguishes most events.
    index: Box<[[u16; WAYS]; BUCKETS]>,
    /// The next event to be replaced, unless it was seen.
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

    /// The message of an event; for `NONE`, one without arguments.
    ///
    /// Returned by reference: reading back a copy at once would cost more than all the work on it.
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

    /// The number of an event, if known; tries `guess` first.
    pub(super) fn find(&self, site: u8, envelope: &Envelope, guess: Event) -> Option<Event> {
        if self.is(guess, site, envelope) {
            return Some(guess);
        }
        let Key { bucket, check } = key(site, envelope);
        let ways = self.index[usize::from(bucket)];
        let of_key = ways.into_iter().filter(|way| way & !NUMBER == check);
        of_key.map(|way| way & NUMBER).find(|event| self.is(*event, site, envelope))
    }

    /// Records that a known event recurred.
    pub(super) fn seen(&mut self, event: Event) {
        self.places[usize::from(event)].seen = true;
    }

    /// Assigns a number to a new event.
    ///
    /// The number may have been that of another event. Existing references to it then mean the new event, so predictions with the old one must be
    /// judged first.
    pub(super) fn add(&mut self, site: u8, envelope: &Envelope) -> Event {
        let Key { bucket, check } = key(site, envelope);
        let place = Place { site, bucket, seen: true };
        // Terminates: after one round, all are marked as not seen.
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
        // If the bucket is full, one entry is dropped: its event gets another number when it recurs.
        let way = ways.iter().position(|way| *way == NONE).unwrap_or(usize::from(event) % WAYS);
        ways[way] = check | event;
        event
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.envelopes) + size_of_val(&*self.places) + size_of_val(&*self.index)
    }
}

/// Whether two messages are equal, without a branch per argument.
pub(super) fn alike(a: &Envelope, b: &Envelope) -> bool {
    (a.buffer == b.buffer)
        & (a.count == b.count)
        & (a.source == b.source)
        & (a.tag == b.tag)
        & (a.datatype == b.datatype)
        & (a.comm == b.comm)
}

/// The bucket of an event in the index, and the check that distinguishes it there.
struct Key {
    bucket: u8,
    check: u16,
}

fn key(site: u8, envelope: &Envelope) -> Key {
    let Envelope { buffer, count, source, tag, datatype, comm } = *envelope;
    let pair = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
    // Odd numbers without a pattern, so that sums of different words differ.
    let words = [
        buffer.wrapping_mul(0x9fb2_1c65_1e98_df25),
        count.wrapping_mul(0xc2b2_ae3d_27d4_eb4f),
        pair(source.cast_unsigned(), tag.cast_unsigned()).wrapping_mul(0x1656_67b1_9e37_79f9),
        pair(datatype, comm).wrapping_mul(0x27d4_eb2f_1656_67c5),
    ];
    let mixed = hash(words.iter().fold(u64::from(site), |sum, word| sum.wrapping_add(*word)));
    Key { bucket: (mixed >> 56) as u8, check: (mixed >> 40) as u16 & !NUMBER }
}
