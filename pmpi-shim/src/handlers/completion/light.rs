//! The completion of light receives. What is not a raw message that came without an error goes on as with any other receive.

use super::{Batch, all, store_statuses};
use crate::messages::waiting;
use crate::mpi::open;
use crate::mpi::span::store_status;
use crate::mpi::sys::*;
use crate::operations::light::{MOST, Receive};
use crate::operations::requests::Few;
use crate::operations::state::Shim;
use crate::progress::settle_light;
use std::ffi::c_int;
use std::slice;

/// Light receives, and perhaps other requests without a record, while the MPI completes them. If it fails, its error handler may leave the call by an
/// exception: then they are records again, as those of a [`Batch`] are.
struct Waiting<'a> {
    shim: &'a Shim,
    requests: &'a mut [MPI_Request],
    /// The requests as the MPI leaves them.
    after: Few<MPI_Request>,
    receives: Few<Option<Receive>>,
}

impl<'a> Waiting<'a> {
    /// Takes the only one of these requests, if it is a light receive.
    fn one(shim: &'a Shim, requests: &'a mut [MPI_Request]) -> Option<Self> {
        let receive = shim.light.take(*requests.first()?)?;
        let after = Few::of(requests, |request| *request);
        Some(Self { shim, requests, after, receives: Few::One([Some(receive)]) })
    }

    /// The greatest length of a message.
    fn longest(&self) -> usize {
        self.receives.iter().flatten().map(Receive::len).max().unwrap_or(0)
    }

    /// All have completed without an error, with these statuses. Returns whether all messages are raw: then nothing is left to do.
    ///
    /// # Safety
    /// These must be the statuses of the requests.
    unsafe fn are_raw(&mut self, found: &[MPI_Status]) -> bool {
        let received = || {
            let all = self.receives.iter().zip(found);
            all.filter_map(|(receive, status)| Some((receive.as_ref()?, status)))
        };
        // SAFETY: the caller vouches for the statuses.
        if received().any(|(receive, status)| unsafe { receive.has_frame(self.shim, status) }) {
            return false;
        }
        received().for_each(|(receive, status)| receive.count(status));
        self.requests.copy_from_slice(&self.after);
        self.receives.iter_mut().for_each(|receive| *receive = None);
        true
    }

    /// The same as a batch of records.
    fn take_batch(&mut self) -> Batch<'a> {
        let requests = std::mem::take(&mut self.requests);
        let (inner, mut receives) = (std::mem::take(&mut self.after), std::mem::take(&mut self.receives));
        let records = receives
            .iter_mut()
            .zip(inner.iter())
            .map(|(receive, after)| Some(receive.take()?.into_record(self.shim, *after != REQUEST_NULL)));
        let records = Few::Many(records.collect());
        let ready = Few::of(&inner, |_| true);
        Batch { shim: self.shim, requests, inner, records, ready }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.receives.iter().any(Option::is_some) {
            drop(self.take_batch());
        }
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
    let mut waiting = Waiting::one(shim, unsafe { slice::from_raw_parts_mut(request, 1) })?;
    Some(waiting::during_long(&shim.engine, waiting.longest(), || {
        let mut found = [empty_status()];
        // SAFETY: a request of the program, its place for the status, and a valid output pointer.
        unsafe {
            let code = open::MPI_Wait(waiting.after.as_mut_ptr(), found.as_mut_ptr());
            completed(waiting, code, &mut found, status)
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
    let mut waiting = Waiting::one(shim, unsafe { slice::from_raw_parts_mut(request, 1) })?;
    let mut found = [empty_status()];
    // SAFETY: a request of the program, its places for flag and status, and a valid output pointer.
    unsafe {
        let code = open::MPI_Test(waiting.after.as_mut_ptr(), flag, found.as_mut_ptr());
        if code == SUCCESS && *flag == 0 {
            waiting.receives.iter_mut().filter_map(Option::take).for_each(|receive| shim.light.put(receive));
            return Some(SUCCESS);
        }
        Some(completed(waiting, code, &mut found, status))
    }
}

/// Ends a call for a single light receive, which returned this code and status.
unsafe fn completed(
    mut waiting: Waiting<'_>,
    code: c_int,
    found: &mut [MPI_Status; 1],
    place: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller vouches for the completion and the place.
    unsafe {
        if code == SUCCESS && waiting.are_raw(found) {
            store_status(place, &found[0]);
            return SUCCESS;
        }
        let mut batch = waiting.take_batch();
        if code == SUCCESS {
            return batch.finish_one(0, &mut found[0], place);
        }
        batch.failed(0, &found[0]);
        store_status(place, &found[0]);
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
    let receives = Few::of(requests, |request| shim.light.take(*request));
    if receives.iter().all(Option::is_none) {
        return None;
    }
    let after = Few::of(requests, |request| *request);
    let mut waiting = Waiting { shim, requests, after, receives };
    let mut found = vec![empty_status(); len];
    Some(waiting::during_long(&shim.engine, waiting.longest(), || {
        // SAFETY: requests of the program, as many valid statuses, and the program's array for them.
        unsafe {
            let code = open::MPI_Waitall(count, waiting.after.as_mut_ptr(), found.as_mut_ptr());
            if code == SUCCESS && waiting.are_raw(&found) {
                store_statuses(statuses, &found, SUCCESS);
                return SUCCESS;
            }
            all(waiting.take_batch(), code, &mut found, statuses)
        }
    }))
}
