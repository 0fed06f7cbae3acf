//! Measures how long the program spends in wrapped calls, for the report: by call, by communicator and by
//! peer.

mod about;

pub(crate) use about::About;

use crate::mpi::stack::{self, Earlier};
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

// `CALLS`: the names of the wrapped calls, without large-count forms.
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

/// A call that is measured until this is dropped.
pub(crate) struct Measured {
    call: usize,
    about: About,
    start: Instant,
}

/// Measures the call with this index in [`CALLS`], which is `about` this, unless it is made within another
/// call: by the MPI, or by an error handler of the program. Inlined, so that the place on the stack is the
/// caller's.
#[inline(always)]
#[must_use]
pub(crate) fn in_call(call: usize, about: impl FnOnce() -> About) -> Option<Measured> {
    if !IS_ON.load(Relaxed) {
        return None;
    }
    let (here, outer) = (stack::here(), INSIDE.get());
    if outer != 0 && stack::earlier(outer, here) == Earlier::Around {
        return None;
    }
    INSIDE.set(here);
    let start = Instant::now();
    Some(Measured { call, about: about(), start })
}

impl Drop for Measured {
    fn drop(&mut self) {
        INSIDE.set(0);
        if let Some(counter) = COUNTERS.get(self.call) {
            counter.calls.fetch_add(1, Relaxed);
            let nanoseconds = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            counter.nanoseconds.fetch_add(nanoseconds, Relaxed);
            std::mem::replace(&mut self.about, About::Nothing).charge(nanoseconds);
        }
    }
}

/// The number of calls for each of [`CALLS`], and the nanoseconds spent in them.
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
