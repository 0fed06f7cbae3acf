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

/// Wait.
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
        let Some(mut batch) = Batch::of(shim, 1, request) else { return pass() };
        let mut found = empty_status();
        if !batch.advance() {
            *flag = 0;
            return SUCCESS;
        }
        let code = batch.ask(|_, request| open::MPI_Test(request, flag, &raw mut found));
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
        let Some(index) = index.as_mut() else { return pass() };
        let Some(mut batch) = Batch::of(shim, count, requests) else { return pass() };
        let mut found = empty_status();
        let given = std::mem::replace(index, UNDEFINED);
        waiting::during_long(&shim.engine, batch.longest(), || {
            let code = until(shim, || {
                if batch.advance() && shim.may_wait() {
                    return Some(
                        batch
                            .ask(|count, requests| open::MPI_Waitany(count, requests, index, &raw mut found)),
                    );
                }
                let (code, flag) = batch.ask_any(index, &mut found);
                (code != SUCCESS || flag).then_some(code)
            });
            any(batch, code, (index, given), &mut found, status)
        })
    }
}

/// Testany.
pub(crate) unsafe fn testany(shim: &Shim, call: arguments::Testany, pass: impl Fn() -> c_int) -> c_int {
    let arguments::Testany { count, array_of_requests: requests, index, flag, status } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        let Some(index) = index.as_mut() else { return pass() };
        let Some(mut batch) = Batch::of(shim, count, requests) else { return pass() };
        let mut found = empty_status();
        let given = std::mem::replace(index, UNDEFINED);
        batch.advance();
        let (code, found_one) = batch.ask_any(index, &mut found);
        *flag = c_int::from(found_one);
        if code == SUCCESS && !found_one {
            return SUCCESS;
        }
        any(batch, code, (index, given), &mut found, status)
    }
}

/// Common part of Waitany and Testany: request `index` has completed, or there was none. If the MPI has refused the arguments, it has not set the index, which
/// is as the program has `given` it again.
unsafe fn any(
    mut batch: Batch<'_>,
    code: c_int,
    (index, given): (&mut c_int, c_int),
    found: &mut MPI_Status,
    place: *mut MPI_Status,
) -> c_int {
    let completed = usize::try_from(*index).ok().filter(|_| *index != UNDEFINED);
    if code != SUCCESS && completed.is_none() {
        *index = given;
    }
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
        let Some(mut batch) = Batch::of(shim, count, requests) else { return pass() };
        let mut found = vec![empty_status(); batch.len()];
        waiting::during_long(&shim.engine, batch.longest(), || {
            let code = until(shim, || {
                if !batch.advance() {
                    return None;
                }
                let found = found.as_mut_ptr();
                if shim.may_wait() {
                    return Some(batch.ask(|count, requests| open::MPI_Waitall(count, requests, found)));
                }
                let mut flag = 0;
                let code =
                    batch.ask(|count, requests| open::MPI_Testall(count, requests, &raw mut flag, found));
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
        let Some(mut batch) = Batch::of(shim, count, requests) else { return pass() };
        let mut found = vec![empty_status(); batch.len()];
        if !batch.advance() {
            *flag = 0;
            return SUCCESS;
        }
        let code = batch.ask(|count, requests| open::MPI_Testall(count, requests, flag, found.as_mut_ptr()));
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

/// Cancel.
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
