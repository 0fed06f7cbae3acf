//! The completion calls: Wait and Test in their four forms, Cancel and Request_free. [`status`] has Request_get_status.

mod batch;
mod few;
pub(crate) mod status;

use crate::messages::waiting;
use crate::mpi::arguments;
use crate::mpi::span::store_status;
use crate::mpi::sys::*;
use crate::mpi::{open, real};
use crate::operations::requests::Awaited;
use crate::operations::state::Shim;
use crate::progress::until;
use batch::Batch;
use std::ffi::c_int;
use std::slice;

pub(crate) unsafe fn wait(shim: &Shim, call: arguments::Wait, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Wait { request, status } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        let Some(mut batch) = Batch::of(shim, 1, request) else { return pass() };
        let mut found = empty_status();
        waiting::during_long(&shim.engine, batch.longest(), || {
            // For a single receive, the MPI can report what has arrived.
            until(shim, || {
                let (ready, alone) = (batch.advance(), shim.may_wait() && batch.is_receive());
                (alone || ready && (shim.may_wait() || batch.is_complete())).then_some(())
            });
            batch.wait_for_all();
            let code = batch.ask(|_, request| open::MPI_Wait(request, &raw mut found));
            end_one(batch, code, Some(0), &mut found, status)
        })
    }
}

pub(crate) unsafe fn test(shim: &Shim, call: arguments::Test, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Test { request, flag, status } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        let Some(mut batch) = Batch::of(shim, 1, request) else { return pass() };
        let mut found = empty_status();
        if !batch.advance() {
            *flag = 0;
            return SUCCESS;
        }
        let code = batch.ask(|_, request| open::MPI_Test(request, flag, &raw mut found));
        if code == SUCCESS && *flag == 0 {
            return SUCCESS;
        }
        end_one(batch, code, Some(0), &mut found, status)
    }
}

/// The end of a call for a single request, which has `completed`, or there was none.
unsafe fn end_one(
    mut batch: Batch<'_>,
    code: c_int,
    completed: Option<usize>,
    found: &mut MPI_Status,
    place: *mut MPI_Status,
) -> c_int {
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

pub(crate) unsafe fn waitany(shim: &Shim, call: arguments::Waitany, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Waitany { count, array_of_requests: requests, index, status } = call;
    let mut over = 0;
    // SAFETY: the program's own arguments.
    unsafe { any(shim, (count, requests), index, (true, &raw mut over), status, pass) }
}

pub(crate) unsafe fn testany(shim: &Shim, call: arguments::Testany, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Testany { count, array_of_requests: requests, index, flag, status } = call;
    // SAFETY: the program's own arguments.
    unsafe { any(shim, (count, requests), index, (false, flag), status, pass) }
}

/// Waitany, which `waits`, and Testany.
unsafe fn any(
    shim: &Shim,
    (count, requests): (c_int, *mut MPI_Request),
    index: *mut c_int,
    (waits, flag): (bool, *mut c_int),
    status: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(index) = index.as_mut() else { return pass() };
        let Some(mut batch) = Batch::of(shim, count, requests) else { return pass() };
        let mut found = empty_status();
        let given = std::mem::replace(index, UNDEFINED);
        let longest = if waits { batch.longest() } else { 0 };
        waiting::during_long(&shim.engine, longest, || {
            let code = until(shim, || {
                if batch.advance() && waits && shim.may_wait() {
                    *flag = 1;
                    let found = &raw mut found;
                    return Some(
                        batch.ask(|count, requests| open::MPI_Waitany(count, requests, index, found)),
                    );
                }
                let (code, is_over) = batch.ask_any(index, &mut found);
                *flag = c_int::from(is_over);
                (!waits || code != SUCCESS || is_over).then_some(code)
            });
            if code == SUCCESS && *flag == 0 {
                return SUCCESS;
            }
            let completed = usize::try_from(*index).ok().filter(|_| *index != UNDEFINED);
            if code != SUCCESS && completed.is_none() {
                *index = given; // the MPI has refused the arguments
            }
            end_one(batch, code, completed, &mut found, status)
        })
    }
}

pub(crate) unsafe fn waitall(shim: &Shim, call: arguments::Waitall, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Waitall { count, array_of_requests: requests, array_of_statuses: statuses } = call;
    let mut over = 0;
    // SAFETY: the program's own arguments.
    unsafe { all(shim, (count, requests), (true, &raw mut over), statuses, pass) }
}

pub(crate) unsafe fn testall(shim: &Shim, call: arguments::Testall, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Testall { count, array_of_requests: requests, flag, array_of_statuses: statuses } = call;
    // SAFETY: the program's own arguments.
    unsafe { all(shim, (count, requests), (false, flag), statuses, pass) }
}

/// Waitall, which `waits`, and Testall.
unsafe fn all(
    shim: &Shim,
    (count, requests): (c_int, *mut MPI_Request),
    (waits, flag): (bool, *mut c_int),
    statuses: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(mut batch) = Batch::of(shim, count, requests) else { return pass() };
        let mut found = vec![empty_status(); batch.len()];
        let longest = if waits { batch.longest() } else { 0 };
        waiting::during_long(&shim.engine, longest, || {
            let code = until(shim, || {
                let found = found.as_mut_ptr();
                if !batch.advance() {
                    *flag = 0;
                    return (!waits).then_some(SUCCESS);
                }
                if waits && shim.may_wait() {
                    *flag = 1;
                    return Some(batch.ask(|count, requests| open::MPI_Waitall(count, requests, found)));
                }
                let code = batch.ask(|count, requests| open::MPI_Testall(count, requests, flag, found));
                (!waits || code != SUCCESS || *flag != 0).then_some(code)
            });
            let is_known = code == ERR_IN_STATUS || code == SUCCESS && *flag != 0;
            if is_known { batch.finish_many(0..found.len(), &mut found, statuses, code) } else { code }
        })
    }
}

pub(crate) unsafe fn waitsome(shim: &Shim, call: arguments::Waitsome, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    waiting::during(&shim.engine, || unsafe { some(shim, true, call, pass) })
}

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
        let Some(mut batch) = Batch::of(shim, count, requests) else { return pass() };
        let mut found = vec![empty_status(); batch.len()];
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

pub(crate) unsafe fn cancel(shim: &Shim, call: arguments::Cancel, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Cancel { request } = call;
    // SAFETY: the program's own argument.
    unsafe {
        // Another thread may wait for it.
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
    let Some(mut record) = shim.requests.remove(handle) else { return pass() };
    if let Some(active) = record.slot().take() {
        shim.requests.detach(active, Awaited::Never);
    }
    if record.template().is_some() {
        return pass(); // a persistent request has a handle of the MPI
    }
    // SAFETY: as above.
    unsafe { *request = REQUEST_NULL };
    SUCCESS
}
