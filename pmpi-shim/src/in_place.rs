//! Pending receives that the MPI writes straight into the program's memory. A frame lies there until it is decoded, so
//! nothing else may be written there before.
//!
//! The standard forbids receives that share memory while they are pending (MPI 3.1, section 3.7.2), but benchmarks post
//! whole windows of receives into one buffer. So
//!
//! - a receive whose memory overlaps that of a pending one takes what comes in a buffer of ours, and so does every later one
//!   in that memory ([`InPlace::claim`]);
//! - where that is put into the memory of a receive that is still pending, what that one has got so far is saved first
//!   ([`InPlace::land`], [`Covered`]).
//!
//! Receives that cannot bring a frame are the MPI's own and not known here.

use crate::covered::Covered;
use crate::span::Span;
use crate::state::Shim;
use crate::sys::*;
use mpress::{Buffer, HEADER_LEN};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ops::Range;
use std::slice;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The memory of a receive.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// As bytes, if it is contiguous.
    pub(crate) span: Span,
    /// In bytes.
    pub(crate) capacity: usize,
    /// Whether the bytes of a message lie there as they are sent.
    pub(crate) contiguous: bool,
}

impl Memory {
    /// Its addresses. Of a datatype with gaps only the first byte counts: the columns of an array lie between each other, but
    /// share no memory.
    fn range(&self) -> Range<usize> {
        let start = self.span.ptr.addr();
        if self.contiguous {
            return start..start.saturating_add(self.capacity);
        }
        let (mut lower, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
        // SAFETY: a datatype that the caller of an MPI function gave, and places for the answers.
        unsafe { PMPI_Type_get_true_extent(self.span.datatype, &raw mut lower, &raw mut extent) };
        let first = start.wrapping_add(lower as usize);
        first..first.saturating_add(1)
    }

    /// A copy of the first `len` bytes of a message there.
    ///
    /// # Safety
    /// The program must have lent the memory.
    pub(crate) unsafe fn read(&self, shim: &Shim, len: usize) -> Result<Buffer, c_int> {
        let mut elements = self.span;
        let size = Span { count: 1, ..elements }.bytes().filter(|&size| size > 0).ok_or(ERR_INTERN)?;
        let count = len.div_ceil(size);
        elements.count = MPI_Count::try_from(count).map_err(|_| ERR_INTERN)?;
        let mut buffer = shim.engine.buffer(count * size).ok_or(ERR_NO_MEM)?;
        buffer.set_len(count * size);
        // SAFETY: the caller vouches for the memory, which has no fewer elements than that.
        unsafe {
            if self.contiguous {
                buffer.copy_from_slice(slice::from_raw_parts(elements.ptr.cast::<u8>(), count * size));
            } else {
                shim.gather(&elements, &mut buffer)?;
            }
        }
        buffer.set_len(len);
        Ok(buffer)
    }

    /// Whether a frame begins there.
    ///
    /// # Safety
    /// The program must have lent the memory, which must have room for a frame.
    pub(crate) unsafe fn holds_frame(&self, shim: &Shim) -> Result<bool, c_int> {
        // SAFETY: the caller vouches for the memory.
        unsafe {
            if self.contiguous {
                let front = slice::from_raw_parts(self.span.ptr.cast::<u8>(), HEADER_LEN);
                return Ok(shim.engine.is_frame(front));
            }
            Ok(shim.engine.is_frame(&self.read(shim, HEADER_LEN)?))
        }
    }
}

/// A pending receive.
struct Pending {
    end: usize,
    memory: Memory,
    covered: Covered,
    /// What came has been taken out.
    taken: bool,
}

impl Pending {
    /// Bytes were put at this address, over a contiguous receive that begins at `start`.
    fn put(&mut self, address: usize, start: usize, before: &[u8], after: &[u8]) {
        let (from, end) = (start.saturating_sub(address), self.end.saturating_sub(address).min(after.len()));
        if let (Some(before), Some(after)) = (before.get(from..end), after.get(from..end)) {
            self.covered.put(address.saturating_sub(start), before, after);
        }
    }
}

/// Puts bytes into memory, and what they replace into `before`. Another thread may be receiving there, inside the MPI: each byte
/// that it writes is either replaced, and then in `before`, or stays.
///
/// # Safety
/// There must be memory for as many bytes as both slices have.
unsafe fn exchange(memory: *mut u8, bytes: &[u8], before: &mut [u8]) {
    const WORD: usize = size_of::<u64>();
    // SAFETY: the caller vouches for the memory; a byte is aligned.
    let one = |i: usize, byte: u8| unsafe { AtomicU8::from_ptr(memory.add(i)) }.swap(byte, Ordering::Relaxed);
    let head = memory.align_offset(WORD).min(bytes.len());
    let words = head + (bytes.len() - head) / WORD * WORD;
    for i in (0..head).chain(words..bytes.len()) {
        before[i] = one(i, bytes[i]);
    }
    let (bytes, before) = (bytes[head..words].chunks_exact(WORD), before[head..words].chunks_exact_mut(WORD));
    for (i, (bytes, before)) in bytes.zip(before).enumerate() {
        let mut word = [0; WORD];
        word.copy_from_slice(bytes);
        // SAFETY: as above; aligned after the head.
        let place = unsafe { AtomicU64::from_ptr(memory.add(head + i * WORD).cast()) };
        before.copy_from_slice(&place.swap(u64::from_ne_bytes(word), Ordering::Relaxed).to_ne_bytes());
    }
}

/// So many pieces of memory that receives share are remembered.
const MOST_SHARED: usize = 64;

/// The pending receives, by the address where their memory begins. No two of them overlap.
#[derive(Default)]
pub(crate) struct InPlace {
    pending: Mutex<BTreeMap<usize, Pending>>,
    /// Memory in which receives have overlapped, the latest last.
    shared: Mutex<Vec<Range<usize>>>,
    count: AtomicUsize,
    /// Held for reading while a frame is taken out, for writing while a message is put over pending receives.
    landing: RwLock<()>,
}

/// Memory that a receive has to itself, until dropped.
pub(crate) struct Claim {
    all: Arc<InPlace>,
    start: usize,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut pending = self.all.lock();
        pending.remove(&self.start);
        self.all.count.store(pending.len(), Ordering::Release);
    }
}

