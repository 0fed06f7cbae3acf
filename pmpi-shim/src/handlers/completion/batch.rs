//! The requests of one completion call: their records are in use until it returns.

use crate::messages::error::{Failure, raise};
use crate::mpi::{arguments::Out, handle::Handle, sys::*};
use crate::operations::{active::Active, requests::Found, requests::InUse, state::Shim};
use smallvec::SmallVec;

/// What a call does with its requests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// Waits for them, and completes them.
    Wait,
    /// Completes those that are over.
    Test,
    /// Tells which are over. They remain with the program: a receive is delivered at once, and its status kept.
    Look,
}

/// A list with an entry for each request of a call: most calls have few, and programs poll with such calls.
pub(super) type Few<T> = SmallVec<[T; 4]>;

/// The requests of one call: the MPI's handles, and our records of them. These are in the frame of the call, as moving them would take longer than
/// all the rest.
pub(super) struct Batch<'a> {
    shim: &'a Shim,
    pub(super) ends: Ends,
    requests: &'a mut [MPI_Request],
    slots: &'a mut Few<Slot>,
    /// Whether a call of the MPI has the requests.
    is_lent: bool,
    /// Whether that call has the program's array, in which the MPI sets handles to null.
    gives_array: bool,
}

pub(super) struct Slot {
    /// The MPI's request.
    inner: MPI_Request,
    record: Option<InUse>,
    /// Whether it may be passed to the MPI.
    is_ready: bool,
    /// Whether the operation must be advanced to know that.
    moves: bool,
    /// Whether the program's request is left unchanged, and the MPI gets none: it is inactive, and another call may start it meanwhile; or another
    /// call works on it, or has completed it.
    is_left: bool,
}

impl Slot {
    fn of(shim: &Shim, request: MPI_Request, found: Found) -> Self {
        let mut slot = Self { inner: request, record: None, is_ready: true, moves: false, is_left: false };
        match found {
            Found::Nothing => {}
            Found::AtWork => (slot.inner, slot.is_ready, slot.is_left) = (REQUEST_NULL, false, true),
            Found::Record(mut record) => {
                slot.inner = record.inner();
                match record.active() {
                    Some(active) => {
                        slot.moves = active.may_move(shim);
                        slot.record = Some(record);
                    }
                    None => slot.is_left = true,
                }
            }
        }
        slot
    }

    /// Adds the slots of all requests, whose records are in use from now on. Calls that look wait for each other, so all take the requests in the
    /// same order.
    fn add_each(slots: &mut Few<Self>, shim: &Shim, ends: Ends, requests: &[MPI_Request]) {
        let mut using = shim.requests.use_each(ends != Ends::Look);
        let mut slot = |request: &MPI_Request| Self::of(shim, *request, using(*request));
        if ends != Ends::Look {
            slots.extend(requests.iter().map(slot));
            return;
        }
        let mut sorted: Vec<_> = requests.iter().enumerate().collect();
        sorted.sort_by_key(|(_, request)| request.key());
        let mut used: Vec<_> = sorted.into_iter().map(|(at, request)| (at, slot(request))).collect();
        used.sort_by_key(|(at, _)| *at);
        slots.extend(used.into_iter().map(|(_, slot)| slot));
    }

    fn is_known(&self) -> bool {
        self.record.is_some() || self.is_left
    }
}

impl<'a> Batch<'a> {
    /// The records of these requests, from now on in use; `None` if none of them has one. `slots` must be empty.
    pub(super) fn of(
        shim: &'a Shim,
        ends: Ends,
        requests: &'a mut [MPI_Request],
        slots: &'a mut Few<Slot>,
    ) -> Option<Self> {
        if shim.requests.is_empty() {
            return None;
        }
        Slot::add_each(slots, shim, ends, requests);
        let is_any_known = slots.iter().any(Slot::is_known);
        is_any_known.then(|| Self { shim, ends, requests, slots, is_lent: false, gives_array: false })
    }

