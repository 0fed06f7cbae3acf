//! The time in calls by communicator and by peer.
//!
//! The time of a call counts for the communicator that it names, and for the peer if it names one: the destination of a send, the source of a
//! receive. The time of a call that waits for requests is divided equally among those that are known, and each part counts for the communicator and
//! peer of that request. Some MPIs give all operations that complete at once the same request; the last of them is known.

use crate::mpi::{arguments::Out, handle::Handle, sys::*};
use crate::operations::state::shared;
use mpress::report::{Subject, Tables};
use std::sync::Mutex;

pub(super) static TABLES: Mutex<Tables> = Mutex::new(Tables::new());

/// What a call is about.
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
    pub(super) fn charge(self, tables: &mut Tables, nanoseconds: u64) {
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