/// Where those begin that overlap this range. Since they do not overlap each other, at most one of them begins before it.
fn overlapping(pending: &BTreeMap<usize, Pending>, range: &Range<usize>) -> impl Iterator<Item = usize> {
    let before = pending.range(..range.start).next_back().filter(|(_, one)| one.end > range.start);
    before.into_iter().chain(pending.range(range.clone())).map(|(start, _)| *start)
}

impl InPlace {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this memory overlaps that of a pending receive.
    pub(crate) fn overlaps(&self, memory: &Memory) -> bool {
        self.count.load(Ordering::Acquire) > 0 && overlapping(&self.lock(), &memory.range()).next().is_some()
    }

    /// Takes this memory for a receive that is to be posted; `None` if receives share it, or have done so before: threads that do
    /// it once do it again, and the fewer frames are covered, the fewer [`Covered`] has to put together.
    pub(crate) fn claim(self: &Arc<Self>, memory: &Memory) -> Option<Claim> {
        let range = memory.range();
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.iter().any(|known| known.start < range.end && range.start < known.end) {
            return None;
        }
        let claim = self.hold(memory, &range);
        if claim.is_none() {
            if shared.len() == MOST_SHARED {
                shared.remove(0);
            }
            shared.push(range);
        }
        claim
    }

    /// Takes this memory; `None` if it overlaps that of a pending receive.
    fn hold(self: &Arc<Self>, memory: &Memory, range: &Range<usize>) -> Option<Claim> {
        let _whole = self.landing.read().unwrap_or_else(PoisonError::into_inner);
        let mut pending = self.lock();
        if overlapping(&pending, range).next().is_some() {
            return None;
        }
        let new = Pending { end: range.end, memory: *memory, covered: Covered::default(), taken: false };
        pending.insert(range.start, new);
        self.count.store(pending.len(), Ordering::Release);
        Some(Claim { all: Arc::clone(self), start: range.start })
    }

