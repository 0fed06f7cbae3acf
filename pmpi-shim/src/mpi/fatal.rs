//! Ends the job if a rank cannot do its part while others wait for it.

use super::{channel::test, sys::*};

/// Ends the job, since this rank cannot do its part: other ranks would wait for ever, or take wrong data for the result.
pub(crate) fn give_up(what: impl std::fmt::Display, code: c_int) -> ! {
    say!("mpress: {what}; the job ends");
    PMPI_Abort(COMM_WORLD, code);
    std::process::abort()
}

/// The same, for want of memory for this number of bytes of `what`.
pub(crate) fn no_memory(len: usize, what: &str) -> ! {
    give_up(format_args!("no memory for {len} bytes of {what} that other ranks wait for"), ERR_NO_MEM)
}

/// Waits for an operation of the shim's start, which all ranks have agreed to make. If it fails, ends the job, since the others would wait for ever.
/// `request`: the result of the call that started it. It pauses between polls: most MPIs spin while they wait, and with fewer cores than ranks this
/// slows the ranks that they wait for.
pub(crate) fn await_all(request: Result<MPI_Request, c_int>) {
    let done = request.and_then(|mut request| {
        loop {
            if let Some(done) = test(&mut request) {
                return done;
            }
            std::thread::yield_now();
        }
    });
    if let Err(code) = done {
        give_up("a message at the start of the job failed, which other ranks wait for", code);
    }
}