    /// Advances the operations; returns whether all requests may be passed to the MPI.
    pub(super) fn advance(&mut self) -> bool {
        let mut all = true;
        for slot in self.slots.iter_mut() {
            if let Some(record) = slot.record.as_mut().filter(|_| slot.moves) {
                slot.is_ready = record.advance(self.shim);
                slot.inner = record.inner();
            }
            all &= slot.is_ready;
        }
        all
    }

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// The greatest number of bytes of a message that the call waits for.
    pub(super) fn longest(&mut self) -> usize {
        if self.ends != Ends::Wait {
            return 0;
        }
        let of = |slot: &mut Slot| slot.record.as_mut()?.active().map(|active| active.longest());
        self.slots.iter_mut().filter_map(of).max().unwrap_or(0)
    }

    /// Passes the requests that are ready to the MPI, and null requests for the others. If all handles are the program's, the MPI gets its array:
    /// then the handles of completed requests are null before an error handler is called.
    pub(super) fn ask(&mut self, ask: impl FnOnce(c_int, *mut MPI_Request) -> c_int) -> c_int {
        let count = c_int::try_from(self.len()).unwrap_or(c_int::MAX); // fits, as it came from the program
        let is_same = |(slot, request): (&Slot, &MPI_Request)| slot.is_ready && slot.inner == *request;
        self.is_lent = true;
        self.slots.iter().filter_map(|slot| slot.record.as_ref()).for_each(InUse::lend);
        if self.slots.iter().zip(self.requests.iter()).all(is_same) {
            self.gives_array = true;
            let code = ask(count, self.requests.as_mut_ptr());
            self.take_back();
            return code;
        }
        let given = |slot: &Slot| if slot.is_ready { slot.inner } else { REQUEST_NULL };
        let mut array: Few<_> = self.slots.iter().map(given).collect();
        let code = ask(count, array.as_mut_ptr());
        for (slot, request) in self.slots.iter_mut().zip(array.iter()).filter(|(slot, _)| slot.is_ready) {
            slot.inner = *request;
        }
        self.take_back();
        code
    }

