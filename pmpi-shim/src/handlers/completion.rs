//! The completion calls: Wait and Test in their four forms, Cancel, Request_free, and the calls that wait for buffered sends. [`status`]
//! has Request_get_status.

mod light;
pub(crate) mod status;

use crate::messages::error::raise;
use crate::messages::waiting;
use crate::mpi::arguments;
use crate::mpi::span::store_status;
use crate::mpi::sys::*;
use crate::mpi::{open, real};
use crate::operations::detached::Awaited;
use crate::operations::requests::{Failure, Few, Finish, Record};
use crate::operations::state::Shim;
use crate::progress::until;
use std::ffi::c_int;
use std::slice;

/// The requests of one call: the MPI's handles, and our records of them.
struct Batch<'a> {
    shim: &'a Shim,
    requests: &'a mut [MPI_Request],
    inner: Few<MPI_Request>,
    records: Few<Option<Box<Record>>>,
    /// Which of them may be passed to the MPI.
    ready: Few<bool>,
}

impl<'a> Batch<'a> {
    /// Takes the records of these requests; `None` if none of them has one.
    unsafe fn take(shim: &'a Shim, count: c_int, requests: *mut MPI_Request) -> Option<Self> {
        let count = usize::try_from(count).ok().filter(|&n| n > 0)?;
        if shim.requests.is_empty() {
            return None;
        }
        // SAFETY: the program's own array.
        let requests = unsafe { slice::from_raw_parts_mut(requests, count) };
        let records = shim.requests.take_all(requests)?;
        let mut inner = Few::of(requests, |request| *request);
        for (inner, record) in inner.iter_mut().zip(records.iter()) {
            if let Some(record) = record {
                *inner = record.active.as_ref().map_or(REQUEST_NULL, |active| active.operation.request);
            }
        }
        let ready = Few::of(requests, |_| true);
        Some(Self { shim, requests, inner, records, ready })
    }

    /// Advances the operations; returns whether all requests may be passed to the MPI.
    fn advance(&mut self) -> bool {
        let mut all = true;
        let of_all = self.records.iter_mut().zip(self.inner.iter_mut()).zip(self.ready.iter_mut());
        for (((record, inner), ready), handle) in of_all.zip(self.requests.iter()) {
            if let Some(active) = record.as_mut().and_then(|record| record.active.as_mut()) {
                *ready = active.advance(self.shim);
                if *inner != active.operation.request {
                    *inner = active.operation.request;
                    self.shim.requests.replaced(*handle, *inner);
                }
            }
            all &= *ready;
        }
        all
    }

    /// Passes the requests that are ready to the MPI, and null requests for the others.
    fn ask(&mut self, ask: impl FnOnce(c_int, *mut MPI_Request) -> c_int) -> c_int {
        for (inner, ready) in self.inner.iter_mut().zip(self.ready.iter()) {
            if !ready {
                *inner = REQUEST_NULL;
            }
        }
        let count = c_int::try_from(self.inner.len()).unwrap_or(c_int::MAX); // fits, as it came from the program
        let code = ask(count, self.inner.as_mut_ptr());
        for ((inner, ready), record) in self.inner.iter_mut().zip(self.ready.iter()).zip(self.records.iter())
        {
            if let Some(active) = record.as_ref().filter(|_| !ready).and_then(|record| record.active.as_ref())
            {
                *inner = active.operation.request;
            }
        }
        code
    }

    /// Testany: returns its code, and whether it found a completed request or no active one.
    fn ask_any(&mut self, index: &mut c_int, found: &mut MPI_Status) -> (c_int, bool) {
        let mut flag = 0;
        // SAFETY: requests of the program and our own, valid output pointers.
        let code =
            self.ask(|count, inner| unsafe { open::MPI_Testany(count, inner, index, &raw mut flag, found) });
        let others = *index == UNDEFINED && !self.ready.iter().all(|ready| *ready);
        (code, flag != 0 && !others)
    }

