//! The receiver's side.

use super::{Kept, WINDOW};
use crate::frame::{FrameError, Note};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Notes that tell the same news. A frame may be lost, and with it what it says.
const TOLD: u8 = 3;
/// Frames between two such notes.
const BETWEEN: u8 = 16;

/// Late messages that are still to be told. A sender has no more under way.
const MOST_LATE: usize = 2 * WINDOW as usize;

/// What has come, by the rank of the process that sent it.
#[derive(Default)]
pub(super) struct Receiver(HashMap<u32, Peer>);

struct Peer {
    /// One more than the greatest number of a message that has been dealt with.
    above: u32,
    /// Bit i: so has message `above` - 1 - i, and it is kept.
    dealt: u64,
    kept: u64,
    messages: HashMap<u32, Arc<Kept>>,
    /// Messages that came after so many later ones that they have no bit.
    late: VecDeque<u32>,
    /// Notes that are still to tell this, and frames since the last one.
    news: u8,
    since: u8,
}

impl Default for Peer {
    fn default() -> Self {
        Self {
            above: 1,
            dealt: 0,
            kept: 0,
            messages: HashMap::new(),
            late: VecDeque::new(),
            news: 0,
            since: 0,
        }
    }
}

impl Receiver {
    /// Whether a frame to this process should say what has come.
    pub(super) fn owes(&mut self, peer: u32) -> bool {
        let Some(peer) = self.0.get_mut(&peer) else { return false };
        peer.since = peer.since.saturating_add(1);
        peer.news == TOLD || !peer.late.is_empty() || peer.news > 0 && peer.since >= BETWEEN
    }

    /// What a note to this process says of its messages.
    pub(super) fn answer(&mut self, peer: u32, note: Note) -> Note {
        let Some(peer) = self.0.get_mut(&peer) else { return Note { above: 1, ..note } };
        (peer.news, peer.since) = (peer.news.saturating_sub(1), 0);
        let late = peer.late.pop_front().unwrap_or(0);
        Note { above: peer.above, dealt: peer.dealt, kept: peer.kept, late, ..note }
    }

    /// The message that a new one refers to, and whether the new one may be kept: not if it has come before.
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

    /// A message has been dealt with, and is kept or not. A late one is not kept.
    pub(super) fn settle(&mut self, note: &Note, message: Option<Arc<Kept>>) {
        let Some(peer) = self.0.get_mut(&note.from).filter(|_| note.number > 0) else { return };
        if note.number >= peer.above {
            let by = note.number + 1 - peer.above;
            peer.dealt = peer.dealt.checked_shl(by).unwrap_or(0);
            peer.kept = peer.kept.checked_shl(by).unwrap_or(0);
            peer.above = note.number + 1;
        }
        let ago = peer.above - 1 - note.number;
        if ago >= WINDOW {
            if peer.late.len() < MOST_LATE {
                peer.late.push_back(note.number);
            }
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