    /// All are passed to the MPI from now on.
    pub(super) fn wait_for_all(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.is_ready = true);
    }

    fn take_back(&mut self) {
        if std::mem::take(&mut self.gives_array) {
            for (slot, request) in self.slots.iter_mut().zip(self.requests.iter()) {
                slot.inner = *request;
            }
        }
        if std::mem::take(&mut self.is_lent) {
            for slot in self.slots.iter_mut() {
                if slot.record.take_if(|record| !record.take_back()).is_some() {
                    slot.is_left = true;
                }
            }
        }
    }

    /// Whether the only request is ready, and the MPI would not wait for it.
    pub(super) fn is_complete(&mut self) -> bool {
        let [Slot { record: Some(record), inner, .. }] = &mut self.slots[..] else { return true };
        let Some(active) = record.active() else { return true };
        let is_complete = active.is_complete(self.shim);
        *inner = active.operation.request;
        is_complete
    }

    /// Whether the batch is a single receive.
    pub(super) fn is_receive(&mut self) -> bool {
        let [Slot { record: Some(record), .. }] = &mut self.slots[..] else { return false };
        record.active().is_some_and(|active| active.is_receive())
    }

    /// Finishes request `i`, which is over, with this `status` of the MPI's.
    unsafe fn finish(&mut self, i: usize, status: &mut MPI_Status) -> Result<(), Failure> {
        let shim = self.shim;
        // SAFETY: the caller vouches for the completion.
        unsafe {
            if self.ends == Ends::Look {
                let active = self.record(i).and_then(InUse::active);
                if let Some(active) = active.filter(|active| !active.is_truncated(status)) {
                    active.finish_early(shim, status);
                }
                return Ok(());
            }
            self.take_operation(i).map_or(Ok(()), |mut active| active.finish(shim, status))
        }
    }

    /// The MPI completed request `i` with an error, so it is not finished.
    pub(super) fn failed(&mut self, i: usize, status: &MPI_Status) {
        if let Some(mut active) = self.take_operation(i) {
            active.abandon(self.shim, status.MPI_SOURCE);
        }
    }

    /// Takes the operation of request `i`, which is over.
    fn take_operation(&mut self, i: usize) -> Option<Active> {
        self.record(i)?.slot().take()
    }

    fn record(&mut self, i: usize) -> Option<&mut InUse> {
        self.slots.get_mut(i)?.record.as_mut()
    }

    /// Ends a call for a single request: finishes request `i` and stores its status if the program wants it.
    pub(super) unsafe fn finish_one(
        mut self,
        i: usize,
        found: &mut MPI_Status,
        place: Out<MPI_Status>,
    ) -> c_int {
        // SAFETY: the caller vouches for the completion.
        let result = unsafe { self.finish(i, found) };
        place.store(found);
        // An error handler need not return, so the program gets its handles first.
        drop(self);
        result.map_or_else(|(comm, code)| raise(comm, code), |()| SUCCESS)
    }

    /// Ends a call for several requests: finishes the requests `which`, whose statuses are `found` and are stored at `place`. `code` is the MPI's
    /// return value.
    pub(super) unsafe fn finish_many(
        mut self,
        which: impl Iterator<Item = usize>,
        found: &mut [MPI_Status],
        place: *mut MPI_Status,
        code: c_int,
    ) -> c_int {
        if code != SUCCESS && self.ends == Ends::Look {
            return code;
        }
        let mut failure = None;
        for (i, status) in which.zip(found.iter_mut()) {
            if code != SUCCESS && status.MPI_ERROR == ERR_PENDING {
                continue;
            }
            if code != SUCCESS && status.MPI_ERROR != SUCCESS {
                self.failed(i, status);
                continue;
            }
            // SAFETY: the MPI completed it without an error.
            let result = unsafe { self.finish(i, status) };
            status.MPI_ERROR = SUCCESS;
            if let Err((comm, code)) = result {
                status.MPI_ERROR = code;
                failure = Some((comm, code));
            }
        }
        let ours = failure.filter(|_| code == SUCCESS);
        // SAFETY: the caller vouches for the place, which has as many entries as `found`.
        unsafe { store_statuses(place, found, if ours.is_some() { ERR_IN_STATUS } else { code }) };
        drop(self); // as in `finish_one`
        ours.map_or(code, |(comm, code)| {
            // The handler gets the error of the message, the caller that of the call.
            raise(comm, code);
            ERR_IN_STATUS
        })
    }
}

impl Drop for Batch<'_> {
    /// Gives the program its handles back: null for completed requests, unchanged for pending and persistent ones.
    fn drop(&mut self) {
        self.take_back();
        for slot in self.slots.iter_mut() {
            // The MPI has freed a failed request without reporting it: it reports only one of several, or the error handler has left the call by an
            // exception.
            if slot.inner == REQUEST_NULL
                && slot.is_ready
                && let Some(mut active) = slot.record.as_mut().and_then(|record| record.slot().take())
            {
                active.abandon(self.shim, UNDEFINED);
            }
        }
        for (request, slot) in self.requests.iter_mut().zip(self.slots.iter()) {
            if !slot.is_known() {
                *request = slot.inner;
            }
        }
        let used = self.requests.iter_mut().zip(self.slots.iter_mut());
        self.shim.requests.end_use(used.filter_map(|(request, slot)| Some((request, slot.record.take()?))));
    }
}

/// Stores statuses where the program wants them. Their error fields are meaningful only if `code` says so.
unsafe fn store_statuses(place: *mut MPI_Status, found: &[MPI_Status], code: c_int) {
    if place == STATUSES_IGNORE || place.is_null() {
        return;
    }
    for (i, status) in found.iter().enumerate() {
        // SAFETY: the program's array has an entry for each status.
        unsafe {
            if code == ERR_IN_STATUS {
                *place.add(i) = *status;
            } else {
                Out::new(place.add(i)).store(status);
            }
        }
    }
}
