//! Measures how long the program spends in wrapped calls, for the report: by call, by communicator and by peer.

mod about;

pub(crate) use about::About;

use crate::mpi::stack::{self, Earlier};
use mpress::report::Tables;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{cell::Cell, ffi::c_int, sync::MutexGuard, time::Instant};

// `CALLS`: the names of the wrapped calls, without large-count forms.
include!(concat!(env!("OUT_DIR"), "/names.rs"));

static IS_ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The place on the stack of this thread's call that is being measured; 0 if there is none.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Measures calls from now on. `ranks`: of the job.
pub(crate) fn measure(ranks: c_int) {
    tables().prepare(CALLS.len(), usize::try_from(ranks).unwrap_or(0));
    IS_ON.store(true, Relaxed);
}

/// A call that is measured until this is dropped.
pub(crate) struct Measured {
    call: usize,
    about: About,
    start: Instant,
}

/// Measures the call with this index in [`CALLS`], which is `about` this, unless it is made within another call: by the MPI, or by an error handler
/// of the program. Inlined, so that the place on the stack is the caller's.
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
        let nanoseconds = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut tables = tables();
        tables.called(self.call, nanoseconds);
        std::mem::replace(&mut self.about, About::Nothing).charge(&mut tables, nanoseconds);
    }
}

/// What has been measured so far.
pub(crate) fn tables() -> MutexGuard<'static, Tables> {
    crate::locked(&about::TABLES)
}
