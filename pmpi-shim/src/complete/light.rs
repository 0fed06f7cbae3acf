//! The completion of light receives. What is not a raw message that came without an error goes on as with any other receive.

use super::{Batch, all, store_statuses};
use crate::light::{MOST, Receive};
use crate::mpi::open;
use crate::progress::settle_light;
use crate::requests::{Few, Record};
use crate::span::store_status;
use crate::state::Shim;
use crate::sys::*;
use crate::waiting;
use std::ffi::c_int;
use std::slice;

impl<'a> Batch<'a> {
    /// Requests that the MPI has completed, or some of them, with the records of those that are light receives.
    fn completed(
        shim: &'a Shim,
        requests: &'a mut [MPI_Request],
        inner: Few<MPI_Request>,
        records: Few<Option<Box<Record>>>,
    ) -> Self {
        let ready = Few::of(requests, |_| true);
        Self { shim, requests, inner, records, ready }
    }
}

/// Wait for a light receive; `None` if the request is of none.
///
/// # Safety
/// As for `MPI_Wait`.
pub(super) unsafe fn wait(shim: &Shim, request: *mut MPI_Request, status: *mut MPI_Status) -> Option<c_int> {
    if shim.light.is_empty() || !shim.may_wait() {
        settle_light(shim);
        return None;
    }
    // SAFETY: the program's own request.
    let mut inner = unsafe { request.read() };
    let receive = shim.light.take(inner)?;
    let mut found = empty_status();
    Some(waiting::during_long(&shim.engine, receive.len(), || {
        // SAFETY: the program's request, its place for the status, and a valid output pointer.
        unsafe {
            let code = open::MPI_Wait(&raw mut inner, &raw mut found);
            completed(shim, receive, (request, inner), code, (&mut found, status))
        }
    }))
}

/// Test of a light receive; `None` if the request is of none.
///
/// # Safety
/// As for `MPI_Test`.
pub(super) unsafe fn test(
    shim: &Shim,
    request: *mut MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> Option<c_int> {
    if shim.light.is_empty() {
        return None;
    }
    // SAFETY: the program's own request.
    let mut inner = unsafe { request.read() };
    let receive = shim.light.take(inner)?;
    let mut found = empty_status();
    // SAFETY: the program's request, its places for flag and status, and a valid output pointer.
    unsafe {
        let code = open::MPI_Test(&raw mut inner, flag, &raw mut found);
        if code == SUCCESS && *flag == 0 {
            shim.light.put(receive);
            return Some(SUCCESS);
        }
        Some(completed(shim, receive, (request, inner), code, (&mut found, status)))
    }
}

/// A light receive has completed with this code and status, and then its request was `inner`.
unsafe fn completed(
    shim: &Shim,
    receive: Receive,
    (request, inner): (*mut MPI_Request, MPI_Request),
    code: c_int,
    (found, place): (&mut MPI_Status, *mut MPI_Status),
) -> c_int {
    // SAFETY: the caller vouches for the completion and the places.
    unsafe {
        if code == SUCCESS && !receive.has_frame(shim, found) {
            receive.count(found);
            *request = inner;
            store_status(place, found);
            return SUCCESS;
        }
        let record = Some(receive.into_record(shim, false));
        let requests = slice::from_raw_parts_mut(request, 1);
        let mut batch = Batch::completed(shim, requests, Few::One([inner]), Few::One([record]));
        if code == SUCCESS {
            return batch.finish_one(0, found, place);
        }
        batch.failed(0, found);
        store_status(place, found);
        code
    }
}

/// Waitall for requests some of which are light receives, and none has a record; `None` if it is not so.
///
/// # Safety
/// As for `MPI_Waitall`.
pub(super) unsafe fn waitall(
    shim: &Shim,
    count: c_int,
    requests: *mut MPI_Request,
    statuses: *mut MPI_Status,
) -> Option<c_int> {
    if shim.light.is_empty() {
        return None;
    }
    let len = usize::try_from(count).ok().filter(|len| (1..=2 * MOST).contains(len));
    let Some(len) = len.filter(|_| shim.requests.is_empty() && shim.may_wait()) else {
        settle_light(shim);
        return None;
    };
    // SAFETY: the program's own array.
    let requests = unsafe { slice::from_raw_parts_mut(requests, len) };
    let receives: Vec<_> = requests.iter().map(|request| shim.light.take(*request)).collect();
    let longest = receives.iter().flatten().map(Receive::len).max()?;
    let mut found = vec![empty_status(); len];
    Some(waiting::during_long(&shim.engine, longest, || {
        let mut after = requests.to_vec();
        // SAFETY: requests of the program, and as many valid statuses.
        let code = unsafe { open::MPI_Waitall(count, after.as_mut_ptr(), found.as_mut_ptr()) };
        let received =
            || receives.iter().zip(&found).filter_map(|(receive, status)| Some((receive.as_ref()?, status)));
        // SAFETY: all of them have completed without an error.
        if code == SUCCESS && !received().any(|(receive, status)| unsafe { receive.has_frame(shim, status) })
        {
            received().for_each(|(receive, status)| receive.count(status));
            requests.copy_from_slice(&after);
            // SAFETY: the program's own array.
            unsafe { store_statuses(statuses, &found, SUCCESS) };
            return SUCCESS;
        }
        let records = receives.into_iter().zip(&after);
        let records =
            records.map(|(receive, after)| Some(receive?.into_record(shim, *after != REQUEST_NULL)));
        let records = records.collect();
        let batch = Batch::completed(shim, requests, Few::Many(after), Few::Many(records));
        // SAFETY: the caller vouches for the array; these are the results of its requests.
        unsafe { all(batch, code, &mut found, statuses) }
    }))
}
