//! Long messages that go in chunks, so that they are encoded, sent and decoded at the same time (cMPI, section 2.4).
//!
//! The head of a stream is a frame that goes the way of its message: it is what receives and probes match. The chunks of its tail go over
//! the private communicator, with a tag of the stream's. The sender keeps most of them until the head has been matched, as an MPI keeps a
//! long message; somebody has to start them then, so where this process may wait in a call of the MPI's they are all started before
//! (`progress::before_waiting`). Each chunk is so short that the MPI sends it without asking the receiver: so no
//! rank waits for another one to get to its chunks ([`Eager`]).

mod arriving;
mod departing;

pub(crate) use arriving::{Arriving, Next, Target};
pub(crate) use departing::Departing;

use crate::sys::*;
use mpress::{Buffer, Destination, Stream};
use std::collections::{HashSet, VecDeque};
use std::ffi::c_int;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes of a tail that are started before the head has been matched: what lies at the receiver, then, of each message that it has not asked
/// for.
const AHEAD: usize = 128 << 10;

/// Bytes of all streams of this process that wait or are being sent. A message that would not fit goes in one frame.
const MOST: usize = 64 << 20;

/// The same where nothing is held back, so that all of it may lie at receivers that have not asked for it.
const MOST_AHEAD: usize = 8 << 20;

/// Streams that are under way at a time: fewer than there are tags for them.
const MOST_STREAMS: usize = 1 << 10;

/// Bytes of memory that are left for all else while a stream is encoded.
const SPARE: usize = 1 << 20;

/// A send that has been started, and its memory.
type Send = (MPI_Request, Buffer);

/// What the streams of this process share.
pub(crate) struct Streams {
    /// Over which tails go, ...
    comm: MPI_Comm,
    /// ... and their tags: no others are used there for anything else.
    tags: RangeInclusive<c_int>,
    /// The number of the next stream.
    next: AtomicU32,
    /// Tags of streams that were cancelled after a part of their tail had been sent.
    burnt: Mutex<HashSet<c_int>>,
    /// Streams that this process sends, sends that are left, and tails that are dropped.
    busy: AtomicUsize,
    /// Bytes of these streams.
    bytes: AtomicUsize,
    /// Sends that no request waits for any more.
    left: Mutex<Vec<Send>>,
    /// Tails that come, and nobody wants.
    dropped: Mutex<Vec<Arriving>>,
    eager: [Eager; Destination::ALL.len()],
    /// Whether nobody may be there to start what is held: several threads may be in the MPI.
    multiple: bool,
}

impl Streams {
    pub(crate) fn new(comm: MPI_Comm, tags: RangeInclusive<c_int>, multiple: bool) -> Self {
        Self {
            comm,
            tags,
            next: AtomicU32::new(0),
            burnt: Mutex::default(),
            busy: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            left: Mutex::default(),
            dropped: Mutex::default(),
            eager: Default::default(),
            multiple,
        }
    }

    /// Whether this process sends none. Then nothing of it needs to be looked after, and it may wait in the MPI.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Acquire) == 0
    }

    /// The tag of a stream's tail.
    pub(crate) fn tag(&self, stream: &Stream) -> c_int {
        self.tag_of(stream.id())
    }

    fn tag_of(&self, id: u32) -> c_int {
        let count = self.tags.end().abs_diff(*self.tags.start()).saturating_add(1);
        self.tags.start().saturating_add_unsigned(id % count)
    }

    /// A number for a stream of a message of `len` bytes; `None` if the message is better sent in one frame.
    pub(crate) fn admit(&self, to: Destination, len: usize) -> Option<u32> {
        let most = if self.multiple { MOST_AHEAD } else { MOST };
        let fits = self.bytes.load(Ordering::Relaxed).checked_add(len).is_some_and(|bytes| bytes <= most);
        if !fits || self.busy.load(Ordering::Relaxed) >= MOST_STREAMS || self.eager(to).is_refuted() {
            return None;
        }
        // Once the head is under way there must be memory for the rest. The system gives it, and gets it back, without touching it.
        let room = len.saturating_add(len / 16).saturating_add(SPARE);
        Vec::<u8>::new().try_reserve_exact(room).ok()?;
        let burnt = self.burnt.lock().unwrap_or_else(PoisonError::into_inner);
        (0..=burnt.len())
            .map(|_| self.next.fetch_add(1, Ordering::Relaxed))
            .find(|id| !burnt.contains(&self.tag_of(*id)))
    }

    /// What is known of chunks to this destination.
    fn eager(&self, to: Destination) -> &Eager {
        &self.eager[to as usize]
    }

    /// Finishes sends that no request waits for any more; says whether there are others.
    pub(crate) fn sweep(&self) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let before = left.len();
        left.retain_mut(|(request, _)| !is_complete(request));
        self.busy.fetch_sub(before - left.len(), Ordering::AcqRel);
        !left.is_empty()
    }

    /// Leaves sends to themselves.
    fn leave(&self, sends: VecDeque<Send>) {
        self.busy.fetch_add(sends.len(), Ordering::AcqRel);
        self.left.lock().unwrap_or_else(PoisonError::into_inner).extend(sends);
    }
}

/// Whether the MPI sends a chunk before its receiver asks for it. If it does, a stream is sent once all its chunks are, as a long message
/// of the MPI's is; if it does not, one of the two ranks might wait in a call that knows nothing of chunks, while the other waits for it.
/// What an MPI does depends on the network and on many settings. So it is tried: the first chunks of tails are sent before
/// their heads, when nobody can have asked for them.
#[derive(Default)]
struct Eager {
    /// Bytes of the longest chunk so far.
    longest: AtomicUsize,
    /// Chunks of up to this many bytes were.
    proven: AtomicUsize,
    /// Trials without success since the last one with.
    failures: AtomicU32,
}

/// After this many trials without success the MPI most likely does not.
const TRIALS: u32 = 16;

impl Eager {
    fn is_proven(&self, bytes: usize) -> bool {
        bytes <= self.proven.load(Ordering::Relaxed)
    }

    /// Whether there have been, or may be in a stream with such a head, chunks of which it is not known.
    fn is_open(&self, head: usize) -> bool {
        !self.is_proven(head.max(self.longest.load(Ordering::Relaxed)))
    }

    fn is_refuted(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= TRIALS
    }

    /// A chunk of this many bytes was sent before its head, and `complete` soon, or not.
    fn tried(&self, bytes: usize, complete: bool) {
        if complete {
            self.proven.fetch_max(bytes, Ordering::Relaxed);
            self.failures.store(0, Ordering::Relaxed);
        } else {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Tests a request of ours. One that fails is over, too: what it was to bring is missed elsewhere.
fn is_complete(request: &mut MPI_Request) -> bool {
    let (mut flag, mut status) = (0, empty_status());
    // SAFETY: a request of ours, valid output pointers.
    let code = unsafe { crate::mpi::real::MPI_Test(request, &raw mut flag, &raw mut status) };
    code != SUCCESS || flag != 0
}
