//! Memory of channels: the last messages that two processes have exchanged, to which later ones may refer. Rules: `docs/format/frame.md`, section
//! "Notes".

mod receiver;
mod sender;

use crate::buffer::{Buffer, Pool};
use crate::frame::{FrameError, Note};
use mpress_codec::{DecodeErrorKind, Out};
use mpress_selector::Link;
use receiver::Receiver;
use sender::Sender;
use std::collections::HashMap;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use sender::Key;

/// The number of messages that a note reports on.
const WINDOW: u32 = u64::BITS;

/// The maximum number of messages from one process to another that are not known to have been dealt with. Late and lost messages stay among them for
/// a long time.
const MOST_UNDER_WAY: usize = 4 * WINDOW as usize;

/// Where a message goes. Messages of one channel and one length are likely to be similar, so each may refer to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// The rank of the receiver among the processes that exchange frames.
    pub peer: u32,
    /// A number for the communicator, chosen by the caller.
    pub context: u64,
    /// The tag.
    pub tag: i32,
}

/// What one process keeps.
pub(crate) struct Memory {
    /// This process's rank, and the number of processes.
    rank: u32,
    size: u32,
    pool: Arc<Pool>,
    sent: Store,
    received: Store,
    sender: Mutex<Sender>,
    receiver: Mutex<Receiver>,
    /// Messages that arrive in chunks, by sender and number. As with all numbers off the wire, hashed with a secret.
    arriving: Mutex<HashMap<(u32, u32), Arrival>>,
}

/// The number of bytes kept, and its maximum.
#[derive(Clone)]
struct Store {
    bytes: Arc<AtomicUsize>,
    most: usize,
}

/// A message that is kept.
pub(crate) struct Kept {
    bytes: Buffer,
    /// Shared with messages under way that refer to it: they need its number, not its bytes.
    pin: Arc<()>,
    counted: usize,
    store: Store,
}

impl Store {
    fn new(most: usize) -> Self {
        Self { bytes: Arc::default(), most }
    }

    /// Room for a message; `None` if there is none.
    fn take(&self, pool: &Arc<Pool>, len: usize) -> Option<Kept> {
        // Counted before the allocation, because the length may come from a frame.
        let counted = len.checked_add(len / 4)?;
        let add = |now: usize| now.checked_add(counted).filter(|sum| *sum <= self.most);
        self.bytes.fetch_update(Relaxed, Relaxed, add).ok()?;
        let Ok(mut bytes) = pool.take_within(len, counted) else {
            self.bytes.fetch_sub(counted, Relaxed);
            return None;
        };
        bytes.set_len(len);
        Some(Kept { bytes, pin: Arc::default(), counted, store: self.clone() })
    }
}

impl Deref for Kept {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.store.bytes.fetch_sub(self.counted, Relaxed);
    }
}

/// Writes the bytes of a part of a message to the slice, which has their length; returns whether that was possible.
pub(crate) type Fill<'a> = &'a dyn Fn(Range<usize>, &mut [u8]) -> bool;

/// A message that is to be kept, and what it refers to.
#[derive(Clone)]
pub(crate) struct Keeping {
    key: Key,
    copy: Arc<Kept>,
    reference: Option<sender::Reference>,
}

impl Keeping {
    /// Fills a part of the copy; returns whether that was possible.
    pub(crate) fn fill(&mut self, part: Range<usize>, fill: Fill<'_>) -> bool {
        let copy = Arc::get_mut(&mut self.copy).and_then(|copy| copy.bytes.get_mut(part.clone()));
        copy.is_some_and(|copy| fill(part, copy))
    }

    /// The copy from which the message must be encoded: the program's memory may change meanwhile.
    pub(crate) fn message(&self) -> &[u8] {
        &self.copy
    }

    /// The key for [`Memory::referred`], if it refers to another message.
    pub(crate) fn referring(&self) -> Option<Key> {
        self.reference.as_ref().map(|_| self.key)
    }

    pub(crate) fn reference(&self) -> Option<&[u8]> {
        self.reference.as_ref().map(|(_, kept)| &***kept)
    }
}

impl fmt::Debug for Keeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reference = self.reference.as_ref().map(|(number, _)| number);
        write!(f, "Keeping({:?}, referring to {reference:?})", self.key)
    }
}

/// A message that has arrived with a note.
pub(crate) struct Arrival {
    note: Note,
    /// What it refers to.
    reference: Option<Arc<Kept>>,
    room: Option<Kept>,
    /// The index of its next chunk.
    next: usize,
}

