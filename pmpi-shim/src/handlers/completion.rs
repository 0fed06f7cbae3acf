//! The completion calls: Wait, Test and Request_get_status in their four forms, Cancel and Request_free.

mod batch;

use crate::mpi::{arguments, arguments::Out, open, real, sys::*};
use crate::operations::state::Shim;
use crate::progress::until;
use batch::{Batch, Ends, Few};
use mpress::waiting;
use std::slice;

/// An array of requests; empty if the MPI will refuse it.
///
/// # Safety
/// It must be the program's.
unsafe fn array<'a>(count: c_int, requests: *mut MPI_Request) -> &'a mut [MPI_Request] {
    match usize::try_from(count) {
        // SAFETY: the caller vouches for the array.
        Ok(count) if !requests.is_null() => unsafe { slice::from_raw_parts_mut(requests, count) },
        _ => &mut [],
    }
}

/// A copy of the program's array, for a call that must leave the array unchanged: a batch may change what it is given.
///
/// # Safety
/// As for [`array()`].
unsafe fn copied(count: c_int, requests: *const MPI_Request) -> Vec<MPI_Request> {
    // SAFETY: the caller vouches for the array.
    unsafe { array(count, requests.cast_mut()) }.to_vec()
}

handlers! {
    wait(Wait): |shim, call, pass| {
        one(shim, (Ends::Wait, array(1, call.request.ptr())), &mut 1, call.status, pass)
    };
    test(Test): |shim, call, pass| {
        one(shim, (Ends::Test, array(1, call.request.ptr())), call.flag.ptr(), call.status, pass)
    };
    request_get_status(Request_get_status): |shim, call, pass| {
        one(shim, (Ends::Look, &mut [call.request]), call.flag.ptr(), call.status, pass)
    };
    waitany(Waitany): |shim, call, pass| {
        let requests = array(call.count, call.array_of_requests);
        any(shim, (Ends::Wait, requests), call.index.ptr(), &mut 0, call.status, pass)
    };
    testany(Testany): |shim, call, pass| {
        let requests = array(call.count, call.array_of_requests);
        any(shim, (Ends::Test, requests), call.index.ptr(), call.flag.ptr(), call.status, pass)
    };
    request_get_status_any(Request_get_status_any): |shim, call, pass| {
        let requests = &mut copied(call.count, call.array_of_requests);
        any(shim, (Ends::Look, requests), call.index.ptr(), call.flag.ptr(), call.status, pass)
    };
    waitall(Waitall): |shim, call, pass| {
        let requests = array(call.count, call.array_of_requests);
        all(shim, (Ends::Wait, requests), &mut 0, call.array_of_statuses, pass)
    };
    testall(Testall): |shim, call, pass| {
        let requests = array(call.count, call.array_of_requests);
        all(shim, (Ends::Test, requests), call.flag.ptr(), call.array_of_statuses, pass)
    };
    request_get_status_all(Request_get_status_all): |shim, call, pass| {
        let requests = &mut copied(call.count, call.array_of_requests);
        all(shim, (Ends::Look, requests), call.flag.ptr(), call.array_of_statuses, pass)
    };
    waitsome(Waitsome): |shim, call, pass| waiting::during(&shim.engine, || {
        let requests = array(call.incount, call.array_of_requests);
        let results = (call.outcount.ptr(), call.array_of_indices, call.array_of_statuses);
        some(shim, (Ends::Wait, requests), results, pass)
    });
    testsome(Testsome): |shim, call, pass| {
        let requests = array(call.incount, call.array_of_requests);
        let results = (call.outcount.ptr(), call.array_of_indices, call.array_of_statuses);
        some(shim, (Ends::Test, requests), results, pass)
    };
    request_get_status_some(Request_get_status_some): |shim, call, pass| {
        let requests = &mut copied(call.incount, call.array_of_requests);
        let results = (call.outcount.ptr(), call.array_of_indices, call.array_of_statuses);
        some(shim, (Ends::Look, requests), results, pass)
    };
    // Another thread may wait for the request.
    cancel(Cancel): |shim, call, pass| match shim.requests.inner(call.request.get()) {
        Some(mut inner) => real::MPI_Cancel(&raw mut inner),
        None => pass(),
    };
    // A pending operation goes on detached.
    request_free(Request_free): |shim, call, pass| {
        let Some(mut record) = shim.requests.remove(call.request.get()) else { return pass() };
        if let Some(active) = record.slot().take() {
            shim.requests.detach(active, false);
        }
        if record.template().is_some() {
            return pass(); // a persistent request has a handle of the MPI
        }
        call.request.set(REQUEST_NULL);
        SUCCESS
    };
}

/// Wait, Test and Request_get_status.
unsafe fn one(
    shim: &Shim,
    (ends, request): (Ends, &mut [MPI_Request]),
    flag: *mut c_int,
    status: Out<MPI_Status>,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let mut slots = Few::new();
        let Some(mut batch) = Batch::of(shim, ends, request, &mut slots) else { return pass() };
        let mut found = empty_status();
        waiting::during_long(&shim.engine, batch.longest(), || {
            if ends == Ends::Wait {
                // For a single receive, the MPI can report what has arrived.
                until(shim, || {
                    let (ready, alone) = (batch.advance(), shim.may_wait() && batch.is_receive());
                    (alone || ready && (shim.may_wait() || batch.is_complete())).then_some(())
                });
                batch.wait_for_all();
            } else if !batch.advance() {
                *flag = 0;
                return SUCCESS;
            }
            let code = batch.ask(|_, request| match ends {
                Ends::Wait => open::MPI_Wait(request, &raw mut found),
                Ends::Test => open::MPI_Test(request, flag, &raw mut found),
                Ends::Look => open::MPI_Request_get_status(*request, flag, &raw mut found),
            });
            if code == SUCCESS && *flag == 0 {
                return SUCCESS;
            }
            end_one(batch, code, Some(0), &mut found, status)
        })
    }
}

