//! A panic in the shim is a bug. It must not unwind into the program or the MPI, and must not end one rank while others wait for it. So it prints one
//! line with its location, and ends the job.
//!
//! This hook belongs to the shim's own copy of the standard library, which no other library in the process uses. It applies to all threads, and to
//! callbacks of the MPI. Exceptions other than Rust panics are not affected: a C++ error handler of the program may throw.

use crate::mpi::sys::*;
use std::{panic::PanicHookInfo, process::abort, thread, time::Duration};

/// Time limit for `MPI_Abort`, which would wait for ever if the panic came while the MPI held a lock.
const LIMIT: Duration = Duration::from_secs(10);

/// The dynamic linker calls this before any other code of the shim.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        std::panic::set_hook(Box::new(end_job));
    }
    at_load
};

/// Time for the launcher to read the line: when a job is aborted, MPICH's launcher drops unread output.
const TO_BE_READ: Duration = Duration::from_millis(200);

fn end_job(info: &PanicHookInfo<'_>) {
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let message = info.payload_as_str().unwrap_or("no message").replace('\n', " ");
    say!(
        "mpress: internal error at {place}: {message}; please report it; MPRESS_DISABLE=1 runs the program without compression"
    );
    let _ = thread::Builder::new().spawn(|| {
        thread::sleep(LIMIT);
        abort();
    });
    thread::sleep(TO_BE_READ);
    let (mut begun, mut ended) = (0, 0);
    let is_known = PMPI_Initialized(&mut begun) == SUCCESS && PMPI_Finalized(&mut ended) == SUCCESS;
    if is_known && begun != 0 && ended == 0 {
        PMPI_Abort(COMM_WORLD, 1);
    }
    abort();
}

/// Panics, in a new thread if `elsewhere`: the only way to test the hook in the shim as released. Programs have no reason to call this, and no
/// declaration of it.
#[unsafe(no_mangle)]
#[allow(clippy::panic, reason = "that is what it is for")]
extern "C-unwind" fn mpress_provoke_panic(elsewhere: c_int) {
    if elsewhere == 0 {
        panic!("provoked\nby a test");
    }
    let _ = thread::spawn(|| panic!("provoked\nby a test")).join();
}
