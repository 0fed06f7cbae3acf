//! Request_get_status, and its forms for several requests, which MPI 4.1 added. The requests remain, so a completed receive is delivered at
//! once, and its status kept.

use super::batch::{Batch, store_statuses};
use crate::mpi::arguments;
use crate::mpi::open;
use crate::mpi::span::store_status;
use crate::mpi::sys::*;
use crate::operations::requests::InUse;
use crate::operations::state::Shim;
use std::ffi::c_int;
use std::slice;

impl Batch<'_> {
    /// Finishes the requests `which`, which have completed with the statuses `found`, and remain with the program.
    ///
    /// # Safety
    /// They must be the MPI's results.
    unsafe fn finish_early(&mut self, which: &[c_int], found: &mut [MPI_Status]) {
        let shim = self.shim;
        for (&i, status) in which.iter().zip(found) {
            let record = usize::try_from(i).ok().and_then(|i| self.record(i));
            if let Some(active) = record.and_then(InUse::active).filter(|active| !active.is_truncated(status))
            {
                // SAFETY: the caller vouches for the completion.
                unsafe { active.finish_early(shim, status) };
            }
        }
    }
}

pub(crate) unsafe fn request_get_status(
    shim: &Shim,
    call: arguments::Request_get_status,
    pass: impl Fn() -> c_int,
) -> c_int {
    let arguments::Request_get_status { mut request, flag, status } = call;
    // SAFETY: the program's own arguments. `request` is our copy of the handle: the batch may write to it.
    unsafe {
        let Some(mut batch) = Batch::using(shim, 1, &raw mut request, false) else { return pass() };
        let mut found = empty_status();
        if !batch.advance() {
            *flag = 0;
            return SUCCESS;
        }
        let code = open::MPI_Request_get_status(batch.only(), flag, &raw mut found);
        if code != SUCCESS || *flag == 0 {
            return code;
        }
        batch.finish_early(&[0], slice::from_mut(&mut found));
        store_status(status, &found);
        SUCCESS
    }
}

pub(crate) unsafe fn request_get_status_any(
    shim: &Shim,
    call: arguments::Request_get_status_any,
    pass: impl Fn() -> c_int,
) -> c_int {
    let arguments::Request_get_status_any { count, array_of_requests: requests, index, flag, status } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        let mut handles = Handles::copy(count, requests);
        let Some(mut batch) = handles.batch(shim) else { return pass() };
        let mut found = empty_status();
        let ready = batch.advance();
        let code = batch
            .ask(|count, inner| open::MPI_Request_get_status_any(count, inner, index, flag, &raw mut found));
        if *index == UNDEFINED && !ready {
            *flag = 0; // some requests are not ready
        }
        if code == SUCCESS && *flag != 0 {
            batch.finish_early(slice::from_ref(&*index), slice::from_mut(&mut found));
            store_status(status, &found);
        }
        code
    }
}

pub(crate) unsafe fn request_get_status_all(
    shim: &Shim,
    call: arguments::Request_get_status_all,
    pass: impl Fn() -> c_int,
) -> c_int {
    let arguments::Request_get_status_all {
        count,
        array_of_requests: requests,
        flag,
        array_of_statuses: statuses,
    } = call;
    // SAFETY: the program's own arguments.
    unsafe {
        let mut handles = Handles::copy(count, requests);
        let Some(mut batch) = handles.batch(shim) else { return pass() };
        let mut found = vec![empty_status(); batch.len()];
        if !batch.advance() {
            *flag = 0;
            return SUCCESS;
        }
        let found_at = found.as_mut_ptr();
        let code = batch.ask(|count, inner| open::MPI_Request_get_status_all(count, inner, flag, found_at));
        if code == SUCCESS && *flag != 0 {
            let all: Vec<c_int> = (0..count).collect();
            batch.finish_early(&all, &mut found);
            store_statuses(statuses, &found, SUCCESS);
        }
        code
    }
}

pub(crate) unsafe fn request_get_status_some(
    shim: &Shim,
    call: arguments::Request_get_status_some,
    pass: impl Fn() -> c_int,
) -> c_int {
    let arguments::Request_get_status_some { incount: count, array_of_requests: requests, outcount, .. } =
        call;
    let (indices, statuses) = (call.array_of_indices, call.array_of_statuses);
    // SAFETY: the program's own arguments; the MPI fills `outcount` entries of the arrays.
    unsafe {
        let mut handles = Handles::copy(count, requests);
        let Some(mut batch) = handles.batch(shim) else { return pass() };
        let mut found = vec![empty_status(); batch.len()];
        let ready = batch.advance();
        let found_at = found.as_mut_ptr();
        let code = batch
            .ask(|count, inner| open::MPI_Request_get_status_some(count, inner, outcount, indices, found_at));
        if *outcount == UNDEFINED && !ready {
            *outcount = 0; // some requests are not ready
        }
        let completed = usize::try_from(*outcount).unwrap_or(0);
        if code == SUCCESS && *outcount != UNDEFINED && completed <= found.len() {
            batch.finish_early(slice::from_raw_parts(indices, completed), &mut found);
            store_statuses(statuses, &found[..completed], SUCCESS);
        }
        code
    }
}

/// Copies of the program's handles, for calls that must leave these unchanged: a batch may change its own.
struct Handles(Vec<MPI_Request>);

impl Handles {
    /// # Safety
    /// `requests` must be the program's array.
    unsafe fn copy(count: c_int, requests: *const MPI_Request) -> Self {
        let count = if requests.is_null() { 0 } else { usize::try_from(count).unwrap_or(0) };
        // SAFETY: the caller vouches for the array, which is not accessed if `count` is not positive.
        Self((0..count).map(|i| unsafe { *requests.add(i) }).collect())
    }

    fn batch<'a>(&'a mut self, shim: &'a Shim) -> Option<Batch<'a>> {
        // SAFETY: the count is that of the handles.
        unsafe { Batch::using(shim, c_int::try_from(self.0.len()).ok()?, self.0.as_mut_ptr(), false) }
    }
}
