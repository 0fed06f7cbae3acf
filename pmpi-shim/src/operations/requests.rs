//! The table of pending operations: those of the program's requests, by its handles, and those that no longer belong to a request. `README.md`,
//! "operations", says how calls share it ([`InUse`]).

mod record;

pub(crate) use record::{InUse, Waits};

use crate::messages::context::Context;
use crate::mpi::{handle::Handle, handle::HandleMap, stack, stack::Place, sys::*};
use crate::operations::{active::Active, active::Template};
use record::{IN_USE_HERE, Record};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// What the table has for a request that a call asks for.
pub(crate) enum Found {
    /// Its record, from now on in use by that call.
    Record(InUse),
    /// A persistent request that another call works on, and may complete: nothing can be said of it now.
    AtWork,
    /// No record that concerns the call.
    Nothing,
}

/// The table.
#[derive(Default)]
pub(crate) struct Requests {
    all: Mutex<All>,
    /// Number of records with a request.
    count: AtomicUsize,
    /// Number of operations without one.
    detached: AtomicUsize,
}

#[derive(Default)]
struct All {
    /// By the program's handle.
    records: HandleMap<Arc<Record>>,
    /// Those of them that make progress only if they are advanced. They are few, while there may be thousands of receives.
    moving: HandleMap<()>,
    /// Requests that were freed while pending, and the sends of `MPI_Isendrecv`, for which `MPI_Finalize` waits.
    detached: VecDeque<(Arc<Record>, bool)>,
}

