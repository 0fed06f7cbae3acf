//! Measures how long the program spends in wrapped calls, for the report: by call, by communicator and by peer.

mod about;

use crate::mpi::stack::{self, Earlier};
use crate::mpi::sys::*;
use about::About;
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

// The names of these calls, without large-count forms: `CALLS`.
include!(concat!(env!("OUT_DIR"), "/names.rs"));

static IS_ON: AtomicBool = AtomicBool::new(false);

struct Counter {
    calls: AtomicU64,
    nanoseconds: AtomicU64,
}

static COUNTERS: [Counter; CALLS.len()] =
    [const { Counter { calls: AtomicU64::new(0), nanoseconds: AtomicU64::new(0) } }; CALLS.len()];

thread_local! {
    /// The place on the stack of this thread's call that is being measured; 0 if there is none.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Measures calls from now on. `ranks`: of the job.
pub(crate) fn measure(ranks: c_int) {
    about::known().tables.prepare(usize::try_from(ranks).unwrap_or(0));
    IS_ON.store(true, Relaxed);
}

/// Measures a call until dropped, unless it is made within another call: by the MPI, or by an error handler of the program.
#[must_use]
pub(crate) struct Spent {
    call: Option<Measured>,
}

struct Measured {
    call: usize,
    about: About,
    start: Instant,
}

/// Measures the call with this index in [`CALLS`]. Inlined, so that the place on the stack is the caller's.
#[inline(always)]
pub(crate) fn in_call(call: usize) -> Spent {
    if !IS_ON.load(Relaxed) {
        return Spent { call: None };
    }
    let (here, outer) = (stack::here(), INSIDE.get());
    if outer != 0 && stack::earlier(outer, here) == Earlier::Around {
        return Spent { call: None };
    }
    INSIDE.set(here);
    Spent { call: Some(Measured { call, about: About::Nothing, start: Instant::now() }) }
}

impl Spent {
    /// The call is about this communicator, and a message from or to this rank of it (`MPI_PROC_NULL` if about none).
    #[inline]
    pub(crate) fn with(mut self, comm: MPI_Comm, peer: c_int) -> Self {
        if let Some(measured) = &mut self.call {
            measured.about = About::with(comm, peer);
        }
        self
    }

    /// The call, which is about a communicator, starts the operation whose request it stores here.
    #[inline]
    pub(crate) fn starting(mut self, request: *mut MPI_Request) -> Self {
        if let Some(measured) = &mut self.call {
            measured.about.start(request);
        }
        self
    }

    /// The call waits for these requests, or asks for them.
    ///
    /// # Safety
    /// There must be so many requests there until this is dropped.
    #[inline]
    pub(crate) unsafe fn waiting(mut self, count: c_int, requests: *mut MPI_Request) -> Self {
        if let Some(measured) = &mut self.call {
            // SAFETY: the caller vouches for the requests.
            measured.about = unsafe { About::requests(count, requests) };
        }
        self
    }
}

impl Drop for Spent {
    #[inline]
    fn drop(&mut self) {
        if let Some(Measured { call, about, start }) = self.call.take() {
            INSIDE.set(0);
            if let Some(counter) = COUNTERS.get(call) {
                counter.calls.fetch_add(1, Relaxed);
                let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
                counter.nanoseconds.fetch_add(nanoseconds, Relaxed);
                about.charge(nanoseconds);
            }
        }
    }
}

/// For each of [`CALLS`], the number of calls; and for each, the nanoseconds in it.
pub(crate) fn counts() -> [Vec<u64>; 2] {
    let words = |of: fn(&Counter) -> &AtomicU64| {
        COUNTERS.iter().map(move |counter| of(counter).load(Relaxed)).collect()
    };
    [words(|counter| &counter.calls), words(|counter| &counter.nanoseconds)]
}

/// The nanoseconds with each rank of the job as peer, and the lines by communicator as words.
pub(crate) fn tables() -> (Vec<u64>, Vec<u64>) {
    let tables = &about::known().tables;
    (tables.peers().to_vec(), tables.words())
}
