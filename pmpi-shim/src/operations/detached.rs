//! Pending operations without a request of the program: buffered sends, and requests freed while pending.

use crate::messages::context::Context;
use crate::mpi::sys::*;
use crate::operations::requests::Active;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The list of such operations. Every wrapped call advances them.
#[derive(Default)]
pub(crate) struct Detached {
    list: Mutex<Vec<Pending>>,
    count: AtomicUsize,
    /// The thread that has taken the list out to advance it; 0 if none.
    sweeper: AtomicUsize,
}

struct Pending {
    active: Active,
    awaited: Awaited,
}

/// The event before which an operation must complete.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Awaited {
    Never,
    /// `MPI_Finalize`.
    AtTheEnd,
    /// `MPI_Buffer_detach`, and `MPI_Finalize`.
    AtDetach,
}

impl Pending {
    /// Whether the operation need not complete before `what`.
    fn may_stay(&self, what: Awaited) -> bool {
        self.awaited < what && !(what >= Awaited::AtTheEnd && self.active.is_bound())
    }
}

/// The list while a thread advances it, without the lock: the MPI may call the program's error handlers, which may make any calls.
struct Swept<'a> {
    detached: &'a Detached,
    list: Vec<Pending>,
}

impl Drop for Swept<'_> {
    fn drop(&mut self) {
        let mut list = self.detached.list.lock().unwrap_or_else(PoisonError::into_inner);
        // Operations adopted meanwhile come after the others.
        self.list.append(&mut list);
        *list = std::mem::take(&mut self.list);
        self.detached.count.store(list.len(), Ordering::Release);
        self.detached.sweeper.store(0, Ordering::Release);
    }
}

/// A number unique to this thread, not 0.
fn this_thread() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

impl Detached {
    pub(crate) fn adopt(&self, active: Active, awaited: Awaited) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(Pending { active, awaited });
        self.count.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Finishes those that have completed. Their errors are not reported.
    pub(crate) fn sweep(&self, context: &Context) {
        // Another thread is doing this, or the call during which the MPI called the program back.
        if self.sweeper.compare_exchange(0, this_thread(), Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        let list = std::mem::take(&mut *self.list.lock().unwrap_or_else(PoisonError::into_inner));
        let mut swept = Swept { detached: self, list };
        swept.list.retain_mut(|operation| operation.active.test(context, &mut empty_status()).is_none());
    }

    /// Waits for those that must complete before `what`.
    pub(crate) fn wait(&self, context: &Context, what: Awaited) {
        while !self.is_empty() {
            self.sweep(context);
            let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
            let sweeper = self.sweeper.load(Ordering::Acquire);
            // An error handler called during a sweep cannot wait for that sweep.
            if sweeper == this_thread()
                || (sweeper == 0 && list.iter().all(|operation| operation.may_stay(what)))
            {
                return;
            }
            drop(list);
            std::thread::yield_now();
        }
    }
}