    /// Whether the only request is ready, and the MPI would not wait for it.
    fn is_complete(&mut self) -> bool {
        let ([Some(record)], [inner]) = (&mut *self.records, &mut *self.inner) else { return true };
        let Some(active) = &mut record.active else { return true };
        let is_complete = active.is_complete(self.shim);
        *inner = active.operation.request;
        is_complete
    }

    /// Whether the batch is a single receive.
    fn is_receive(&self) -> bool {
        let [Some(record)] = &*self.records else { return false };
        record.active.as_ref().is_some_and(|active| matches!(active.finish, Finish::Receive(_)))
    }

    /// Finishes request `i`, which the MPI has just completed with `status`.
    unsafe fn finish(&mut self, i: usize, status: &mut MPI_Status) -> Result<(), Failure> {
        match self.records.get_mut(i).and_then(Option::as_mut).and_then(|record| record.active.take()) {
            // SAFETY: the caller vouches for the completion.
            Some(mut active) => unsafe { active.finish(self.shim, status) },
            None => Ok(()),
        }
    }

    /// The MPI completed request `i` with an error, so it is not finished.
    fn failed(&mut self, i: usize, status: &MPI_Status) {
        let record = self.records.get_mut(i).and_then(Option::as_mut);
        if let Some(mut active) = record.and_then(|record| record.active.take()) {
            active.abandon(self.shim, status.MPI_SOURCE);
        }
    }

    /// Ends a call for a single request: finishes request `i` and stores its status if the program wants it.
    unsafe fn finish_one(mut self, i: usize, found: &mut MPI_Status, place: *mut MPI_Status) -> c_int {
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
    unsafe fn finish_many(
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
        let asked = self.inner.iter().zip(self.ready.iter());
        for ((request, record), (inner, ready)) in
            self.requests.iter_mut().zip(self.records.iter_mut()).zip(asked)
        {
            // The MPI has freed a failed request without reporting it: it reports one of several, or the error handler left by an
            // exception.
            if let Some(record) = record.as_mut().filter(|_| *inner == REQUEST_NULL && *ready)
                && let Some(mut active) = record.active.take()
            {
                active.abandon(self.shim, UNDEFINED);
            }
            match record {
                None => *request = *inner,
                Some(kept) if kept.active.is_some() || kept.template.is_some() => {}
                Some(_) => {
                    *record = None;
                    *request = REQUEST_NULL;
                }
            }
        }
        let kept = self.requests.iter().zip(self.records.iter_mut());
        self.shim.requests.put_all(kept.filter_map(|(request, record)| Some((*request, record.take()?))));
    }
}

/// Wait.
pub(crate) unsafe fn wait(shim: &Shim, call: arguments::Wait, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Wait { request, status } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        if let Some(code) = light::wait(shim, request, status) {
            return code;
        }
        let Some(mut batch) = Batch::take(shim, 1, request) else { return pass() };
        let mut found = empty_status();
        waiting::during(&shim.engine, || {
            // For a single receive, the MPI can report what has arrived.
            until(shim, || {
                let (ready, alone) = (batch.advance(), shim.may_wait() && batch.is_receive());
                (alone || ready && (shim.may_wait() || batch.is_complete())).then_some(())
            });
            let code = open::MPI_Wait(batch.inner.as_mut_ptr(), &raw mut found);
            if code != SUCCESS {
                batch.failed(0, &found);
                store_status(status, &found);
                return code;
            }
            batch.finish_one(0, &mut found, status)
        })
    }
}

