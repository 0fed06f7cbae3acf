//! Long messages in chunks, so that they are encoded, sent and decoded at the same time (cMPI, section 2.4). `README.md`, "Long messages", says how.

mod arriving;
mod departing;

pub(crate) use arriving::{Arriving, Next, Target};
pub(crate) use departing::Departing;

use crate::mpi::{channel::Channel, channel::test, sys::*};
use mpress::{Buffer, Counted, Pending, waiting::Patience};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::{collections::HashSet, collections::VecDeque, ops::RangeInclusive, sync::Mutex, time::Instant};

/// Bytes of a tail that are started before the head has been matched, by a call that waits for that: they wait in the receiver's MPI.
const AHEAD: usize = 128 << 10;

/// Greatest number of bytes of messages whose tails go ahead of their receivers. A message that would exceed it is sent in one frame.
const MOST_AHEAD: usize = 16 << 20;

/// Greatest number of streams pending at a time, less than the number of their tags.
const MOST_STREAMS: usize = 1 << 10;

/// Bytes of memory that are left for other uses while a stream is encoded.
const SPARE: usize = 1 << 20;

/// The started send of a chunk.
struct Send {
    /// Bytes of the tail that were started before it.
    before: usize,
    /// Whether it is complete only when the chunk has been received.
    synchronous: bool,
    request: MPI_Request,
    /// Its memory, which is counted.
    _chunk: Buffer,
    _kept: Counted,
}

/// State shared by the streams of this process.
pub(crate) struct Streams {
    /// The communicator of the tails.
    comm: MPI_Comm,
    /// The tags of the tails, which are not used for anything else there.
    tags: RangeInclusive<c_int>,
    /// Times of sending count from here.
    began: Instant,
    patience: Patience,
    /// The number of the next stream.
    next: AtomicU32,
    /// Tags of streams that were cancelled after part of their tail had been sent.
    burnt: Mutex<HashSet<c_int>>,
    /// Number of streams sent by this process, and of tails being dropped.
    busy: AtomicUsize,
    /// The bytes of all that is being sent.
    pending: Pending,
    /// The bytes of messages that have not been matched, sent by calls that do not wait for that.
    ahead: Pending,
    /// Sends that no longer belong to a request, by stream, and their number.
    left: Mutex<Vec<VecDeque<Send>>>,
    are_left: AtomicUsize,
    /// Tails that are received only to be dropped.
    dropped: Mutex<Vec<Arriving>>,
}

impl Streams {
    pub(crate) fn new(comm: MPI_Comm, tags: RangeInclusive<c_int>, pending: Pending) -> Self {
        let (patience, next, burnt, busy, ahead, left, are_left, dropped) = Default::default();
        let began = Instant::now();
        Self { comm, tags, began, patience, next, burnt, busy, pending, ahead, left, are_left, dropped }
    }

    /// Whether this process sends no streams, and drops none. Then nothing needs to be advanced, and it may wait in the MPI.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Acquire) == 0
    }

    /// The tail of a stream to or from this rank of the world.
    fn channel(&self, id: u32, peer: c_int) -> Channel {
        Channel { comm: self.comm, peer, tag: self.tag_of(id) }
    }

    fn tag_of(&self, id: u32) -> c_int {
        let count = self.tags.end().abs_diff(*self.tags.start()).saturating_add(1);
        self.tags.start().saturating_add_unsigned(id % count)
    }

    /// A number for a stream of a message of `len` bytes; `None` if the message is better sent in one frame. `holds`: the call waits for its
    /// receiver.
    pub(crate) fn admit(&self, len: usize, holds: bool) -> Option<u32> {
        let is_early = !holds && self.ahead.bytes().saturating_add(len) > MOST_AHEAD;
        if is_early || self.busy.load(Ordering::Relaxed) >= MOST_STREAMS {
            return None;
        }
        // Once the head is sent, there must be memory for the rest. This allocates and frees it without touching it.
        let room = len.saturating_add(len / 16).saturating_add(SPARE);
        Vec::<u8>::new().try_reserve_exact(room).ok()?;
        let burnt = crate::locked(&self.burnt);
        (0..=burnt.len())
            .map(|_| self.next.fetch_add(1, Ordering::Relaxed))
            .find(|id| !burnt.contains(&self.tag_of(*id)))
    }

    /// Whether there are sends that no longer belong to a request.
    #[inline]
    pub(crate) fn has_left(&self) -> bool {
        self.are_left.load(Ordering::Acquire) > 0
    }

    /// Finishes sends that no longer belong to a request; returns whether any are left.
    pub(crate) fn sweep(&self) -> bool {
        let mut left = crate::locked(&self.left);
        left.retain_mut(|sends| {
            drop_sent(sends);
            !sends.is_empty()
        });
        self.are_left.store(left.len(), Ordering::Release);
        !left.is_empty()
    }

    /// Keeps sends that no longer belong to a request.
    fn leave(&self, sends: VecDeque<Send>) {
        if sends.is_empty() {
            return;
        }
        let mut left = crate::locked(&self.left);
        left.push(sends);
        self.are_left.store(left.len(), Ordering::Release);
    }
}

/// Drops the sends that are over, up to the first that is not; pending synchronous ones are skipped. A failed send is over, too: its missing data is
/// noticed elsewhere.
fn drop_sent(sends: &mut VecDeque<Send>) {
    let mut stop = false;
    sends.retain_mut(|send| {
        let is_over = !stop && test(&mut send.request).is_some();
        stop |= !is_over && !send.synchronous;
        !is_over
    });
}
