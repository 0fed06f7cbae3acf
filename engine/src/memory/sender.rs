//! The sender's side.

use super::{Channel, Keeping, Kept, MOST_UNDER_WAY, WINDOW};
use crate::frame::{Note, SHORTEST};
use mpress_selector::{Link, Recall, Recalled};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// The maximum number of kept messages of a channel that the receiver has not dealt with yet. Further ones are not kept: all wait for the same
/// answer.
const UNDER_WAY: usize = 4;
/// The number of messages of a channel that are usually kept at the same time: two under way, the one that new ones refer to, and one that the
/// receiver may still need.
const COPIES: usize = 4;
/// The number of messages under way that are left for messages that other threads have begun.
const SPARE: usize = 8;
/// After this number of messages in a row that were not kept because earlier ones had no answer, the channel rests.
const UNANSWERED: u32 = 64;
/// The maximum number of channels; a program may use a new tag for each message.
const CHANNELS: usize = 4096;
/// A channel that was not used for this number of messages may have ended.
const IDLE: u64 = 1 << 12;

/// A message that the receiver keeps, and its number.
pub(super) type Reference = (u32, Arc<Kept>);

/// A channel, and the length of its messages in bytes.
pub(crate) type Key = (Channel, usize);

#[derive(Default)]
pub(super) struct Sender {
    channels: FxHashMap<Key, Sending>,
    peers: FxHashMap<u32, Peer>,
    /// The bytes reserved for all channels together.
    reserved: usize,
    /// When a search last found no channel that has ended.
    searched: u64,
    /// The number of messages so far, for the order of uses.
    now: u64,
}

#[derive(Default)]
struct Sending {
    recall: Recall,
    /// The latest message that the receiver keeps.
    latest: Option<Reference>,
    /// The number of messages that were not kept because too many others had no answer yet.
    unanswered: u32,
    /// Bytes reserved for its messages; 0 if none are kept.
    reserved: usize,
    used: u64,
}

struct Peer {
    next: u32,
    /// Messages that the receiver has not reported as dealt with, in the order of their numbers.
    under_way: VecDeque<UnderWay>,
    /// Messages that the receiver keeps and to which no new one will refer. One may be released when nothing else holds its pin.
    obsolete: VecDeque<(u32, Weak<()>)>,
}

struct UnderWay {
    number: u32,
    key: Key,
    /// `None` if no message will refer to it.
    copy: Option<Arc<Kept>>,
    /// The pin of the message that it refers to, held until the receiver has dealt with this one.
    _pin: Option<Arc<()>>,
}

impl Default for Peer {
    fn default() -> Self {
        Self { next: 1, under_way: VecDeque::new(), obsolete: VecDeque::new() }
    }
}

impl Peer {
    /// Whether notes can report on another message, and on this many more.
    fn has_number(&self, spare: usize) -> bool {
        let recent = self.under_way.iter().rev().take_while(|message| self.next - message.number <= WINDOW);
        recent.count() + spare < WINDOW as usize
            && self.under_way.len() < MOST_UNDER_WAY
            && self.next < u32::MAX
    }

    fn give_up(&mut self, number: u32, kept: Option<Arc<Kept>>) {
        self.obsolete.push_back((number, kept.map_or_else(Weak::new, |kept| Arc::downgrade(&kept.pin))));
    }
}

impl Sender {
    pub(super) fn owes(&self, peer: u32) -> bool {
        let mut obsolete = self.peers.get(&peer).into_iter().flat_map(|peer| &peer.obsolete);
        obsolete.any(|(_, pin)| pin.strong_count() == 0)
    }

    /// Decides whether to keep a message, if there is room in `most` bytes. Returns the message that it refers to.
    pub(super) fn begin(&mut self, key: Key, most: usize) -> Option<Option<Reference>> {
        self.now += 1;
        if !self.channels.contains_key(&key) {
            self.forget_some();
            self.channels.insert(key, Sending { used: self.now, ..Sending::default() });
            return None; // only what comes again is kept
        }
        let peer = self.peers.entry(key.0.peer).or_default();
        let sending = self.channels.get_mut(&key)?;
        let latest = sending.latest.as_ref().map_or(0, |(number, _)| *number);
        let newer = peer.under_way.iter().rev().take_while(|message| message.number > latest);
        let waiting = newer.filter(|message| message.key == key && message.copy.is_some()).count();
        if !peer.has_number(SPARE) {
            return None;
        }
        if waiting >= UNDER_WAY {
            sending.unanswered = sending.unanswered.wrapping_add(1);
            if sending.unanswered.is_multiple_of(UNANSWERED) {
                sending.recall.pause();
                self.forget(key);
            }
            return None;
        }
        sending.used = self.now;
        let latest = sending.latest.clone();
        let what = sending.recall.next(latest.is_some());
        if sending.recall.rests() {
            self.forget(key);
            return None;
        }
        match what {
            Recalled::Nothing => None,
            Recalled::Kept => self.reserve(key, most).then_some(None),
            Recalled::Referring => Some(latest),
        }
    }