/// Test.
pub(crate) unsafe fn test(shim: &Shim, call: arguments::Test, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Test { request, flag, status } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        if let Some(code) = light::test(shim, request, flag, status) {
            return code;
        }
        let Some(mut batch) = Batch::take(shim, 1, request) else { return pass() };
        let mut found = empty_status();
        if !batch.advance() {
            *flag = 0;
            return SUCCESS;
        }
        let code = open::MPI_Test(batch.inner.as_mut_ptr(), flag, &raw mut found);
        if code != SUCCESS {
            batch.failed(0, &found);
            store_status(status, &found);
            return code;
        }
        if *flag == 0 {
            return SUCCESS;
        }
        batch.finish_one(0, &mut found, status)
    }
}

/// Waitany.
pub(crate) unsafe fn waitany(shim: &Shim, call: arguments::Waitany, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Waitany { count, array_of_requests: requests, index, status } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        let Some(mut batch) = Batch::take(shim, count, requests) else { return pass() };
        let mut found = empty_status();
        waiting::during(&shim.engine, || {
            let code = until(shim, || {
                if batch.advance() && shim.may_wait() {
                    return Some(open::MPI_Waitany(count, batch.inner.as_mut_ptr(), index, &raw mut found));
                }
                let (code, flag) = batch.ask_any(&mut *index, &mut found);
                (code != SUCCESS || flag).then_some(code)
            });
            any(batch, code, *index, &mut found, status)
        })
    }
}

/// Testany.
pub(crate) unsafe fn testany(shim: &Shim, call: arguments::Testany, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Testany { count, array_of_requests: requests, index, flag, status } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        let Some(mut batch) = Batch::take(shim, count, requests) else { return pass() };
        let mut found = empty_status();
        batch.advance();
        let (code, found_one) = batch.ask_any(&mut *index, &mut found);
        *flag = c_int::from(found_one);
        if code == SUCCESS && !found_one {
            return SUCCESS;
        }
        any(batch, code, *index, &mut found, status)
    }
}

/// Common part of Waitany and Testany: request `index` has completed, or there was none.
unsafe fn any(
    mut batch: Batch<'_>,
    code: c_int,
    index: c_int,
    found: &mut MPI_Status,
    place: *mut MPI_Status,
) -> c_int {
    let completed = usize::try_from(index).ok().filter(|_| index != UNDEFINED);
    // SAFETY: the caller vouches for the completion and the place.
    unsafe {
        match completed {
            Some(i) if code == SUCCESS => batch.finish_one(i, found, place),
            failed => {
                if let Some(i) = failed {
                    batch.failed(i, found);
                }
                store_status(place, found);
                code
            }
        }
    }
}

/// Waitall.
pub(crate) unsafe fn waitall(shim: &Shim, call: arguments::Waitall, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Waitall { count, array_of_requests: requests, array_of_statuses: statuses } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        if let Some(code) = light::waitall(shim, count, requests, statuses) {
            return code;
        }
        let Some(mut batch) = Batch::take(shim, count, requests) else { return pass() };
        let mut found = vec![empty_status(); batch.inner.len()];
        waiting::during(&shim.engine, || {
            let code = until(shim, || {
                if !batch.advance() {
                    return None;
                }
                let (inner, found) = (batch.inner.as_mut_ptr(), found.as_mut_ptr());
                if shim.may_wait() {
                    return Some(open::MPI_Waitall(count, inner, found));
                }
                let mut flag = 0;
                let code = open::MPI_Testall(count, inner, &raw mut flag, found);
                (code != SUCCESS || flag != 0).then_some(code)
            });
            all(batch, code, &mut found, statuses)
        })
    }
}

/// Testall.
pub(crate) unsafe fn testall(shim: &Shim, call: arguments::Testall, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Testall { count, array_of_requests: requests, flag, array_of_statuses: statuses } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        let Some(mut batch) = Batch::take(shim, count, requests) else { return pass() };
        let mut found = vec![empty_status(); batch.inner.len()];
        if !batch.advance() {
            *flag = 0;
            return SUCCESS;
        }
        let code = open::MPI_Testall(count, batch.inner.as_mut_ptr(), flag, found.as_mut_ptr());
        if code == SUCCESS && *flag == 0 {
            return SUCCESS;
        }
        all(batch, code, &mut found, statuses)
    }
}

