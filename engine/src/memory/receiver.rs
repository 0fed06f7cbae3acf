//! The receiver's side.

use super::{Kept, WINDOW};
use crate::frame::{FrameError, Note};
use mpress_codec::DecodeErrorKind;
use std::collections::HashMap;
use std::sync::Arc;

/// What has come, by the rank of the process that sent it.
#[derive(Default)]
pub(super) struct Receiver(HashMap<u32, Peer>);

struct Peer {
    /// All messages with lower numbers have been dealt with.
    below: u32,
    /// Bit i: so has message `below` + i, and it is kept.
    ahead: u64,
    ahead_kept: u64,
    /// Bit i: message `below` - 1 - i was kept.
    kept: u64,
    messages: HashMap<u32, Arc<Kept>>,
    /// The process has not been told of all that.
    is_news: bool,
}

impl Default for Peer {
    fn default() -> Self {
        Self { below: 1, ahead: 0, ahead_kept: 0, kept: 0, messages: HashMap::new(), is_news: false }
    }
}

impl Receiver {
    pub(super) fn owes(&self, peer: u32) -> bool {
        self.0.get(&peer).is_some_and(|peer| peer.is_news)
    }

    /// What a note to this process says of its messages.
    pub(super) fn answer(&mut self, peer: u32) -> Note {
        let Some(peer) = self.0.get_mut(&peer) else { return Note { below: 1, ..Note::default() } };
        peer.is_news = false;
        Note { below: peer.below, kept: peer.kept, ..Note::default() }
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
        let ahead = note.number.checked_sub(peer.below);
        if ahead.is_some_and(|ahead| ahead >= WINDOW) {
            return Err(FrameError::damaged(DecodeErrorKind::Corrupt, crate::HEADER_LEN + 4));
        }
        let reference = peer.messages.get(&note.reference).filter(|kept| kept.len() == raw_len);
        if note.reference > 0 && reference.is_none() {
            return Err(FrameError::Reference(note.reference));
        }
        let reference = reference.cloned();
        peer.messages.remove(&note.release);
        Ok((reference, ahead.is_some_and(|ahead| peer.ahead >> ahead & 1 == 0)))
    }

    /// A message has been dealt with, and is kept or not.
    pub(super) fn settle(&mut self, note: &Note, message: Option<Arc<Kept>>) {
        let Some(peer) = self.0.get_mut(&note.from) else { return };
        let Some(ahead) = note.number.checked_sub(peer.below).filter(|ahead| *ahead < WINDOW) else { return };
        if peer.ahead >> ahead & 1 == 1 {
            return; // another thread was faster with the same frame
        }
        peer.ahead |= 1 << ahead;
        if let Some(message) = message {
            peer.ahead_kept |= 1 << ahead;
            peer.messages.insert(note.number, message);
        }
        while peer.ahead & 1 == 1 {
            peer.kept = peer.kept << 1 | peer.ahead_kept & 1;
            (peer.ahead, peer.ahead_kept) = (peer.ahead >> 1, peer.ahead_kept >> 1);
            peer.below += 1;
        }
        peer.is_news = true;
    }
}
