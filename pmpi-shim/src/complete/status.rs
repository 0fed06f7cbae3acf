//! Request_get_status, and its forms for several requests, which came with MPI 4.1. The requests stay; so what a completed receive brought
//! is set right now, and its status kept.

use super::{Batch, store_statuses};
use crate::span::store_status;
use crate::state::Shim;
use crate::sys::*;
use crate::table::open;
use std::ffi::c_int;
use std::slice;

impl Batch<'_> {
    /// The requests `which` have completed with the statuses `found`, and stay with the program.
    ///
    /// # Safety
    /// They must be what the MPI gave.
    unsafe fn finish_early(&mut self, which: &[c_int], found: &mut [MPI_Status]) {
        for (&i, status) in which.iter().zip(found) {
            let record =
                usize::try_from(i).ok().and_then(|i| self.records.get_mut(i)).and_then(Option::as_mut);
            if let Some(active) = record.and_then(|record| record.active.as_mut()) {
                // SAFETY: the caller vouches for the completion.
                unsafe { active.finish_early(self.shim, status) };
            }
        }
    }
}

/// Request_get_status.
pub(crate) unsafe fn get(
    shim: &Shim,
    mut request: MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the program's own arguments. `request` is our copy of the handle: the batch may write to it.
    unsafe {
        let Some(mut batch) = Batch::take(shim, 1, &raw mut request) else { return pass() };
        let mut found = empty_status();
        let code = open::MPI_Request_get_status(batch.inner[0], flag, &raw mut found);
        if code != SUCCESS || *flag == 0 {
            return code;
        }
        batch.finish_early(&[0], slice::from_mut(&mut found));
        store_status(status, &found);
        SUCCESS
    }
}

/// Request_get_status_any, and like it the two below. `ask`: the MPI's own call, with its requests and a place for what it says.
#[allow(dead_code, reason = "MPIs before 4.1 have none of the three")]
pub(crate) unsafe fn any(
    shim: &Shim,
    requests: (c_int, *const MPI_Request),
    place: (*mut c_int, *mut c_int),
    status: *mut MPI_Status,
    ask: impl Fn(*const MPI_Request, *mut MPI_Status) -> c_int,
) -> c_int {
    let (index, flag) = place;
    // SAFETY: the program's own arguments.
    unsafe {
        let mut handles = Handles::copy(requests);
        let Some(mut batch) = handles.batch(shim) else { return ask(requests.1, status) };
        let mut found = empty_status();
        let code = ask(batch.inner.as_ptr(), &raw mut found);
        if code == SUCCESS && *flag != 0 {
            batch.finish_early(slice::from_ref(&*index), slice::from_mut(&mut found));
            store_status(status, &found);
        }
        code
    }
}

/// Request_get_status_all.
#[allow(dead_code, reason = "as above")]
pub(crate) unsafe fn all(
    shim: &Shim,
    requests: (c_int, *const MPI_Request),
    flag: *mut c_int,
    statuses: *mut MPI_Status,
    ask: impl Fn(*const MPI_Request, *mut MPI_Status) -> c_int,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let mut handles = Handles::copy(requests);
        let Some(mut batch) = handles.batch(shim) else { return ask(requests.1, statuses) };
        let mut found = vec![empty_status(); batch.inner.len()];
        let code = ask(batch.inner.as_ptr(), found.as_mut_ptr());
        if code == SUCCESS && *flag != 0 {
            let all: Vec<c_int> = (0..requests.0).collect();
            batch.finish_early(&all, &mut found);
            store_statuses(statuses, &found, SUCCESS);
        }
        code
    }
}

/// Request_get_status_some.
#[allow(dead_code, reason = "as above")]
pub(crate) unsafe fn some(
    shim: &Shim,
    requests: (c_int, *const MPI_Request),
    place: (*mut c_int, *mut c_int),
    statuses: *mut MPI_Status,
    ask: impl Fn(*const MPI_Request, *mut MPI_Status) -> c_int,
) -> c_int {
    let (outcount, indices) = place;
    // SAFETY: the program's own arguments; the MPI fills `outcount` entries of the arrays.
    unsafe {
        let mut handles = Handles::copy(requests);
        let Some(mut batch) = handles.batch(shim) else { return ask(requests.1, statuses) };
        let mut found = vec![empty_status(); batch.inner.len()];
        let code = ask(batch.inner.as_ptr(), found.as_mut_ptr());
        let completed = usize::try_from(*outcount).unwrap_or(0);
        if code == SUCCESS && *outcount != UNDEFINED && completed <= found.len() {
            batch.finish_early(slice::from_raw_parts(indices, completed), &mut found);
            store_statuses(statuses, &found[..completed], SUCCESS);
        }
        code
    }
}

/// Copies of the program's handles, for calls that leave these as they are: a batch may write to its own.
struct Handles(Vec<MPI_Request>);

impl Handles {
    /// # Safety
    /// `requests` must be what the program gave.
    unsafe fn copy((count, requests): (c_int, *const MPI_Request)) -> Self {
        let count = if requests.is_null() { 0 } else { usize::try_from(count).unwrap_or(0) };
        // SAFETY: the caller vouches for the array, which is not looked at where it may be none.
        Self((0..count).map(|i| unsafe { *requests.add(i) }).collect())
    }

    fn batch<'a>(&'a mut self, shim: &'a Shim) -> Option<Batch<'a>> {
        // SAFETY: as many handles as there are.
        unsafe { Batch::take(shim, c_int::try_from(self.0.len()).ok()?, self.0.as_mut_ptr()) }
    }
}
