//! Long messages in chunks, so that they are encoded, sent and decoded at the same time (cMPI, section 2.4).
//!
//! The head of a stream is a frame that is sent like its message: receives and probes match it. The chunks of its tail are sent on the
//! private communicator, with a tag of the stream. The sender holds most of them back until the head has been matched, as an MPI does with
//! a long message. Then they must be started; so before this process may wait in a call of the MPI, all of them are started
//! (`progress::before_waiting`). Each chunk is short enough for the MPI to send it eagerly, so that no rank waits for another one to
//! receive its chunks ([`Eager`]).

mod arriving;
mod departing;
mod pace;

pub(crate) use arriving::{Arriving, Next, Target};
pub(crate) use departing::Departing;

use crate::sys::*;
use mpress::{Buffer, Destination, Stream};
use std::collections::{HashSet, VecDeque};
use std::ffi::c_int;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a tail that are started before the head has been matched: the unexpected data of each message at the receiver.
const AHEAD: usize = 128 << 10;

/// Greatest number of bytes of all pending streams of this process. A message that would exceed it is sent in one frame.
const MOST: usize = 64 << 20;

/// The same where nothing is held back, so that all of it may be unexpected at receivers.
const MOST_AHEAD: usize = 8 << 20;

/// Greatest number of streams pending at a time, less than the number of their tags.
const MOST_STREAMS: usize = 1 << 10;

/// Bytes of memory that are left for other uses while a stream is encoded.
const SPARE: usize = 1 << 20;

/// The estimate of the network may be wrong.
const MOST_PATIENCE: Duration = Duration::from_secs(1);
/// The waiting time is halved at most this many times.
const MOST_VAIN: u32 = 6;

/// A started send, and its memory.
type Send = (MPI_Request, Buffer);

/// State shared by the streams of this process.
pub(crate) struct Streams {
    /// The communicator of the tails.
    comm: MPI_Comm,
    /// The tags of the tails, which are not used for anything else there.
    tags: RangeInclusive<c_int>,
    /// Times of sending count from here.
    began: Instant,
    /// The least time that starting a chunk has taken so far, in nanoseconds per MiB.
    least_start: AtomicU64,
    /// The number of the next stream.
    next: AtomicU32,
    /// Tags of streams that were cancelled after part of their tail had been sent.
    burnt: Mutex<HashSet<c_int>>,
    /// Number of streams sent by this process, of sends left, and of tails being dropped.
    busy: AtomicUsize,
    /// Bytes of these streams.
    bytes: AtomicUsize,
    /// Sends that no longer belong to a request.
    left: Mutex<Vec<Send>>,
    /// Tails being received that are not wanted.
    dropped: Mutex<Vec<Arriving>>,
    eager: [Eager; Destination::ALL.len()],
    /// How often in a row a last chunk was waited for in vain.
    vain: AtomicU32,
    /// Whether held sends might never be started, since several threads may be in the MPI.
    multiple: bool,
}

impl Streams {
    pub(crate) fn new(comm: MPI_Comm, tags: RangeInclusive<c_int>, multiple: bool) -> Self {
        Self {
            comm,
            tags,
            began: Instant::now(),
            least_start: AtomicU64::new(u64::MAX),
            next: AtomicU32::new(0),
            burnt: Mutex::default(),
            busy: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            left: Mutex::default(),
            dropped: Mutex::default(),
            eager: Default::default(),
            vain: AtomicU32::new(0),
            multiple,
        }
    }

    /// Whether this process sends no streams. Then nothing needs to be advanced, and it may wait in the MPI.
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

    /// How long this process was kept waiting by the start of a chunk of `len` bytes, which took this time.
    fn stalled(&self, len: usize, time: Duration) -> Duration {
        // Bytes below one MiB, and less than 2^44 ns.
        let of = |ns: u64, from: usize, to: usize| ns.saturating_mul(to as u64) / (from as u64).max(1);
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let of_mib = of(ns, len, 1 << 20);
        let least = self.least_start.fetch_min(of_mib, Ordering::Relaxed).min(of_mib);
        time.saturating_sub(Duration::from_nanos(of(least, 1 << 20, len)))
    }

