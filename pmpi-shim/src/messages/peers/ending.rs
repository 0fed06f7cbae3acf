//! Communicators that are being freed. A delete callback of the program may still use one, before or after the callback of our attribute, and an
//! attribute that is set meanwhile is never deleted. So the peers are kept here until the call returns.

use super::Peers;
use crate::mpi::{handle::Handle, sys::*};
use std::{cell::RefCell, mem::ManuallyDrop, sync::Arc};

/// A communicator that is being freed.
struct Ending {
    comm: usize,
    /// The keys of our attributes, and the peers.
    kept: Vec<(c_int, Arc<Peers>)>,
}

thread_local! {
    /// What this thread frees: a delete callback may free another communicator. Never dropped, since a program may free communicators and end MPI
    /// when it exits, after the destructors of its threads' variables.
    static ENDING: ManuallyDrop<RefCell<Vec<Ending>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Takes what is kept for a communicator.
fn take(comm: usize) -> Vec<Ending> {
    ENDING.with(|all| all.borrow_mut().extract_if(.., |ending| ending.comm == comm).collect())
}

/// A call that frees a communicator. It ends when this is dropped, even if an error handler of the program throws.
pub(crate) struct Freeing {
    comm: usize,
}

impl Freeing {
    pub(crate) fn new(comm: MPI_Comm) -> Self {
        let comm = comm.key();
        // There may be something if the program jumped out of an earlier attempt.
        drop(take(comm));
        ENDING.with(|all| all.borrow_mut().push(Ending { comm, kept: Vec::new() }));
        Self { comm }
    }

    /// Ends it; returns whether the communicator had peers.
    pub(crate) fn end(self) -> bool {
        take(self.comm).iter().any(|ending| !ending.kept.is_empty())
    }
}

impl Drop for Freeing {
    fn drop(&mut self) {
        drop(take(self.comm));
    }
}

/// Keeps the peers of a communicator if this thread is freeing it; returns whether it is. From then on no other thread may look for its messages.
pub(super) fn keep(keyval: c_int, comm: MPI_Comm, peers: &Arc<Peers>) -> bool {
    ENDING.with(|all| {
        let mut all = all.borrow_mut();
        let Some(ending) = all.iter_mut().find(|ending| ending.comm == comm.key()) else { return false };
        peers.end();
        ending.kept.push((keyval, Arc::clone(peers)));
        true
    })
}

/// The peers of a communicator that this thread is freeing.
pub(super) fn kept(keyval: c_int, comm: MPI_Comm) -> Option<Arc<Peers>> {
    ENDING.with(|all| {
        let all = all.borrow();
        let kept = &all.iter().find(|ending| ending.comm == comm.key())?.kept;
        kept.iter().find(|(key, _)| *key == keyval).map(|(_, peers)| Arc::clone(peers))
    })
}
