//! The table of pending operations: those of the program's requests, by its handles, and those that no longer belong to a request.
//!
//! A record is in the table for as long as it lives. A call that works on one marks it as in use ([`InUse`]), and others leave it alone. So nothing is
//! lost if an error handler of the program leaves the call by a jump: such a mark is recognised by its place on the stack, above which that call was.
//! No lock is held while the MPI is called.

use crate::messages::context::Context;
use crate::mpi::handle::{Handle, HandleMap};
use crate::mpi::sys::*;
use crate::operations::active::{Active, Finish};
use crate::operations::few::Few;
use crate::operations::persistent::Template;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An operation, or a persistent request, which may have one.
pub(crate) struct Record {
    /// Accessed only by the call that has marked the record.
    active: UnsafeCell<Option<Active>>,
    template: Option<Template>,
    /// The MPI's request as a key, which another thread may cancel.
    inner: AtomicUsize,
    /// The thread that uses it, 0 if none does, and the place of its call on the stack.
    thread: AtomicUsize,
    place: AtomicUsize,
}

/// A number unique to this thread, not 0.
fn this_thread() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

impl Record {
    fn new(active: Option<Active>, template: Option<Template>) -> Arc<Self> {
        let inner = AtomicUsize::new(key_of(active.as_ref()));
        let (thread, place) = (AtomicUsize::new(0), AtomicUsize::new(0));
        #[allow(clippy::arc_with_non_send_sync, reason = "handles are plain values, see `state`")]
        Arc::new(Self { active: UnsafeCell::new(active), template, inner, thread, place })
    }

    /// Whether a call works on it. A mark of this thread below this place on the stack is of a call that was left by a jump.
    fn is_in_use(&self) -> bool {
        let here = 0_u8;
        match self.thread.load(Ordering::Acquire) {
            0 => false,
            user => user != this_thread() || self.place.load(Ordering::Relaxed) > (&raw const here).addr(),
        }
    }

    /// Marks it for a call for the request of its handle. `None` if a call of another thread works on it: no two may work on one request (MPI 4.0, section
    /// 11.6.2), so that call has just completed it, and the MPI has given the handle to another request.
    fn of_this_thread(self: &Arc<Self>) -> Option<InUse> {
        let user = self.thread.load(Ordering::Acquire);
        (user == 0 || user == this_thread()).then(|| self.mark())
    }

    fn mark(self: &Arc<Self>) -> InUse {
        let here = 0_u8;
        self.place.store((&raw const here).addr(), Ordering::Relaxed);
        self.thread.store(this_thread(), Ordering::Release);
        InUse(Arc::clone(self))
    }
}

/// The key of the MPI's request of an operation.
fn key_of(active: Option<&Active>) -> usize {
    active.map_or(REQUEST_NULL, |active| active.operation.request).key()
}

/// A record that a call works on, until dropped.
pub(crate) struct InUse(Arc<Record>);

impl InUse {
    pub(crate) fn active(&mut self) -> Option<&mut Active> {
        self.slot().as_mut()
    }

    /// The place of the operation.
    pub(crate) fn slot(&mut self) -> &mut Option<Active> {
        // SAFETY: only the call that has marked a record accesses this.
        unsafe { &mut *self.0.active.get() }
    }

    pub(crate) fn template(&self) -> Option<&Template> {
        self.0.template.as_ref()
    }

    /// The MPI's request; null if there is no operation.
    pub(crate) fn inner(&mut self) -> MPI_Request {
        self.active().map_or(REQUEST_NULL, |active| active.operation.request)
    }

    /// Advances the operation; returns whether its request may be passed to the MPI for completion.
    pub(crate) fn advance(&mut self, context: &Context) -> bool {
        let is_ready = self.active().is_none_or(|active| active.advance(context));
        self.tell_inner();
        is_ready
    }

    fn tell_inner(&mut self) {
        let key = key_of(self.active().as_deref());
        self.0.inner.store(key, Ordering::Release);
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.tell_inner();
        self.0.thread.store(0, Ordering::Release);
    }
}

/// The event before which an operation without a request must complete.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Awaited {
    Never,
    /// `MPI_Finalize`.
    AtTheEnd,
    /// `MPI_Buffer_detach`, and `MPI_Finalize`.
    AtDetach,
}

/// The table.
#[derive(Default)]
pub(crate) struct Requests {
    all: Mutex<All>,
    /// Numbers of records with and without a request.
    count: AtomicUsize,
    detached: AtomicUsize,
}

#[derive(Default)]
struct All {
    /// By the program's handle.
    records: HandleMap<Arc<Record>>,
    /// Which of them may make progress only if they are advanced: there are few, but may be thousands of receives.
    moving: HandleMap<()>,
    /// Buffered sends, and requests that were freed while pending.
    detached: Vec<(Arc<Record>, Awaited)>,
}

impl Requests {
    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<R>(&self, change: impl FnOnce(&mut All) -> R) -> R {
        let mut all = self.lock();
        let result = change(&mut all);
        self.count.store(all.records.len(), Ordering::Release);
        self.detached.store(all.detached.len(), Ordering::Release);
        result
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
        if !matches!(active.finish, Finish::Nothing) {
            self.put(handle, Some(active), None);
        }
        handle
    }

