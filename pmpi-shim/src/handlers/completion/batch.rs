//! The requests of one completion call: their records are in use until it returns.

use crate::messages::error::raise;
use crate::mpi::open;
use crate::mpi::span::store_status;
use crate::mpi::sys::*;
use crate::operations::active::{Active, Failure, Finish};
use crate::operations::few::Few;
use crate::operations::requests::InUse;
use crate::operations::state::Shim;
use std::ffi::c_int;
use std::slice;

/// The requests of one call: the MPI's handles, and our records of them.
pub(super) struct Batch<'a> {
    pub(super) shim: &'a Shim,
    requests: &'a mut [MPI_Request],
    inner: Few<MPI_Request>,
    records: Few<Option<InUse>>,
    /// Which of them may be passed to the MPI.
    ready: Few<bool>,
    /// Which of them are inactive persistent ones, which any call may start meanwhile: null to the MPI, and left to the program.
    inactive: Few<bool>,
    /// The MPI has the program's array, and sets handles there to null.
    gives_array: bool,
}

impl<'a> Batch<'a> {
    /// The records of these requests, from now on in use; `None` if none of them has one.
    pub(super) unsafe fn of(shim: &'a Shim, count: c_int, requests: *mut MPI_Request) -> Option<Self> {
        let count = usize::try_from(count).ok().filter(|&n| n > 0)?;
        if shim.requests.is_empty() {
            return None;
        }
        // SAFETY: the program's own array.
        let requests = unsafe { slice::from_raw_parts_mut(requests, count) };
        let mut records = shim.requests.use_all(requests)?;
        let mut inner = Few::of(requests, |request| *request);
        let mut inactive = Few::of(requests, |_| false);
        for ((inner, record), inactive) in inner.iter_mut().zip(records.iter_mut()).zip(inactive.iter_mut()) {
            if let Some(used) = record {
                *inner = used.inner();
                *inactive = used.active().is_none();
            }
            if *inactive {
                *record = None;
            }
        }
        let ready = Few::of(requests, |_| true);
        Some(Self { shim, requests, inner, records, ready, inactive, gives_array: false })
    }

    /// Advances the operations; returns whether all requests may be passed to the MPI.
    pub(super) fn advance(&mut self) -> bool {
        let mut all = true;
        let of_all = self.records.iter_mut().zip(self.inner.iter_mut()).zip(self.ready.iter_mut());
        for ((record, inner), ready) in of_all {
            if let Some(record) = record {
                *ready = record.advance(self.shim);
                *inner = record.inner();
            }
            all &= *ready;
        }
        all
    }

    /// Number of requests.
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// The MPI's request of the only one.
    pub(super) fn only(&self) -> MPI_Request {
        self.inner.first().copied().unwrap_or(REQUEST_NULL)
    }

    /// Passes the requests that are ready to the MPI, and null requests for the others. If all handles are the program's, the MPI gets its array: then the
    /// handles of completed requests are null before an error handler is called.
    pub(super) fn ask(&mut self, ask: impl FnOnce(c_int, *mut MPI_Request) -> c_int) -> c_int {
        let count = c_int::try_from(self.len()).unwrap_or(c_int::MAX); // fits, as it came from the program
        let is_ready = self.ready.iter().all(|ready| *ready);
        if is_ready && *self.inner == *self.requests {
            self.gives_array = true;
            let code = ask(count, self.requests.as_mut_ptr());
            self.take_array();
            return code;
        }
        for (inner, ready) in self.inner.iter_mut().zip(self.ready.iter()) {
            if !ready {
                *inner = REQUEST_NULL;
            }
        }
        let code = ask(count, self.inner.as_mut_ptr());
        let of_all = self.inner.iter_mut().zip(self.ready.iter()).zip(self.records.iter_mut());
        for ((inner, ready), record) in of_all {
            if let Some(record) = record.as_mut().filter(|_| !ready) {
                *inner = record.inner();
            }
        }
        code
    }

    /// All are passed to the MPI from now on.
    pub(super) fn wait_for_all(&mut self) {
        self.ready.fill(true);
    }

    fn take_array(&mut self) {
        if std::mem::take(&mut self.gives_array) {
            self.inner.copy_from_slice(self.requests);
        }
    }