    /// Puts a message into memory of a receive that has no claim on it. `write` puts it into such memory, or other bytes.
    ///
    /// # Safety
    /// The program must have lent the memory.
    pub(crate) unsafe fn land(
        self: &Arc<Self>,
        shim: &Shim,
        memory: &Memory,
        write: impl FnOnce(&Span) -> Result<usize, c_int>,
    ) -> Result<usize, c_int> {
        // No receive may be posted there meanwhile: with the claim it gets a buffer of ours, without it waits for its own.
        let claim = if memory.capacity > 0 { self.hold(memory, &memory.range()) } else { None };
        if claim.is_some() || memory.capacity == 0 {
            return write(&memory.span);
        }
        let _alone = self.landing.write().unwrap_or_else(PoisonError::into_inner);
        let starts: Vec<usize> = overlapping(&self.lock(), &memory.range()).collect();
        let is_contiguous = |start| self.lock().get(start).is_none_or(|one| one.memory.contiguous);
        if memory.contiguous && starts.iter().all(is_contiguous) {
            let mut buffer = shim.engine.buffer(memory.capacity).ok_or(ERR_NO_MEM)?;
            let len = write(&Span::new(buffer.room().as_mut_ptr().cast(), memory.span.count, BYTE))?;
            buffer.set_len(len);
            let mut before = shim.engine.buffer(len).ok_or(ERR_NO_MEM)?;
            before.set_len(len);
            // SAFETY: the program's memory has room for the message.
            unsafe { exchange(memory.span.ptr.cast(), &buffer, &mut before) };
            for start in starts {
                self.covered(start, |one| one.put(memory.span.ptr.addr(), start, &before, &buffer));
            }
            return Ok(len);
        }
        // By the MPI, for whom other threads must not write there meanwhile.
        // SAFETY: memory of pending receives, until the end of this function.
        let before: Vec<_> = starts.iter().map(|&start| unsafe { self.read(shim, start) }).collect();
        let result = write(&memory.span);
        for (&start, before) in starts.iter().zip(before) {
            // SAFETY: as above.
            if let Some((before, after)) = before.zip(unsafe { self.read(shim, start) }) {
                self.covered(start, |one| one.covered.put(0, &before, &after));
            }
        }
        result
    }

    /// Notes what was put over a pending receive, unless its message has been taken out.
    fn covered(&self, start: usize, note: impl FnOnce(&mut Pending)) {
        if let Some(one) = self.lock().get_mut(&start).filter(|one| !one.taken) {
            note(one);
        }
    }

    /// What is in all the memory of a pending receive. `None` if memory is short.
    unsafe fn read(&self, shim: &Shim, start: usize) -> Option<Buffer> {
        let memory = self.lock().get(&start).filter(|one| !one.taken)?.memory;
        // SAFETY: the caller vouches for the memory.
        unsafe { memory.read(shim, memory.capacity) }.ok()
    }

    /// The frame of a receive that has completed with `received` bytes, if it got one.
    ///
    /// # Errors
    /// The code of a damaged frame, or that there is no memory.
    ///
    /// # Safety
    /// The program must have lent the memory, which must have room for a frame.
    pub(crate) unsafe fn take(
        &self,
        shim: &Shim,
        claim: Option<&Claim>,
        memory: &Memory,
        received: usize,
    ) -> Result<Option<Buffer>, c_int> {
        let _whole = self.landing.read().unwrap_or_else(PoisonError::into_inner);
        let covered = claim.and_then(|claim| {
            let mut pending = self.lock();
            let one = pending.get_mut(&claim.start)?;
            one.taken = true;
            Some(std::mem::take(&mut one.covered)).filter(|covered| !covered.is_empty())
        });
        // SAFETY: the caller vouches for the memory.
        unsafe {
            match covered {
                Some(covered) => {
                    let now = memory.read(shim, received)?;
                    covered.frame(&shim.engine, now).map_err(|_| shim.damaged)
                }
                None if memory.holds_frame(shim)? => memory.read(shim, received).map(Some),
                None => Ok(None),
            }
        }
    }
}
