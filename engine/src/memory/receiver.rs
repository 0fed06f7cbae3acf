//! The receiver's side.

use super::{Kept, WINDOW};
use crate::frame::{FrameError, Note};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The number of notes that repeat the same news, because a frame may be lost.
const TOLD: u8 = 3;
/// The number of frames from one of these notes to the next.
const BETWEEN: u8 = 16;

/// The maximum number of late messages; a sender waits for no more.
const MOST_LATE: usize = super::MOST_UNDER_WAY;

/// What has arrived, by the rank of the process that sent it.
#[derive(Default)]
pub(super) struct Receiver(HashMap<u32, Peer>);

struct Peer {
    /// One more than the greatest number of a message that has been dealt with.
    above: u32,
    /// Bit i: message `above` - 1 - i has been dealt with, and is kept. Set for numbers below 1.
    dealt: u64,
    kept: u64,
    /// Bit i: a note has reported that.
    told: u64,
    /// By number. Numbers come off the wire, so a hash without a secret could be made to collide.
    messages: HashMap<u32, Arc<Kept>>,
    /// Messages that have no bit and that no note has reported.
    late: VecDeque<u32>,
    /// The number of notes that must still report the news, and of frames since the last note.
    news: u8,
    since: u8,
}

impl Default for Peer {
    fn default() -> Self {
        Self {
            above: 1,
            dealt: u64::MAX,
            kept: u64::MAX,
            told: u64::MAX,
            messages: HashMap::new(),
            late: VecDeque::new(),
            news: 0,
            since: 0,
        }
    }
}

impl Peer {
    /// Moves the window of bits by this number of messages.
    fn move_window(&mut self, by: u32) {
        let shifted = |bits: u64| bits.checked_shl(by).unwrap_or(0);
        let staying = u64::MAX.checked_shr(by).unwrap_or(0);
        let leaving = self.dealt & !self.told & !staying;
        // The sender was not told that they are kept, so no message refers to them.
        for ago in (0..WINDOW).filter(|ago| leaving >> ago & 1 == 1) {
            let number = self.above - 1 - ago;
            self.messages.remove(&number);
            self.tell_late(number);
        }
        (self.dealt, self.kept, self.told) = (shifted(self.dealt), shifted(self.kept), shifted(self.told));
        self.above += by;
    }

    fn tell_late(&mut self, number: u32) {
        if self.late.len() < MOST_LATE && !self.late.contains(&number) {
            self.late.push_back(number);
        }
    }
}

impl Receiver {
    /// Whether a frame to this process should report what has arrived.
    pub(super) fn owes(&mut self, peer: u32) -> bool {
        let Some(peer) = self.0.get_mut(&peer) else { return false };
        peer.since = peer.since.saturating_add(1);
        peer.news == TOLD || !peer.late.is_empty() || peer.news > 0 && peer.since >= BETWEEN
    }

    /// Completes a note to this process with what it reports about the messages from there.
    pub(super) fn answer(&mut self, peer: u32, note: Note) -> Note {
        let Some(peer) = self.0.get_mut(&peer) else { return Note { above: 1, ..note } };
        (peer.news, peer.since) = (peer.news.saturating_sub(1), 0);
        let late = peer.late.pop_front().unwrap_or(0);
        peer.told |= peer.dealt;
        Note { above: peer.above, missing: !peer.dealt, lost: peer.dealt & !peer.kept, late, ..note }
    }

    /// Returns the message that a new one refers to, and whether the new one may be kept: not if it has arrived before, or too late.
    pub(super) fn arrive(
        &mut self,
        note: &Note,
        raw_len: usize,
    ) -> Result<(Option<Arc<Kept>>, bool), FrameError> {
        if note.number == 0 && note.release == 0 {
            return Ok((None, false));
        }
        let peer = self.0.entry(note.from).or_default();
        let reference = peer.messages.get(&note.reference).filter(|kept| kept.len() == raw_len);
        if note.reference > 0 && reference.is_none() {
            return Err(FrameError::Reference(note.reference));
        }
        let reference = reference.cloned();
        peer.messages.remove(&note.release);
        let is_new = match peer.above.checked_sub(note.number + 1) {
            None => true,
            Some(ago) => note.number > 0 && ago < WINDOW && peer.dealt >> ago & 1 == 0,
        };
        Ok((reference, is_new))
    }

    /// Records that a message has been dealt with, and keeps it if it is given. A late one is not kept.
    pub(super) fn settle(&mut self, note: &Note, message: Option<Arc<Kept>>) {
        let Some(peer) = self.0.get_mut(&note.from).filter(|_| note.number > 0) else { return };
        if note.number >= peer.above {
            peer.move_window(note.number + 1 - peer.above);
        }
        let ago = peer.above - 1 - note.number;
        if ago >= WINDOW {
            peer.tell_late(note.number);
            return;
        }
        if peer.dealt >> ago & 1 == 1 {
            return;
        }
        peer.dealt |= 1 << ago;
        if let Some(message) = message {
            peer.kept |= 1 << ago;
            peer.messages.insert(note.number, message);
        }
        peer.news = TOLD;
    }
}
