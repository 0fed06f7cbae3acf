//! The sender's side.

use super::{Channel, Keeping, Kept, WINDOW};
use crate::frame::Note;
use mpress_selector::{Link, Recall, Recalled};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

/// Messages of a channel that the receiver has not dealt with yet. More are not kept: each waits for the same answer.
const UNDER_WAY: u32 = 4;
/// Messages of a channel that are usually kept at the same time: two of these, the one that new ones refer to, and one that the receiver may still need.
const COPIES: usize = 4;
/// Numbers that are left for messages that other threads have begun.
const SPARE: u32 = 8;
/// The greatest number of channels; a program may use a new tag for each message.
const CHANNELS: usize = 4096;
/// A channel that was not used for this number of messages may have ended.
const IDLE: u64 = 1 << 12;

/// A channel, and the length of its messages in bytes.
pub(super) type Key = (Channel, usize);

#[derive(Default)]
pub(super) struct Sender {
    channels: HashMap<Key, Sending>,
    peers: HashMap<u32, Peer>,
    /// Bytes of all channels together.
    reserved: usize,
    /// Messages so far, for the order of uses.
    now: u64,
}

#[derive(Default)]
struct Sending {
    recall: Recall,
    /// The latest message that the receiver keeps.
    latest: Option<(u32, Arc<Kept>)>,
    under_way: u32,
    /// Bytes for its messages; 0 if none are kept.
    reserved: usize,
    used: u64,
}

struct Peer {
    next: u32,
    /// The receiver has dealt with all messages with lower numbers.
    below: u32,
    /// The others, in the order of their numbers.
    under_way: VecDeque<UnderWay>,
    /// Messages that the receiver keeps and that no new one will refer to. Nobody refers to one any longer when nothing else holds it.
    obsolete: VecDeque<(u32, Weak<Kept>)>,
}

struct UnderWay {
    key: Key,
    copy: Arc<Kept>,
    /// Held until the receiver has decoded the message.
    _reference: Option<Arc<Kept>>,
}

impl Default for Peer {
    fn default() -> Self {
        Self { next: 1, below: 1, under_way: VecDeque::new(), obsolete: VecDeque::new() }
    }
}

impl Peer {
    /// Whether there is a number for another message, and for this many more.
    fn has_number(&self, spare: u32) -> bool {
        self.next - self.below + spare < WINDOW && self.next < u32::MAX - spare
    }

    fn give_up(&mut self, (number, kept): (u32, Arc<Kept>)) {
        self.obsolete.push_back((number, Arc::downgrade(&kept)));
    }
}

impl Sender {
    pub(super) fn owes(&self, peer: u32) -> bool {
        self.peers.get(&peer).is_some_and(|peer| !peer.obsolete.is_empty())
    }

    /// Decides whether a message is kept, if there is room in `most` bytes. Returns what it refers to.
    #[allow(clippy::option_option, reason = "whether it is kept, and then whether it refers to another one")]
    pub(super) fn begin(&mut self, key: Key, most: usize) -> Option<Option<(u32, Arc<Kept>)>> {
        self.now += 1;
        if !self.channels.contains_key(&key) {
            self.forget_some();
            self.channels.insert(key, Sending { used: self.now, ..Sending::default() });
            return None; // only what comes again is kept
        }
        let peer = self.peers.entry(key.0.peer).or_default();
        let sending = self.channels.get_mut(&key)?;
        sending.used = self.now;
        if sending.under_way >= UNDER_WAY || !peer.has_number(SPARE) {
            return None;
        }
        let latest = sending.latest.clone();
        match sending.recall.next(latest.is_some()) {
            Recalled::Nothing => None,
            Recalled::Kept => self.reserve(key, most).then_some(None),
            Recalled::Referring => Some(latest),
        }
    }

    /// Reserves room for the messages of a channel. If there is none, forgets the channel that was used longest ago, if that is long: if all channels
    /// in use take more room than there is, some have it.
    fn reserve(&mut self, key: Key, most: usize) -> bool {
        let room = COPIES.saturating_mul(key.1);
        if self.channels.get(&key).is_some_and(|sending| sending.reserved > 0) {
            return true;
        }
        if self.reserved.saturating_add(room) > most {
            let others = self.channels.iter().filter(|(_, s)| s.reserved > 0 && self.now - s.used > IDLE);
            if let Some(oldest) = others.min_by_key(|(_, s)| s.used).map(|(key, _)| *key) {
                self.forget(oldest);
            }
        }
        let Some(sending) = self.channels.get_mut(&key).filter(|_| self.reserved + room <= most) else {
            return false;
        };
        sending.reserved = room;
        self.reserved += room;
        true
    }

    /// Forgets the message that a channel's next one would refer to, and frees its room.
    fn forget(&mut self, key: Key) {
        let Some(sending) = self.channels.get_mut(&key) else { return };
        self.reserved -= std::mem::take(&mut sending.reserved);
        if let Some(latest) = sending.latest.take() {
            self.peers.entry(key.0.peer).or_default().give_up(latest);
        }
    }

    /// Forgets the half of the channels that was used longest ago, if there are too many.
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

    /// Gives a message its number, if it is kept, and completes the note of its frame. `None` if it refers to another one, and there is no number:
    /// threads have begun too many messages at the same time.
    pub(super) fn number(&mut self, peer: u32, keeping: Option<Keeping>, mut note: Note) -> Option<Note> {
        let peer = self.peers.entry(peer).or_default();
        let has_number = peer.has_number(0);
        if !has_number && keeping.as_ref().is_some_and(|keeping| keeping.reference.is_some()) {
            return None;
        }
        if let Some(Keeping { key, copy, reference }) = keeping.filter(|_| has_number) {
            note.number = peer.next;
            note.reference = reference.as_ref().map_or(0, |(number, _)| *number);
            peer.next += 1;
            let _reference = reference.map(|(_, kept)| kept);
            peer.under_way.push_back(UnderWay { key, copy, _reference });
            if let Some(sending) = self.channels.get_mut(&key) {
                sending.under_way += 1;
            }
        }
        let free = peer.obsolete.iter().position(|(_, kept)| kept.strong_count() == 0);
        note.release = free.and_then(|at| peer.obsolete.remove(at)).map_or(0, |(number, _)| number);
        Some(note)
    }

    pub(super) fn encoded(&mut self, key: Key, refers: bool, wire_len: usize, link: Option<Link>) {
        let Some(sending) = self.channels.get_mut(&key) else { return };
        sending.recall.encoded(refers, key.1, wire_len, link);
        if sending.recall.rests() {
            self.forget(key);
        }
    }

    /// A process has dealt with all messages to it `below` this number, and has kept some of them.
    pub(super) fn answered(&mut self, peer: u32, below: u32, kept: u64) {
        let Some(peer) = self.peers.get_mut(&peer) else { return };
        if below > peer.next {
            return;
        }
        while peer.below < below {
            let Some(UnderWay { key, copy, .. }) = peer.under_way.pop_front() else { return };
            let is_kept = kept.checked_shr(below - 1 - peer.below).is_some_and(|bits| bits & 1 == 1);
            let latest = (peer.below, copy);
            peer.below += 1;
            let sending = self.channels.get_mut(&key);
            let sending = sending.map(|sending| {
                sending.under_way = sending.under_way.saturating_sub(1);
                sending
            });
            match sending.filter(|sending| sending.reserved > 0) {
                _ if !is_kept => {}
                Some(sending) => {
                    if let Some(old) = sending.latest.replace(latest) {
                        peer.give_up(old);
                    }
                }
                None => peer.give_up(latest),
            }
        }
    }
}