/// Ends a call that completes one request. `completed`: its index, or `None` if there was no request.
unsafe fn end_one(
    mut batch: Batch<'_>,
    code: c_int,
    completed: Option<usize>,
    found: &mut MPI_Status,
    place: Out<MPI_Status>,
) -> c_int {
    match completed {
        // SAFETY: the caller vouches for the completion.
        Some(i) if code == SUCCESS => unsafe { batch.finish_one(i, found, place) },
        _ if code != SUCCESS && batch.ends == Ends::Look => code,
        failed => {
            if let Some(i) = failed {
                batch.failed(i, found);
            }
            place.store(found);
            code
        }
    }
}

/// Waitany, Testany and Request_get_status_any.
unsafe fn any(
    shim: &Shim,
    (ends, requests): (Ends, &mut [MPI_Request]),
    index: *mut c_int,
    flag: *mut c_int,
    status: Out<MPI_Status>,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let Some(index) = index.as_mut() else { return pass() };
        let mut slots = Few::new();
        let Some(mut batch) = Batch::of(shim, ends, requests, &mut slots) else { return pass() };
        let mut found = empty_status();
        let given = std::mem::replace(index, UNDEFINED);
        waiting::during_long(&shim.engine, batch.longest(), || {
            let code = until(shim, || {
                let ready = batch.advance();
                let waits = ends == Ends::Wait && ready && shim.may_wait();
                let found = &raw mut found;
                *flag = c_int::from(waits);
                let code = batch.ask(|count, requests| match ends {
                    Ends::Look => open::MPI_Request_get_status_any(count, requests, index, flag, found),
                    Ends::Wait if waits => open::MPI_Waitany(count, requests, index, found),
                    Ends::Wait | Ends::Test => open::MPI_Testany(count, requests, index, flag, found),
                });
                if *index == UNDEFINED && !ready {
                    *flag = 0; // some requests are not ready
                }
                (ends != Ends::Wait || code != SUCCESS || *flag != 0).then_some(code)
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

/// Waitall, Testall and Request_get_status_all.
unsafe fn all(
    shim: &Shim,
    (ends, requests): (Ends, &mut [MPI_Request]),
    flag: *mut c_int,
    statuses: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        let mut slots = Few::new();
        let Some(mut batch) = Batch::of(shim, ends, requests, &mut slots) else { return pass() };
        let mut found = Few::from_elem(empty_status(), batch.len());
        waiting::during_long(&shim.engine, batch.longest(), || {
            let code = until(shim, || {
                let found = found.as_mut_ptr();
                if !batch.advance() {
                    *flag = 0;
                    return (ends != Ends::Wait).then_some(SUCCESS);
                }
                if ends == Ends::Wait && shim.may_wait() {
                    *flag = 1;
                    return Some(batch.ask(|count, requests| open::MPI_Waitall(count, requests, found)));
                }
                let code = batch.ask(|count, requests| match ends {
                    Ends::Look => open::MPI_Request_get_status_all(count, requests, flag, found),
                    Ends::Wait | Ends::Test => open::MPI_Testall(count, requests, flag, found),
                });
                (ends != Ends::Wait || code != SUCCESS || *flag != 0).then_some(code)
            });
            let is_known = code == ERR_IN_STATUS || code == SUCCESS && *flag != 0;
            if is_known { batch.finish_many(0..found.len(), &mut found, statuses, code) } else { code }
        })
    }
}

/// Waitsome, Testsome and Request_get_status_some.
unsafe fn some(
    shim: &Shim,
    (ends, requests): (Ends, &mut [MPI_Request]),
    (outcount, indices, statuses): (*mut c_int, *mut c_int, *mut MPI_Status),
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the program's own arguments; the MPI fills `outcount` entries of the arrays.
    unsafe {
        let mut slots = Few::new();
        let Some(mut batch) = Batch::of(shim, ends, requests, &mut slots) else { return pass() };
        let mut found = Few::from_elem(empty_status(), batch.len());
        let code = until(shim, || {
            let ready = batch.advance();
            let waits = ends == Ends::Wait && ready && shim.may_wait();
            let found = found.as_mut_ptr();
            let code = batch.ask(|count, requests| match ends {
                Ends::Look => open::MPI_Request_get_status_some(count, requests, outcount, indices, found),
                Ends::Wait if waits => open::MPI_Waitsome(count, requests, outcount, indices, found),
                Ends::Wait | Ends::Test => open::MPI_Testsome(count, requests, outcount, indices, found),
            });
            if *outcount == UNDEFINED && !ready {
                *outcount = 0; // some requests are not ready
            }
            (waits || ends != Ends::Wait || code != SUCCESS || *outcount != 0).then_some(code)
        });
        let completed = usize::try_from(*outcount).unwrap_or(0);
        if *outcount == UNDEFINED || (code != SUCCESS && code != ERR_IN_STATUS) || completed > found.len() {
            return code;
        }
        let which = slice::from_raw_parts(indices, completed).iter().filter_map(|&i| usize::try_from(i).ok());
        batch.finish_many(which, &mut found[..completed], statuses, code)
    }
}
