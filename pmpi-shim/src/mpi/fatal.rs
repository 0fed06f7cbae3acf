//! What ends the job: a rank that cannot do its part, on which others wait.

use super::real;
use super::sys::*;
use std::ffi::c_int;

/// Ends the job, since this rank cannot do its part: other ranks would wait for ever, or take wrong data for the result.
pub(crate) fn give_up(what: impl std::fmt::Display, comm: MPI_Comm, code: c_int) -> ! {
    say!("mpress: {what}; the job ends");
    // SAFETY: the program's communicator.
    unsafe { PMPI_Abort(comm, code) };
    std::process::abort()
}

/// Waits for an operation of the shim's start, which all ranks have agreed to make. If it fails, ends the job, since the others would wait
/// for ever. `code`: the result of the call that started it. It pauses between polls: most MPIs spin while they wait, and with fewer cores
/// than ranks this slows the ranks that they wait for.
pub(crate) fn await_all(code: c_int, mut request: MPI_Request) {
    let must = |code| {
        ok(code).unwrap_or_else(|code| {
            give_up("a message at the start of the job failed, which other ranks wait for", COMM_WORLD, code)
        })
    };
    must(code);
    let mut done = 0;
    loop {
        // SAFETY: our own request, a valid output pointer.
        must(unsafe { real::MPI_Test(&raw mut request, &raw mut done, STATUS_IGNORE) });
        if done != 0 {
            return;
        }
        std::thread::yield_now();
    }
}
