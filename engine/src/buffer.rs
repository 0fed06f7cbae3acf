//! Reusable byte buffers: taken from a bounded pool, and returned on drop.

use crate::frame::HEADER_LEN;
use std::cell::Cell;
use std::collections::TryReserveError;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of bytes kept for reuse. Larger buffers are freed.
const KEPT_BYTES: usize = 64 << 20;
/// The maximum number of buffers kept for reuse: about as many chunks of long messages as have that number of bytes. New memory costs a fault for
/// each page (`benches/record/npb.txt`).
const KEPT_BUFFERS: usize = 1024;

/// A pool of byte buffers.
#[derive(Default)]
pub(crate) struct Pool {
    free: Mutex<Free>,
}

/// Buffers stay initialised over their whole length, so that reuse needs no clearing.
#[derive(Default)]
struct Free {
    /// From the longest to the shortest: short ones are needed most often, and are near the end.
    buffers: Vec<Vec<u8>>,
    bytes: usize,
}

impl Free {
    /// Takes out the shortest buffer of at least `room` and at most `most` bytes, so that a short message does not occupy a long buffer.
    fn take(&mut self, room: usize, most: usize) -> Option<Vec<u8>> {
        let at = self.buffers.partition_point(|bytes| bytes.len() >= room).checked_sub(1)?;
        let len = self.buffers.get(at)?.len();
        (len <= most).then(|| {
            self.bytes -= len;
            self.buffers.remove(at)
        })
    }

    /// Adds a buffer; returns it if there is no room for it. Of buffers of one length, the one that was used last is taken out first.
    fn give(&mut self, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let has_room = self.buffers.len() < KEPT_BUFFERS && self.bytes + bytes.len() <= KEPT_BYTES;
        if !has_room || self.buffers.try_reserve(1).is_err() {
            return Some(bytes);
        }
        let at = self.buffers.partition_point(|other| other.len() >= bytes.len());
        self.bytes += bytes.len();
        self.buffers.insert(at, bytes);
        None
    }
}

impl Pool {
    /// An empty buffer with room for at least `room` bytes. If memory is short, frees all buffers that are kept for reuse.
    ///
    /// # Errors
    /// If the system is out of memory.
    pub(crate) fn take(self: &Arc<Self>, room: usize) -> Result<Buffer, TryReserveError> {
        self.take_within(room, usize::MAX).or_else(|_| {
            let unused = std::mem::take(&mut *self.free());
            drop(unused); // now that the pool is unlocked
            self.take_within(room, usize::MAX)
        })
    }

    /// The same with room for at most `most` bytes, for a buffer that is kept for a long time and that the caller can do without: if memory is short,
    /// those that are kept for reuse stay.
    ///
    /// # Errors
    /// If the system is out of memory.
    pub(crate) fn take_within(self: &Arc<Self>, room: usize, most: usize) -> Result<Buffer, TryReserveError> {
        let mut bytes = self.free().take(room, most).unwrap_or_default();
        if bytes.len() < room {
            let start = Instant::now();
            bytes.try_reserve_exact(room)?;
            bytes.resize(room, 0);
            NEW_MEMORY.set(NEW_MEMORY.get() + start.elapsed());
        }
        Ok(Buffer { bytes, len: 0, pool: Arc::clone(self) })
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// The time in which this thread has got new memory for pools.
    static NEW_MEMORY: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Times work of this thread, without the time of new memory for pools: the first messages need it, and later ones reuse it. With it, a codec's first
/// messages may seem to take several times as long as all others.
pub(crate) struct Stopwatch {
    start: Instant,
    new_memory: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { new_memory: NEW_MEMORY.get(), start: Instant::now() }
    }

    /// The time since the start. On another thread, all of it counts.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed().saturating_sub(NEW_MEMORY.get().saturating_sub(self.new_memory))
    }
}

/// Bytes in pooled memory. Dereferences to the filled part; dropping it returns the memory to its pool.
pub struct Buffer {
    bytes: Vec<u8>,
    len: usize,
    pool: Arc<Pool>,
}

impl Buffer {
    /// The whole room, with arbitrary contents. Fill its front, then call [`set_len`](Self::set_len).
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Makes the first `len` bytes of the room the content. `len` is limited to the size of the room.
    pub fn set_len(&mut self, len: usize) {
        self.len = len.min(self.bytes.len());
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

impl Drop for Buffer {
    /// Clears what may be a frame's header: memory that the program later gets from the system must not look like a frame (`docs/format/frame.md`).
    fn drop(&mut self) {
        let end = self.bytes.len().min(HEADER_LEN);
        self.bytes[..end].fill(0);
        let bytes = std::mem::take(&mut self.bytes);
        // What is not kept is freed when the pool is unlocked.
        let _refused = self.pool.free().give(bytes);
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_reused_and_bounded() {
        let pool = Arc::new(Pool::default());
        let mut first = pool.take(1000).unwrap();
        assert!(first.is_empty());
        first.room()[..3].copy_from_slice(b"abc");
        first.set_len(3);
        assert_eq!(&*first, b"abc");
        first.set_len(5000);
        assert_eq!(first.len(), 1000);
        let at = first.as_ptr();
        drop(first);
        assert_eq!(pool.take(900).unwrap().as_ptr(), at, "the freed buffer serves again");
        drop(pool.take(KEPT_BYTES + 1).unwrap());
        let held: Vec<_> = (0..2 * KEPT_BUFFERS).map(|i| pool.take(8 + i * 7 % 64).unwrap()).collect();
        drop(held);
        let mut free = pool.free.lock().unwrap();
        assert!(free.buffers.len() <= KEPT_BUFFERS && free.bytes <= KEPT_BYTES);
        assert_eq!(free.bytes, free.buffers.iter().map(Vec::len).sum::<usize>());
        assert!(free.buffers.is_sorted_by_key(|bytes| std::cmp::Reverse(bytes.len())));
        assert_eq!(free.take(10, 20).map(|bytes| bytes.len()), Some(10), "the shortest that fits");
        assert_eq!(free.take(72, 200), None, "all are longer than that, or shorter");
    }

    #[test]
    fn new_memory_takes_no_time() {
        let pool = Arc::new(Pool::default());
        let (all, watch) = (Instant::now(), Stopwatch::start());
        drop(pool.take(32 << 20).unwrap());
        let new = NEW_MEMORY.get();
        assert!(new > Duration::ZERO && watch.elapsed() + new <= all.elapsed());
        drop(pool.take(32 << 20).unwrap());
        assert_eq!(NEW_MEMORY.get(), new, "it is reused");
    }

    #[test]
    fn no_memory_is_an_error_after_all_that_was_kept_has_been_freed() {
        let pool = Arc::new(Pool::default());
        let kept = || {
            let free = pool.free.lock().unwrap();
            (free.buffers.len(), free.bytes)
        };
        drop(pool.take(1000).unwrap());
        assert!(pool.take_within(usize::MAX / 2, usize::MAX).is_err());
        assert_eq!(kept(), (1, 1000), "for what is needed");
        assert!(pool.take(usize::MAX / 2).is_err());
        assert_eq!(kept(), (0, 0));
    }
}
