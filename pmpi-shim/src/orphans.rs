//! Operations that go on without a request of the program's: buffered sends, and requests freed while under way.

use crate::context::Context;
use crate::requests::Active;
use crate::sys::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Operations without an owner. Every wrapped call looks after them.
#[derive(Default)]
pub(crate) struct Orphans {
    list: Mutex<Vec<Orphan>>,
    count: AtomicUsize,
    /// The thread that has taken the list out, to look after it; 0 if none has.
    sweeper: AtomicUsize,
}

struct Orphan {
    active: Active,
    awaited: Awaited,
}

/// What an operation must be complete for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Awaited {
    Never,
    /// `MPI_Finalize`.
    AtTheEnd,
    /// `MPI_Buffer_detach`, and `MPI_Finalize`.
    AtDetach,
}

impl Orphan {
    /// Whether this need not wait for it.
    fn may_stay(&self, what: Awaited) -> bool {
        self.awaited < what && !(what >= Awaited::AtTheEnd && self.active.is_bound())
    }
}

/// The list while a thread looks after it, without the lock: the MPI may call the program's error handlers, and these may do what
/// they like.
struct Swept<'a> {
    orphans: &'a Orphans,
    list: Vec<Orphan>,
}

impl Drop for Swept<'_> {
    fn drop(&mut self) {
        let mut list = self.orphans.list.lock().unwrap_or_else(PoisonError::into_inner);
        // What was adopted meanwhile is later.
        self.list.append(&mut list);
        *list = std::mem::take(&mut self.list);
        self.orphans.count.store(list.len(), Ordering::Release);
        self.orphans.sweeper.store(0, Ordering::Release);
    }
}

/// A number of this thread's own, not 0.
fn this_thread() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

impl Orphans {
    pub(crate) fn adopt(&self, active: Active, awaited: Awaited) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(Orphan { active, awaited });
        self.count.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Finishes those that have completed. Nobody is there to hear of an error.
    pub(crate) fn sweep(&self, context: &Context) {
        // Another thread, or the call during which the MPI called the program back, is at it already.
        if self.sweeper.compare_exchange(0, this_thread(), Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        let list = std::mem::take(&mut *self.list.lock().unwrap_or_else(PoisonError::into_inner));
        let mut swept = Swept { orphans: self, list };
        swept.list.retain_mut(|orphan| orphan.active.test(context, &mut empty_status()).is_none());
    }

    /// Starts what is held of them.
    pub(crate) fn start_held(&self) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter_mut().for_each(|orphan| orphan.active.start_held());
    }

    /// Waits for those that must complete for this.
    pub(crate) fn wait(&self, context: &Context, what: Awaited) {
        while !self.is_empty() {
            self.sweep(context);
            let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
            let sweeper = self.sweeper.load(Ordering::Acquire);
            // An error handler during a sweep cannot wait for it.
            if sweeper == this_thread() || (sweeper == 0 && list.iter().all(|orphan| orphan.may_stay(what))) {
                return;
            }
            drop(list);
            std::thread::yield_now();
        }
    }
}