impl Requests {
    fn lock(&self) -> MutexGuard<'_, All> {
        crate::locked(&self.all)
    }

    fn change<R>(&self, change: impl FnOnce(&mut All) -> R) -> R {
        let mut all = self.lock();
        let result = change(&mut all);
        self.tell(&all);
        result
    }

    /// Stores what is asked for without the lock.
    fn tell(&self, all: &All) {
        self.count.store(all.records.len(), Ordering::Release);
        self.detached.store(all.detached.len(), Ordering::Release);
    }

    /// Whether there are none. A record that another thread adds at the same time cannot concern this call.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of records with a request.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Keeps an operation if there is work on completion, and returns the handle for the program.
    pub(crate) fn hand_out(&self, active: Active) -> MPI_Request {
        let handle = active.operation.request;
        if !active.is_plain() {
            self.put(handle, Some(active), None);
        }
        handle
    }

    pub(crate) fn put(&self, handle: MPI_Request, active: Option<Active>, template: Option<Template>) {
        let record = Record::new(Some(handle.key()), active, template);
        let former = self.change(|All { records, moving, .. }| {
            set(moving, handle.key(), record.moves.load(Ordering::Relaxed));
            records.insert(handle.key(), record)
        });
        former.inspect(end_former);
    }

    /// The MPI has made a request with this handle. If a call works on a record with this handle, or was left by a jump, the request of that record
    /// is over.
    #[inline]
    pub(crate) fn forget(&self, handle: MPI_Request) {
        if self.is_empty() {
            return;
        }
        let mut all = self.lock();
        if all.records.get(&handle.key()).is_some_and(|record| !record.is_free()) {
            all.moving.remove(&handle.key());
            let former = all.records.remove(&handle.key());
            self.tell(&all);
            drop(all);
            former.inspect(end_former);
        }
    }

    /// A call begins. Notices if an earlier one of this thread was left by a jump: the receives of that one are over, but still have claims on
    /// memory.
    #[inline]
    pub(crate) fn begin_call(&self, context: &Context) {
        if IN_USE_HERE.get() > 0 && self.notice_jumps(stack::here()) {
            context.receive_memory.distrust();
        }
    }

    #[cold]
    fn notice_jumps(&self, here: Place) -> bool {
        let all = self.lock();
        let detached = all.detached.iter().map(|(record, _)| record);
        let ours = all.records.values().chain(detached).filter(|record| record.is_ours());
        let (left, used): (Vec<_>, Vec<_>) = ours.partition(|record| record.leave_if_over(here));
        let has_left_a_wait = Waits::end_if_over(here);
        IN_USE_HERE.set(used.len() + usize::from(Waits::are_any()));
        has_left_a_wait || !left.is_empty()
    }

    /// The record of a request, for a call that works on it, and may complete it if it `completes`. Waits for a call of another thread that works on
    /// it and is not in the MPI, unless that cannot end before this one.
    pub(crate) fn use_one(&self, handle: MPI_Request, completes: bool) -> Found {
        if self.is_empty() { Found::Nothing } else { self.use_each(completes)(handle) }
    }

    /// The same for the requests of one call in turn. The table is locked until the result is dropped: to other threads, a record that is given back
    /// before was never in use.
    pub(crate) fn use_each(&self, completes: bool) -> impl FnMut(MPI_Request) -> Found {
        let mut locked = None;
        move |handle| loop {
            let all = locked.get_or_insert_with(|| self.lock());
            let Some(record) = all.records.get(&handle.key()) else { return Found::Nothing };
            if let Some(used) = record.use_for(completes) {
                return Found::Record(used);
            }
            if record.is_ours() || !(completes || record.is_looked_at()) {
                let is_kept = !completes && record.template.is_some() && !record.is_of_outer_call();
                return if is_kept { Found::AtWork } else { Found::Nothing };
            }
            locked = None;
            std::thread::yield_now();
        }
    }

    /// Ends a call that has used these records. One that has neither an operation nor a template is removed; its handle becomes null. Where nothing
    /// changes, as in most calls of a program that polls, the table is not locked.
    pub(crate) fn end_use<'a>(&self, used: impl Iterator<Item = (&'a mut MPI_Request, InUse)>) {
        let mut locked = None;
        for (handle, mut record) in used {
            let moves = record.active().is_some_and(|active| active.is_moving());
            let is_over = record.slot().is_none() && record.template().is_none();
            let has_changed = is_over || moves != record.record.moves.load(Ordering::Relaxed);
            // The MPI may have set the handle to null.
            if let Some(key) = record.record.key.filter(|_| has_changed) {
                let All { records, moving, .. } = &mut **locked.get_or_insert_with(|| self.lock());
                record.record.moves.store(moves, Ordering::Relaxed);
                // Unless another request has this handle by now.
                if records.get(&key).is_some_and(|known| Arc::ptr_eq(known, &record.record)) {
                    set(moving, key, moves);
                    if is_over {
                        records.remove(&key);
                    }
                }
            }
            if is_over {
                *handle = REQUEST_NULL;
            }
        }
        if let Some(all) = locked {
            self.tell(&all);
        }
    }

    /// Removes the record of a request that the program frees; `None` also if a call works on it, which then ends it.
    pub(crate) fn remove(&self, handle: MPI_Request) -> Option<InUse> {
        if self.is_empty() {
            return None;
        }
        self.change(|All { records, moving, .. }| {
            moving.remove(&handle.key());
            records.remove(&handle.key())?.use_for(true)
        })
    }

    /// The MPI's request of a record, also while a call of another thread works on it.
    pub(crate) fn inner(&self, handle: MPI_Request) -> Option<MPI_Request> {
        let all = self.lock();
        all.records
            .get(&handle.key())
            // SAFETY: the key of the MPI's request.
            .map(|record| unsafe { MPI_Request::from_key(record.inner.load(Ordering::Acquire)) })
    }

    /// Applies `work` to every operation with a request that no call works on.
    pub(crate) fn each(&self, work: impl FnMut(&mut Active)) {
        if !self.is_empty() {
            let keys: Vec<_> = self.lock().records.keys().copied().collect();
            self.work_on(&keys, work);
        }
    }

    /// The same for operations that make progress only if they are advanced.
    pub(crate) fn each_moving(&self, work: impl FnMut(&mut Active)) {
        if !self.is_empty() {
            let keys: Vec<_> = self.lock().moving.keys().copied().collect();
            self.work_on(&keys, work);
        }
    }

    fn work_on(&self, keys: &[usize], mut work: impl FnMut(&mut Active)) {
        for &key in keys {
            let Some(mut record) = self.free(key) else { continue };
            record.active().map(&mut work);
            // SAFETY: the key of a request in the table.
            let mut handle = unsafe { MPI_Request::from_key(key) };
            self.end_use(std::iter::once((&mut handle, record)));
        }
    }

    /// A record that no call works on or has left by a jump.
    fn free(&self, key: usize) -> Option<InUse> {
        let all = self.lock();
        all.records.get(&key).filter(|record| record.is_free())?.use_for(true)
    }

    /// Adds an operation without a request. `awaited`: `MPI_Finalize` waits for it.
    pub(crate) fn detach(&self, active: Active, awaited: bool) {
        let record = Record::new(None, Some(active), None);
        self.change(|all| all.detached.push_back((record, awaited)));
    }

    /// Whether there are operations without a request.
    #[inline]
    pub(crate) fn has_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire) > 0
    }

    /// Tests operations without a request, at most this number, in turn, and finishes those that have completed. Their errors are not reported.
    pub(crate) fn sweep(&self, context: &Context, at_most: usize) {
        let free =
            |(record, _): &(Arc<Record>, _)| record.is_unused().then(|| record.use_for(true)).flatten();
        let mut tested: Vec<_> = {
            let detached = &mut self.lock().detached;
            let count = detached.len().min(at_most);
            // The others go first in the next call.
            detached.rotate_left(count);
            detached.iter().rev().take(count).filter_map(free).collect()
        };
        let mut over = Vec::new();
        for used in &mut tested {
            // There is none if an error handler left an earlier call by a jump.
            if used.active().is_none_or(|active| active.test(context, &mut empty_status()).is_some()) {
                *used.slot() = None;
                over.push(Arc::clone(&used.record));
            }
        }
        drop(tested);
        if over.is_empty() {
            return;
        }
        self.change(|All { detached, .. }| {
            for record in over {
                // Those that have been tested are the last.
                if let Some(at) = detached.iter().rposition(|(known, _)| Arc::ptr_eq(known, &record)) {
                    detached.remove(at);
                }
            }
        });
    }

    /// Waits for the operations without a request that must complete before `MPI_Finalize` does.
    pub(crate) fn wait(&self, context: &Context) {
        while self.has_detached() {
            self.sweep(context, usize::MAX);
            let is_awaited = |(record, awaited): &(Arc<Record>, bool)| {
                let is_bound = || {
                    // SAFETY: no call works on it, and none begins to while the table is locked.
                    let active = || unsafe { (*record.active.get()).as_ref() };
                    record.is_unused() && active().is_some_and(Active::is_bound)
                };
                // What this thread tests in another call, in which an error handler was called, cannot end before this one.
                !record.is_ours() && (*awaited || is_bound())
            };
            if !self.lock().detached.iter().any(is_awaited) {
                return;
            }
            std::thread::yield_now();
        }
    }
}

fn set(moving: &mut HandleMap<()>, key: usize, is_moving: bool) {
    if is_moving {
        moving.insert(key, ());
    } else {
        moving.remove(&key);
    }
}

/// Another request has the handle of this record: the MPI has freed its own. A call that works on the record ends it; one that was left by a jump
/// cannot.
fn end_former(record: &Arc<Record>) {
    if record.was_left() {
        // The MPI may still access our memory, which is not freed. The claim on the program's memory ends.
        if let Some(active) = record.use_for(true).and_then(|mut used| used.slot().take()) {
            active.leave();
        }
    }
}
