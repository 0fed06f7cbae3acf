//! Measures how long the program spends in wrapped calls, for the report: by call, by communicator and by peer.

use crate::mpi::{arguments::Out, handle::Handle, stack, stack::Earlier, sys::*};
use crate::operations::state::shared;
use mpress::report::{Subject, Tables};
use std::{
    cell::Cell, sync::Mutex, sync::MutexGuard, sync::atomic::AtomicBool, sync::atomic::Ordering::Relaxed,
    time::Instant,
};

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
    crate::locked(&TABLES)
}

static TABLES: Mutex<Tables> = Mutex::new(Tables::new());

/// What a call is about: its time counts for the communicator that it names, and for the peer if it names one, the destination of a send, the source
/// of a receive. The time of a call that waits for requests is divided equally among those that are known, and each part counts for the communicator
/// and peer of that request. Some MPIs give all operations that complete at once the same request; the last of them is known.
pub(crate) enum About {
    Nothing,
    Message(Subject),
    /// The request is stored here.
    Start(Subject, Out<MPI_Request>),
    /// For each request its key at the beginning of the call, and where the call stores the handle.
    Requests(Vec<(usize, Out<MPI_Request>)>),
}

impl About {
    /// This communicator, and a message from or to this rank of it (`MPI_PROC_NULL` if none).
    #[inline]
    pub(crate) fn with(comm: MPI_Comm, peer: c_int) -> Self {
        let Some(peers) = shared().and_then(|shim| shim.all_peers(comm)) else { return Self::Nothing };
        let line = *peers.line.get_or_init(|| {
            // SAFETY: the caller's communicator, and room for the longest name.
            let name = written(|name, len| unsafe { PMPI_Comm_get_name(comm, name, len) });
            crate::locked(&TABLES).line(&name.unwrap_or_default(), peers.size().unsigned_abs() as usize)
        });
        Self::Message(Subject { line, peer: usize::try_from(peers.world_rank(peer)).ok() })
    }

    /// The same, and the call starts the operation whose request it stores here. With `MPI_PROC_NULL` there is nothing to wait for.
    #[inline]
    pub(crate) fn starting(comm: MPI_Comm, peer: c_int, request: Out<MPI_Request>) -> Self {
        match Self::with(comm, peer) {
            Self::Message(subject) if !request.ptr().is_null() && peer != PROC_NULL => {
                Self::Start(subject, request)
            }
            other => other,
        }
    }

    /// The requests that the call waits for, or asks for.
    ///
    /// # Safety
    /// There must be `count` requests there, now and when [`charge`](Self::charge) is called.
    #[inline]
    pub(crate) unsafe fn requests(count: c_int, requests: *mut MPI_Request) -> Self {
        let count = if requests.is_null() { 0 } else { usize::try_from(count).unwrap_or(0) };
        // SAFETY: the caller vouches for the requests.
        let each = (0..count).map(|at| unsafe { Out::new(requests.add(at)) });
        let given = each.map(|place| (place.get().key(), place));
        Self::Requests(given.filter(|(key, _)| *key != REQUEST_NULL.key()).collect())
    }

    /// Adds the time of the call.
    fn charge(self, tables: &mut Tables, nanoseconds: u64) {
        match self {
            Self::Nothing => {}
            Self::Message(subject) => tables.charge(subject, 1, nanoseconds),
            Self::Start(subject, request) => {
                tables.charge(subject, 1, nanoseconds);
                // A call that failed may have stored nothing; what was there before harms nothing as a key.
                tables.started(subject, request.get().key());
            }
            Self::Requests(given) => {
                let each = given.into_iter().map(|(key, place)| (key, place.get() == REQUEST_NULL));
                tables.waited(each, nanoseconds);
            }
        }
    }
}