/// Common part of Waitall and Testall: all requests have completed, or `code` says that some failed.
unsafe fn all(batch: Batch<'_>, code: c_int, found: &mut [MPI_Status], statuses: *mut MPI_Status) -> c_int {
    if code != SUCCESS && code != ERR_IN_STATUS {
        return code;
    }
    // SAFETY: the caller vouches for the completions and the array, which has as many entries as `found`.
    unsafe { batch.finish_many(0..found.len(), found, statuses, code) }
}

/// Waitsome.
pub(crate) unsafe fn waitsome(shim: &Shim, call: arguments::Waitsome, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    waiting::during(&shim.engine, || unsafe { some(shim, true, call, pass) })
}

/// Testsome.
pub(crate) unsafe fn testsome(shim: &Shim, call: arguments::Testsome, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { some(shim, false, call, pass) }
}

/// Common part of Waitsome (`wait`) and Testsome.
unsafe fn some(shim: &Shim, wait: bool, call: arguments::Waitsome, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Waitsome { incount: count, array_of_requests: requests, outcount, .. } = call;
    let (indices, statuses) = (call.array_of_indices, call.array_of_statuses);
    // SAFETY: the program's own arguments; the MPI fills `outcount` entries of the arrays.
    unsafe {
        let Some(mut batch) = Batch::take(shim, count, requests) else { return pass() };
        let mut found = vec![empty_status(); batch.inner.len()];
        let code = until(shim, || {
            let ready = batch.advance();
            let waits = wait && ready && shim.may_wait();
            let function = if waits { open::MPI_Waitsome } else { open::MPI_Testsome };
            let code =
                batch.ask(|count, inner| function(count, inner, outcount, indices, found.as_mut_ptr()));
            if *outcount == UNDEFINED && !ready {
                *outcount = 0; // some requests are not ready
            }
            (waits || !wait || code != SUCCESS || *outcount != 0).then_some(code)
        });
        let completed = usize::try_from(*outcount).unwrap_or(0);
        if *outcount == UNDEFINED || (code != SUCCESS && code != ERR_IN_STATUS) || completed > found.len() {
            return code;
        }
        let which = slice::from_raw_parts(indices, completed).iter().filter_map(|&i| usize::try_from(i).ok());
        batch.finish_many(which, &mut found[..completed], statuses, code)
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
                store_status(place.add(i), status);
            }
        }
    }
}

/// Cancel.
pub(crate) unsafe fn cancel(shim: &Shim, call: arguments::Cancel, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Cancel { request } = call;
    // SAFETY: the program's own argument.
    unsafe {
        // The record stays where it is: another thread may wait for it.
        match shim.requests.inner(*request) {
            Some(mut inner) => real::MPI_Cancel(&raw mut inner),
            None => pass(),
        }
    }
}

/// Request_free: a pending operation goes on detached.
pub(crate) unsafe fn request_free(
    shim: &Shim,
    call: arguments::Request_free,
    pass: impl Fn() -> c_int,
) -> c_int {
    let arguments::Request_free { request } = call;
    // SAFETY: the program's own argument.
    let handle = unsafe { *request };
    shim.forget_start(handle);
    let Some(record) = shim.requests.take_for_good(handle) else { return pass() };
    if let Some(active) = record.active {
        shim.detached.adopt(active, Awaited::Never);
    }
    if record.template.is_some() {
        return pass(); // a persistent request has a handle of the MPI
    }
    // SAFETY: as above.
    unsafe { *request = REQUEST_NULL };
    SUCCESS
}

/// Buffer_detach, and the other calls that detach or flush buffers, return after all buffered messages have been sent.
pub(crate) fn before_detach(shim: &Shim, pass: impl Fn() -> c_int) -> c_int {
    shim.detached.wait(shim, Awaited::AtDetach);
    pass()
}