    /// Adds a record. The MPI may have reused the handle of a request that a call of another thread has just completed.
    pub(crate) fn put(&self, handle: MPI_Request, active: Option<Active>, template: Option<Template>) {
        let is_moving = active.as_ref().is_some_and(Active::is_moving);
        let record = Record::new(active, template);
        self.change(|All { records, moving, .. }| {
            records.insert(handle.key(), record);
            set(moving, handle.key(), is_moving);
        });
    }

    /// The record of a request, for a call that works on it.
    pub(crate) fn use_one(&self, handle: MPI_Request) -> Option<InUse> {
        if self.is_empty() { None } else { self.lock().records.get(&handle.key())?.of_this_thread() }
    }

    /// The records of several requests; `None` if none of them has one.
    pub(crate) fn use_all(&self, handles: &[MPI_Request]) -> Option<Few<Option<InUse>>> {
        if self.is_empty() {
            return None;
        }
        let all = self.lock();
        let found = Few::of(handles, |handle| all.records.get(&handle.key())?.of_this_thread());
        drop(all);
        found.iter().any(Option::is_some).then_some(found)
    }

    /// Ends a call that has used these records. One that has neither an operation nor a template is removed; its handle becomes null.
    pub(crate) fn end_use<'a>(&self, used: impl Iterator<Item = (&'a mut MPI_Request, InUse)>) {
        self.change(|All { records, moving, .. }| {
            for (handle, mut record) in used {
                let key = handle.key();
                let is_here = records.get(&key).is_some_and(|known| Arc::ptr_eq(known, &record.0));
                let is_moving = record.active().is_some_and(|active| active.is_moving());
                if is_here {
                    set(moving, key, is_moving);
                }
                if record.slot().is_none() && record.template().is_none() {
                    if is_here {
                        records.remove(&key);
                    }
                    *handle = REQUEST_NULL;
                }
            }
        });
    }

    /// Removes the record of a request that the program frees.
    pub(crate) fn remove(&self, handle: MPI_Request) -> Option<InUse> {
        if self.is_empty() {
            return None;
        }
        self.change(|All { records, moving, .. }| {
            let record = records.get(&handle.key())?.of_this_thread()?;
            moving.remove(&handle.key());
            records.remove(&handle.key());
            Some(record)
        })
    }

    /// The MPI's request of a record, also while a call of another thread works on it.
    pub(crate) fn inner(&self, handle: MPI_Request) -> Option<MPI_Request> {
        let all = self.lock();
        all.records
            .get(&handle.key())
            .map(|record| MPI_Request::from_key(record.inner.load(Ordering::Acquire)))
    }

    /// Applies `work` to every operation with a request that no call works on.
    pub(crate) fn each(&self, work: impl FnMut(&mut Active)) {
        if !self.is_empty() {
            let keys: Vec<_> = self.lock().records.keys().copied().collect();
            self.work_on(&keys, work);
        }
    }

    /// The same for those that make progress only so.
    pub(crate) fn each_moving(&self, work: impl FnMut(&mut Active)) {
        if !self.is_empty() {
            let keys: Vec<_> = self.lock().moving.keys().copied().collect();
            self.work_on(&keys, work);
        }
    }

    fn work_on(&self, keys: &[usize], mut work: impl FnMut(&mut Active)) {
        for &key in keys {
            let free = |record: &&Arc<Record>| !record.is_in_use();
            let Some(mut record) = self.lock().records.get(&key).filter(free).map(Record::mark) else {
                continue;
            };
            record.active().map(&mut work);
            self.end_use(std::iter::once((&mut MPI_Request::from_key(key), record)));
        }
    }

    /// Adds an operation without a request.
    pub(crate) fn detach(&self, active: Active, awaited: Awaited) {
        let record = Record::new(Some(active), None);
        self.change(|all| all.detached.push((record, awaited)));
    }

    /// Whether there are operations without a request.
    #[inline]
    pub(crate) fn has_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire) > 0
    }

    /// Finishes those that have completed. Their errors are not reported.
    pub(crate) fn sweep(&self, context: &Context) {
        let free: Vec<_> = self.lock().detached.iter().map(|(record, _)| Arc::clone(record)).collect();
        for record in free {
            // Another thread tests it, or the call during which the MPI called the program back.
            let Some(mut record) = self.lock().detached.iter().find_map(|(known, _)| {
                (Arc::ptr_eq(known, &record) && !known.is_in_use()).then(|| known.mark())
            }) else {
                continue;
            };
            let is_over =
                record.active().is_none_or(|active| active.test(context, &mut empty_status()).is_some());
            if is_over {
                self.change(|all| all.detached.retain(|(known, _)| !Arc::ptr_eq(known, &record.0)));
            }
        }
    }

    /// Waits for those that must complete before `what`.
    pub(crate) fn wait(&self, context: &Context, what: Awaited) {
        while self.has_detached() {
            self.sweep(context);
            let is_awaited = |(record, awaited): &(Arc<Record>, Awaited)| {
                // An error handler that is called while an operation is tested cannot wait for it.
                let is_mine = record.is_in_use() && record.thread.load(Ordering::Acquire) == this_thread();
                let is_bound = || {
                    // SAFETY: no call works on it, and none begins to while the table is locked.
                    let active = || unsafe { (*record.active.get()).as_ref() };
                    !record.is_in_use() && active().is_some_and(Active::is_bound)
                };
                !is_mine && (*awaited >= what || what >= Awaited::AtTheEnd && is_bound())
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
