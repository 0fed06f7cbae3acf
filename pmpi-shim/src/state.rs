//! The shared state of the shim.

use crate::collective::Private;
use crate::family::Family;
use crate::in_place::InPlace;
use crate::info::Strategies;
use crate::mpi::nested;
use crate::orphans::Orphans;
use crate::peers::World;
use crate::requests::Requests;
use crate::span::Kinds;
use crate::stash::{Matched, Stash};
use crate::sys::*;
use mpress::Engine;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};

/// Everything the handlers share. It lives from `MPI_Init` to the end of the process.
pub(crate) struct Shim {
    pub(crate) engine: Engine,
    pub(crate) world: World,
    pub(crate) strategies: Strategies,
    pub(crate) kinds: Kinds,
    /// A duplicate of `MPI_COMM_SELF`, for messages to ourselves. It returns errors.
    pub(crate) own_comm: MPI_Comm,
    /// Held while a message to ourselves is under way, so that two threads do not take each other's.
    pub(crate) own_turn: Mutex<()>,
    /// Held while the peers of a communicator are found out.
    pub(crate) peers_turn: Mutex<()>,
    /// 2^30 bytes as one datatype: counts are `int`, messages may be longer.
    pub(crate) gibibyte: MPI_Datatype,
    pub(crate) requests: Requests,
    pub(crate) stash: Stash,
    pub(crate) matched: Matched,
    pub(crate) in_place: Arc<InPlace>,
    pub(crate) orphans: Orphans,
    /// Over which collectives send messages of ours.
    pub(crate) private: Private,
    /// Shorter messages are not compressed.
    pub(crate) threshold: usize,
    /// Whether anything in collectives may be compressed.
    pub(crate) collectives: bool,
    /// Whether several threads may call the MPI at the same time.
    pub(crate) multiple: bool,
    pub(crate) family: Family,
    /// The error code of a damaged frame, of class `MPI_ERR_OTHER`.
    pub(crate) damaged: c_int,
}

// The state is shared by all threads of the program. Its MPI handles and addresses are plain values, to be used from
// any thread under the rules of the granted thread level; everything that changes sits behind a lock or is atomic.
static SHIM: AtomicPtr<Shim> = AtomicPtr::new(ptr::null_mut());

/// The shared state, if the shim is active.
#[inline]
pub(crate) fn shared() -> Option<&'static Shim> {
    // SAFETY: only `activate` stores here, a leaked box that is never freed.
    unsafe { SHIM.load(Ordering::Acquire).as_ref() }
}

/// The shared state, if this call is to be handled: the shim is active, and the call is the program's own.
#[inline]
pub(crate) fn active() -> Option<&'static Shim> {
    let shim = shared()?;
    if nested() {
        return None;
    }
    if !shim.orphans.is_empty() {
        shim.orphans.sweep(shim);
    }
    Some(shim)
}

/// Whether the shim compresses in this process: what `mpress-rsmpi` asks, so that nothing is compressed twice. Set once
/// `MPI_Init` is over.
#[unsafe(no_mangle)]
extern "C" fn mpress_shim_is_active() -> c_int {
    c_int::from(shared().is_some())
}

/// From now on calls are handled.
pub(crate) fn activate(shim: Shim) {
    SHIM.store(Box::into_raw(Box::new(shim)), Ordering::Release);
}

/// From now on every call is passed on.
pub(crate) fn deactivate() {
    SHIM.store(ptr::null_mut(), Ordering::Release);
}

/// An error code, and whether the MPI has called the error handler for it.
#[derive(Clone, Copy)]
pub(crate) struct Error {
    code: c_int,
    raised: bool,
}

impl From<c_int> for Error {
    /// An error that we found.
    fn from(code: c_int) -> Self {
        Self { code, raised: false }
    }
}

impl Error {
    /// The code, whoever has heard of it.
    pub(crate) fn code(self) -> c_int {
        self.code
    }
}

/// The outcome of a call of the MPI's, made with the program's own communicator.
pub(crate) fn called(code: c_int) -> Result<(), Error> {
    if code == SUCCESS { Ok(()) } else { Err(Error { code, raised: true }) }
}

/// Calls the error handler of `comm`, if there is one and the MPI has not, and gives the code: what MPI does with an error of its own.
pub(crate) fn raise(comm: MPI_Comm, error: impl Into<Error>) -> c_int {
    let error = error.into();
    if !error.raised && comm != COMM_NULL {
        // SAFETY: `comm` comes from the call that failed.
        unsafe { PMPI_Comm_call_errhandler(comm, error.code) };
    }
    error.code
}

/// A handle as a key: pointers in one MPI, integers in the other.
pub(crate) trait Handle: Copy {
    fn key(self) -> usize;
}

impl<T> Handle for *mut T {
    fn key(self) -> usize {
        self.addr()
    }
}

impl Handle for c_int {
    fn key(self) -> usize {
        // A bijection between the two; negative handles keep apart from each other.
        self as usize
    }
}