    /// A number for a stream of a message of `len` bytes; `None` if the message is better sent in one frame.
    pub(crate) fn admit(&self, to: Destination, len: usize) -> Option<u32> {
        let most = if self.multiple { MOST_AHEAD } else { MOST };
        let fits = self.bytes.load(Ordering::Relaxed).checked_add(len).is_some_and(|bytes| bytes <= most);
        if !fits || self.busy.load(Ordering::Relaxed) >= MOST_STREAMS || self.eager(to).is_refuted() {
            return None;
        }
        // Once the head is sent, there must be memory for the rest. This allocates and frees it without touching it.
        let room = len.saturating_add(len / 16).saturating_add(SPARE);
        Vec::<u8>::new().try_reserve_exact(room).ok()?;
        let burnt = self.burnt.lock().unwrap_or_else(PoisonError::into_inner);
        (0..=burnt.len())
            .map(|_| self.next.fetch_add(1, Ordering::Relaxed))
            .find(|id| !burnt.contains(&self.tag_of(*id)))
    }

    /// How long the sender of a stream waits for its last chunk to be received.
    ///
    /// An MPI calls a short message sent when it has copied it. If a program went on computing then, chunks would stay where they are until its next call.
    /// So the last one is sent synchronously. But a receiver may be in a call of the MPI that receives no chunks, and wait there for this process. So it
    /// is not waited for longer than twice what the network takes for all that is pending; and less and less where that was in vain.
    fn patience(&self, byte_ns: f64) -> Duration {
        let ns = self.bytes.load(Ordering::Relaxed) as f64 * byte_ns;
        Duration::from_nanos((2.0 * ns) as u64).min(MOST_PATIENCE)
            / (1 << self.vain.load(Ordering::Relaxed).min(MOST_VAIN))
    }

    /// The last chunk of a stream was received within that time, or not.
    fn waited(&self, received: bool) {
        let vain = self.vain.load(Ordering::Relaxed);
        self.vain.store(if received { 0 } else { (vain + 1).min(MOST_VAIN) }, Ordering::Relaxed);
    }

    /// What is known of chunks to this destination.
    fn eager(&self, to: Destination) -> &Eager {
        &self.eager[to as usize]
    }

    /// Finishes sends that no longer belong to a request; returns whether others are left.
    pub(crate) fn sweep(&self) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let before = left.len();
        left.retain_mut(|(request, _)| !is_complete(request));
        self.busy.fetch_sub(before - left.len(), Ordering::AcqRel);
        !left.is_empty()
    }

    /// Keeps sends that no longer belong to a request.
    fn leave(&self, sends: VecDeque<Send>) {
        self.busy.fetch_add(sends.len(), Ordering::AcqRel);
        self.left.lock().unwrap_or_else(PoisonError::into_inner).extend(sends);
    }
}

/// Whether the MPI sends chunks eagerly. If it does, a stream is sent as soon as all its chunks are, like a long message of the MPI. If it
/// does not, one rank might wait in a call that makes no progress on chunks, while the other waits for it. This depends on the MPI, the
/// network and many settings. So it is tried: the first chunks of tails are sent before their heads, when no receive for them can have been
/// posted.
#[derive(Default)]
struct Eager {
    /// Bytes of the longest chunk so far.
    longest: AtomicUsize,
    /// Chunks of up to this many bytes were sent eagerly.
    proven: AtomicUsize,
    /// Number of failed trials since the last success.
    failures: AtomicU32,
}

/// After this many failed trials the MPI most likely does not send chunks eagerly.
const TRIALS: u32 = 16;

impl Eager {
    fn is_proven(&self, bytes: usize) -> bool {
        bytes <= self.proven.load(Ordering::Relaxed)
    }

    /// Whether there have been, or may be in a stream with such a head, chunks of a length not proven yet.
    fn is_open(&self, head: usize) -> bool {
        !self.is_proven(head.max(self.longest.load(Ordering::Relaxed)))
    }

    fn is_refuted(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= TRIALS
    }

    /// A chunk of this many bytes was sent before its head, and was soon `complete`, or not.
    fn tried(&self, bytes: usize, complete: bool) {
        if complete {
            self.proven.fetch_max(bytes, Ordering::Relaxed);
            self.failures.store(0, Ordering::Relaxed);
        } else {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Tests our own request. A failed one counts as complete: its missing data is noticed elsewhere.
fn is_complete(request: &mut MPI_Request) -> bool {
    let (mut flag, mut status) = (0, empty_status());
    // SAFETY: our own request, valid output pointers.
    let code = unsafe { crate::mpi::real::MPI_Test(request, &raw mut flag, &raw mut status) };
    code != SUCCESS || flag != 0
}
