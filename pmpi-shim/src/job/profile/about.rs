//! The time in calls by communicator and by peer.
//!
//! The time of a call counts for the communicator that it names, and for the peer if it names one: the
//! destination of a send, the source of a receive. The time of a call that waits for requests is divided
//! equally among those that are known, and each part counts for the communicator and peer of that request.
//! Some MPIs give all operations that complete at once the same request; the last of them is known.

use crate::mpi::handle::Handle;
use crate::mpi::sys::*;
use crate::operations::state::shared;
use mpress::report::{Subject, Tables};
use std::ffi::c_int;
use std::sync::Mutex;

pub(super) static TABLES: Mutex<Tables> = Mutex::new(Tables::new());

/// What a call is about.
pub(crate) enum About {
    Nothing,
    Message(Subject),
    /// The request is stored here.
    Start(Subject, *mut MPI_Request),
    /// For each request its key at the beginning of the call, and where the call stores the handle.
    Requests(Vec<(usize, *mut MPI_Request)>),
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

    /// The same, and the call starts the operation whose request it stores here. With `MPI_PROC_NULL` there is
    /// nothing to wait for.
    ///
    /// # Safety
    /// There must be room for a request, now and when [`charge`](Self::charge) is called, or null.
    #[inline]
    pub(crate) unsafe fn starting(comm: MPI_Comm, peer: c_int, request: *mut MPI_Request) -> Self {
        match Self::with(comm, peer) {
            Self::Message(subject) if !request.is_null() && peer != PROC_NULL => {
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
        let each = (0..count).map(|at| unsafe { requests.add(at) });
        // SAFETY: as above.
        let given = each.map(|place| (unsafe { place.read() }.key(), place));
        Self::Requests(given.filter(|(key, _)| *key != REQUEST_NULL.key()).collect())
    }

    /// Adds the time of the call.
    pub(super) fn charge(self, tables: &mut Tables, nanoseconds: u64) {
        match self {
            Self::Nothing => {}
            Self::Message(subject) => tables.charge(subject, 1, nanoseconds),
            Self::Start(subject, request) => {
                tables.charge(subject, 1, nanoseconds);
                // SAFETY: the caller of `starting` vouches for it. A call that failed may have stored
                // nothing; what was there before harms nothing as a key.
                tables.started(subject, unsafe { request.read() }.key());
            }
            Self::Requests(given) => {
                // SAFETY: the caller of `requests` vouches for them.
                let is_complete = |place: *mut MPI_Request| unsafe { place.read() } == REQUEST_NULL;
                let each = given.into_iter().map(|(key, place)| (key, is_complete(place)));
                tables.waited(each, nanoseconds);
            }
        }
    }
}