impl Arrival {
    /// Decodes this part of the message into `out`, with the same part of its reference. A message that is to be kept is decoded into its room first,
    /// because the program may change the memory of `out` in the meantime.
    pub(crate) fn decode<E>(
        &mut self,
        part: Range<usize>,
        out: &mut [MaybeUninit<u8>],
        decode: impl Fn(Option<&[u8]>, Out<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let reference = self.reference.as_deref().and_then(|kept| kept.get(part.clone()));
        match self.room.as_mut().and_then(|kept| kept.bytes.get_mut(part)) {
            Some(room) => {
                decode(reference, Out::from_slice(room))?;
                out.write_copy_of_slice(room);
                Ok(())
            }
            None => decode(reference, Out::new(out)),
        }
    }
}

impl Memory {
    /// The memory of the process with this rank of `size`, for at most this number of bytes.
    pub(crate) fn new(rank: u32, size: u32, most: usize, pool: Arc<Pool>) -> Self {
        let (sent, received) = (Store::new(most / 2), Store::new(most / 2));
        let (sender, receiver) = Default::default();
        Self { rank, size, pool, sent, received, sender, receiver, arriving: Mutex::default() }
    }

    fn sender(&self) -> MutexGuard<'_, Sender> {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn receiver(&self) -> MutexGuard<'_, Receiver> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of the messages kept: of those sent, and of those received.
    pub(crate) fn bytes(&self) -> [usize; 2] {
        [&self.sent, &self.received].map(|store| store.bytes.load(Relaxed))
    }

    /// Whether a frame to this process should have a note, though its message is not kept.
    pub(crate) fn owes(&self, peer: u32) -> bool {
        self.receiver().owes(peer) || self.sender().owes(peer)
    }

    /// Begins to send a message of `len` bytes. If it is to be kept, returns room for its copy, to be [filled](Keeping::fill).
    pub(crate) fn keep(&self, channel: Channel, len: usize) -> Option<Keeping> {
        if channel.peer >= self.size {
            return None;
        }
        let key = (channel, len);
        let reference = self.sender().begin(key, self.sent.most)?;
        let copy = Arc::new(self.sent.take(&self.pool, len)?);
        Some(Keeping { key, copy, reference })
    }

    /// The note of a frame to this process, which must then be sent. `None` if the message refers to another one, but there is no number for it.
    pub(crate) fn note(&self, peer: u32, keeping: Option<Keeping>) -> Option<Note> {
        let note = self.sender().number(peer, keeping, Note { from: self.rank, ..Note::default() })?;
        Some(self.receiver().answer(peer, note))
    }

    /// Reports the length on the wire of a message with this key that referred to another one, and the number of bytes that this saved. `link`: the
    /// link, if its speed matters.
    pub(crate) fn referred(&self, key: Key, wire_len: usize, saved: usize, link: Option<Link>) {
        self.sender().referred(key, wire_len, saved, link);
    }

    /// Handles the note of a frame that has arrived.
    ///
    /// # Errors
    /// If the message refers to one that is not here, or no sender writes such a note.
    pub(crate) fn arrive(&self, note: Note, raw_len: usize) -> Result<Arrival, FrameError> {
        if note.from >= self.size || note.number == u32::MAX {
            return Err(FrameError::damaged(DecodeErrorKind::Corrupt, crate::HEADER_LEN));
        }
        self.sender().answered(note.from, &note);
        let (reference, is_new) = self.receiver().arrive(&note, raw_len)?;
        let is_new = is_new && !self.arriving().contains_key(&(note.from, note.number));
        let room = is_new.then(|| self.received.take(&self.pool, raw_len)).flatten();
        Ok(Arrival { note, reference, room, next: 0 })
    }

    /// Handles the arrival of a message, or a part of it, that will not be decoded.
    pub(crate) fn refuse(&self, note: &Note, raw_len: usize) {
        if note.from < self.size && note.number < u32::MAX {
            self.sender().answered(note.from, note);
            let is_whole = self.receiver().arrive(note, raw_len).is_ok();
            if self.take_out(note).is_some() || is_whole {
                self.receiver().settle(note, None);
            }
        }
    }

    /// Records that a message has been dealt with. `last`: the index of its last decoded chunk, 0 if it came in one frame; `None` if it is not whole.
    pub(crate) fn settle(&self, arrival: Arrival, last: Option<usize>) {
        let Arrival { note, room, next, .. } = arrival;
        let is_whole = last == Some(next);
        self.receiver().settle(&note, room.filter(|_| is_whole).map(Arc::new));
    }

    fn arriving(&self) -> MutexGuard<'_, HashMap<(u32, u32), Arrival>> {
        self.arriving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the state of a message between its chunks; the chunk with this index has been decoded.
    pub(crate) fn put_back(&self, arrival: Arrival, index: usize) {
        // If a chunk is missing or arrives twice, the message is not whole.
        let room = arrival.room.filter(|_| arrival.next == index);
        let arrival = Arrival { room, next: index + 1, ..arrival };
        if arrival.note.number > 0 {
            self.arriving().insert((arrival.note.from, arrival.note.number), arrival);
        }
    }

    /// The state of the message with this note, of which chunks have arrived; `None` if it failed before.
    pub(crate) fn take_out(&self, note: &Note) -> Option<Arrival> {
        self.arriving().remove(&(note.from, note.number))
    }
}