    /// Reserves room for the messages of a channel. If there is none, forgets the least recently used channel if its last use was long ago: if the
    /// channels in use need more room than there is, only some of them get room.
    fn reserve(&mut self, key: Key, most: usize) -> bool {
        let room = COPIES.saturating_mul(key.1);
        if self.channels.get(&key).is_some_and(|sending| sending.reserved > 0) {
            return true;
        }
        let has_room = |reserved: usize| reserved.checked_add(room).is_some_and(|sum| sum <= most);
        if !has_room(self.reserved) && self.now - self.searched > IDLE / 16 {
            let others = self.channels.iter().filter(|(_, s)| s.reserved > 0 && self.now - s.used > IDLE);
            match others.min_by_key(|(_, s)| s.used).map(|(key, _)| *key) {
                Some(oldest) => self.forget(oldest),
                None => self.searched = self.now,
            }
        }
        let Some(sending) = self.channels.get_mut(&key).filter(|_| has_room(self.reserved)) else {
            return false;
        };
        sending.reserved = room;
        self.reserved += room;
        true
    }

    /// Forgets the messages of a channel to which its next ones would refer, and frees their room.
    fn forget(&mut self, key: Key) {
        let Some(sending) = self.channels.get_mut(&key) else { return };
        self.reserved -= std::mem::take(&mut sending.reserved);
        let peer = self.peers.entry(key.0.peer).or_default();
        if let Some((number, kept)) = sending.latest.take() {
            peer.give_up(number, Some(kept));
        }
        peer.under_way
            .iter_mut()
            .filter(|message| message.key == key)
            .for_each(|message| message.copy = None);
    }

    /// Forgets the less recently used half of the channels, if there are too many.
    fn forget_some(&mut self) {
        if self.channels.len() < CHANNELS {
            return;
        }
        let mut uses: Vec<_> = self.channels.values().map(|sending| sending.used).collect();
        let (_, middle, _) = uses.select_nth_unstable(CHANNELS / 2);
        let old: Vec<_> =
            self.channels.iter().filter(|(_, s)| s.used <= *middle).map(|(key, _)| *key).collect();
        for key in old {
            self.forget(key);
            self.channels.remove(&key);
        }
    }

    /// Gives a message its number, if it is kept, and completes the note of its frame. `None` if it refers to another one but there is no number,
    /// because threads have begun too many messages at the same time.
    pub(super) fn number(&mut self, peer: u32, keeping: Option<Keeping>, mut note: Note) -> Option<Note> {
        let peer = self.peers.entry(peer).or_default();
        let has_number = peer.has_number(0);
        if !has_number && keeping.as_ref().is_some_and(|keeping| keeping.reference.is_some()) {
            return None;
        }
        if let Some(Keeping { key, copy, reference, .. }) = keeping.filter(|_| has_number) {
            note.number = peer.next;
            note.reference = reference.as_ref().map_or(0, |(number, _)| *number);
            peer.next += 1;
            let (copy, _pin) = (Some(copy), reference.map(|(_, kept)| Arc::clone(&kept.pin)));
            peer.under_way.push_back(UnderWay { number: note.number, key, copy, _pin });
        }
        let free = peer.obsolete.iter().position(|(_, pin)| pin.strong_count() == 0);
        note.release = free.and_then(|at| peer.obsolete.remove(at)).map_or(0, |(number, _)| number);
        Some(note)
    }

    /// As [`Memory::referred`](super::Memory::referred).
    pub(super) fn referred(&mut self, key: Key, wire_len: usize, saved: usize, link: Option<Link>) {
        let Some(sending) = self.channels.get_mut(&key) else { return };
        let is_least = wire_len + saved <= SHORTEST;
        sending.recall.referred([key.1, wire_len, saved], is_least, link);
        if sending.recall.rests() {
            self.forget(key);
        }
    }

    /// Handles the report of a process: which messages to it have been dealt with, and which of them it keeps.
    pub(super) fn answered(&mut self, peer: u32, note: &Note) {
        let Self { channels, peers, .. } = self;
        let Some(peer) = peers.get_mut(&peer).filter(|peer| note.above <= peer.next) else { return };
        let mut under_way = std::mem::take(&mut peer.under_way);
        let mut renewed = Vec::new();
        under_way.retain_mut(|message| {
            let Some(ago) = note.above.checked_sub(message.number + 1) else { return true };
            let is_clear = |bits: u64| bits.checked_shr(ago).is_some_and(|bits| bits & 1 == 0);
            let is_dealt_with = is_clear(note.missing) || message.number == note.late;
            if !is_dealt_with {
                // If it arrives now, it is not kept; the message that it refers to must stay.
                message.copy.take_if(|_| ago >= WINDOW);
                return true;
            }
            let mut sending = channels.get_mut(&message.key);
            if let Some(sending) = &mut sending {
                sending.unanswered = 0;
            }
            if !is_clear(note.missing | note.lost) {
                return false;
            }
            let mut old = (message.number, message.copy.take());
            if let Some(sending) = sending
                && sending.reserved > 0
                && let Some(copy) = old.1.take_if(|_| sending.latest.as_ref().is_none_or(|(n, _)| *n < old.0))
            {
                renewed.push((message.key, old.0));
                match sending.latest.replace((old.0, copy)) {
                    Some((number, kept)) => old = (number, Some(kept)),
                    None => return false,
                }
            }
            peer.give_up(old.0, old.1);
            false
        });
        for message in &mut under_way {
            // No message refers to one that is older than the latest.
            message
                .copy
                .take_if(|_| renewed.iter().any(|(key, n)| *key == message.key && *n > message.number));
        }
        peer.under_way = under_way;
    }
}