    /// Testany: returns its code, and whether it found a completed request or no active one.
    pub(super) fn ask_any(&mut self, index: &mut c_int, found: &mut MPI_Status) -> (c_int, bool) {
        let mut flag = 0;
        // SAFETY: requests of the program and our own, valid output pointers.
        let code =
            self.ask(|count, inner| unsafe { open::MPI_Testany(count, inner, index, &raw mut flag, found) });
        let others = *index == UNDEFINED && !self.ready.iter().all(|ready| *ready);
        (code, flag != 0 && !others)
    }

    /// Whether the only request is ready, and the MPI would not wait for it.
    pub(super) fn is_complete(&mut self) -> bool {
        let ([Some(record)], [inner]) = (&mut *self.records, &mut *self.inner) else { return true };
        let Some(active) = record.active() else { return true };
        let is_complete = active.is_complete(self.shim);
        *inner = active.operation.request;
        is_complete
    }

    /// Whether the batch is a single receive.
    pub(super) fn is_receive(&mut self) -> bool {
        let [Some(record)] = &mut *self.records else { return false };
        record.active().is_some_and(|active| matches!(active.finish, Finish::Receive(_)))
    }

    /// Finishes request `i`, which the MPI has just completed with `status`.
    pub(super) unsafe fn finish(&mut self, i: usize, status: &mut MPI_Status) -> Result<(), Failure> {
        match self.take_operation(i) {
            // SAFETY: the caller vouches for the completion.
            Some(mut active) => unsafe { active.finish(self.shim, status) },
            None => Ok(()),
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

    /// The record of request `i`.
    pub(super) fn record(&mut self, i: usize) -> Option<&mut InUse> {
        self.records.get_mut(i)?.as_mut()
    }

    /// Ends a call for a single request: finishes request `i` and stores its status if the program wants it.
    pub(super) unsafe fn finish_one(
        mut self,
        i: usize,
        found: &mut MPI_Status,
        place: *mut MPI_Status,
    ) -> c_int {
        // SAFETY: the caller vouches for the completion and the place.
        let result = unsafe {
            let result = self.finish(i, found);
            store_status(place, found);
            result
        };
        // An error handler need not return, so the program gets its handles first.
        drop(self);
        result.map_or_else(|(comm, code)| raise(comm, code), |()| SUCCESS)
    }

    /// Ends a call for several requests: finishes the requests `which`, whose statuses are `found` and are stored at `place`. `code` is the
    /// MPI's return value.
    pub(super) unsafe fn finish_many(
        mut self,
        which: impl Iterator<Item = usize>,
        found: &mut [MPI_Status],
        place: *mut MPI_Status,
        code: c_int,
    ) -> c_int {
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
        self.take_array();
        let asked = self.inner.iter().zip(self.ready.iter());
        for (record, (inner, ready)) in self.records.iter_mut().zip(asked) {
            // The MPI has freed a failed request without reporting it: it reports one of several, or the error handler left by an
            // exception.
            if let Some(record) = record.as_mut().filter(|_| *inner == REQUEST_NULL && *ready)
                && let Some(mut active) = record.slot().take()
            {
                active.abandon(self.shim, UNDEFINED);
            }
        }
        let known = self.records.iter().zip(self.inner.iter()).zip(self.inactive.iter());
        for (request, ((record, inner), inactive)) in self.requests.iter_mut().zip(known) {
            if record.is_none() && !inactive {
                *request = *inner;
            }
        }
        let used = self.requests.iter_mut().zip(self.records.iter_mut());
        self.shim.requests.end_use(used.filter_map(|(request, record)| Some((request, record.take()?))));
    }
}

/// Stores statuses where the program wants them. Their error fields are meaningful only if `code` says so.
pub(super) unsafe fn store_statuses(place: *mut MPI_Status, found: &[MPI_Status], code: c_int) {
    if place == STATUSES_IGNORE || place.is_null() {
        return;
    }
    for (i, status) in found.iter().enumerate() {
        // SAFETY: the program's array has an entry for each status.
        unsafe {
            if code == ERR_IN_STATUS {
                *place.add(i) = *status;
            } else {
                store_status(place.add(i), status);
            }
        }
    }
}
