//! Communicators that are being freed. A delete callback of the program may still use one, before or after the callback of our attribute, and an
//! attribute that is set meanwhile is never deleted. So the peers are kept here until the call returns.

use crate::handle::Handle;
use crate::peers::Peers;
use crate::state;
use crate::sys::*;
use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::Arc;

/// A communicator that is being freed.
struct Ending {
    comm: usize,
    /// The keys of our attributes, and the peers.
    kept: Vec<(c_int, Arc<Peers>)>,
}

thread_local! {
    /// What this thread frees: a delete callback may free another communicator.
    static ENDING: RefCell<Vec<Ending>> = const { RefCell::new(Vec::new()) };
}

/// An entry, which ends with the call even if an error handler of the program throws.
struct Entry {
    depth: usize,
}

impl Entry {
    fn new(comm: MPI_Comm) -> Self {
        ENDING.with_borrow_mut(|all| {
            all.push(Ending { comm: comm.key(), kept: Vec::new() });
            Self { depth: all.len() - 1 }
        })
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let ended = ENDING.with_borrow_mut(|all| all.split_off(self.depth));
        if let Some(shim) = state::shared()
            && ended.iter().any(|ending| !ending.kept.is_empty())
        {
            shim.stash.forget_ended(shim, &shim.orphans);
        }
    }
}

/// Passes a call that frees a communicator.
///
/// # Safety
/// `comm` must be the argument of that call: null, or valid.
pub(crate) unsafe fn ending(comm: *mut MPI_Comm, pass: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the caller vouches for the argument.
    let _entry = unsafe { comm.as_ref() }.map(|comm| Entry::new(*comm));
    pass()
}

/// Keeps the peers of a communicator if this thread is freeing it; returns whether it is. From then on no other thread may look for its messages.
pub(crate) fn keep(keyval: c_int, comm: MPI_Comm, peers: &Arc<Peers>) -> bool {
    ENDING.with_borrow_mut(|all| {
        let Some(ending) = all.iter_mut().find(|ending| ending.comm == comm.key()) else { return false };
        peers.end();
        ending.kept.push((keyval, Arc::clone(peers)));
        true
    })
}

/// The peers of a communicator that this thread is freeing.
pub(crate) fn kept(keyval: c_int, comm: MPI_Comm) -> Option<Arc<Peers>> {
    ENDING.with_borrow(|all| {
        let kept = &all.iter().find(|ending| ending.comm == comm.key())?.kept;
        kept.iter().find(|(key, _)| *key == keyval).map(|(_, peers)| Arc::clone(peers))
    })
}
