//! Operations that go on without a request of the program's: buffered sends, and requests freed while under way.

use crate::requests::Active;
use crate::state::Shim;
use crate::sys::*;
use crate::table::open;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Operations without an owner. Every wrapped call looks after them.
#[derive(Default)]
pub(crate) struct Orphans {
    list: Mutex<Vec<Orphan>>,
    count: AtomicUsize,
}

struct Orphan {
    active: Active,
    /// It must complete before the program may go on to detach its buffer or to finalize.
    awaited: bool,
}

impl Orphans {
    pub(crate) fn adopt(&self, active: Active, awaited: bool) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(Orphan { active, awaited });
        self.count.store(list.len(), Ordering::Release);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Finishes those that have completed. Nobody is there to hear of an error.
    pub(crate) fn sweep(&self, shim: &Shim) {
        // Another thread, or the call during which the MPI called the program back, is at it already.
        let Ok(mut list) = self.list.try_lock() else { return };
        list.retain_mut(|orphan| {
            let (mut flag, mut status) = (0, empty_status());
            // SAFETY: a request of ours and places for the answers; it has completed when `settle` is called.
            unsafe {
                let code = open::MPI_Test(&raw mut orphan.active.inner, &raw mut flag, &raw mut status);
                let pending = code == SUCCESS && flag == 0;
                if !pending {
                    let _ = orphan.active.settle(shim, code, &mut status);
                }
                pending
            }
        });
        self.count.store(list.len(), Ordering::Release);
    }

    /// Waits for those that must complete.
    pub(crate) fn wait(&self, shim: &Shim) {
        while !self.is_empty() {
            self.sweep(shim);
            let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
            if !list.iter().any(|orphan| orphan.awaited) {
                return;
            }
            drop(list);
            std::thread::yield_now();
        }
    }
}

/// Buffer_detach returns when all buffered messages have been sent.
pub(crate) unsafe fn before_detach(shim: &Shim, pass: impl Fn() -> c_int) -> c_int {
    shim.orphans.wait(shim);
    pass()
}
