//! A panic of the shim is a mistake of ours. It must not unwind into the program or the MPI, nor end one rank while the others wait for
//! it; so it ends the job, with one line that says where it was.
//!
//! This is a hook of the shim's own standard library, of which no other library in the process knows. It holds for all threads, and
//! for callbacks of the MPI. What is no panic of Rust passes as ever: an error handler of the program's in C++ may throw.

use crate::sys::*;
use std::ffi::c_int;
use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::process::abort;
use std::thread;
use std::time::Duration;

/// How long `MPI_Abort` may take. It would wait for ever where the panic came while the MPI held a lock.
const LIMIT: Duration = Duration::from_secs(10);

/// The dynamic linker calls this before anything else of the shim can run.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        std::panic::set_hook(Box::new(end_job));
    }
    at_load
};

/// How long a launcher has to read the line: when a job is aborted, MPICH's drops what it has not read.
const TO_BE_READ: Duration = Duration::from_millis(200);

fn end_job(info: &PanicHookInfo<'_>) {
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let message = info.payload_as_str().unwrap_or("no message").replace('\n', " ");
    // What cannot be written is lost.
    let _ = writeln!(
        std::io::stderr(),
        "mpress: internal error at {place}: {message}; please report it; MPRESS_DISABLE=1 runs the program without compression"
    );
    let _ = thread::Builder::new().spawn(|| {
        thread::sleep(LIMIT);
        abort();
    });
    thread::sleep(TO_BE_READ);
    let (mut begun, mut ended) = (0, 0);
    // SAFETY: valid output pointers, which may be asked for at any time; between them there is a world to end.
    unsafe {
        if PMPI_Initialized(&raw mut begun) == SUCCESS
            && PMPI_Finalized(&raw mut ended) == SUCCESS
            && begun != 0
            && ended == 0
        {
            PMPI_Abort(COMM_WORLD, 1);
        }
    }
    abort();
}

/// Panics, in a thread of its own with `elsewhere`: there is no other way to test the above in the shim as it ships. Programs have no
/// reason to call this, and no declaration of it.
#[unsafe(no_mangle)]
#[allow(clippy::panic, reason = "that is what it is for")]
extern "C-unwind" fn mpress_provoke_panic(elsewhere: c_int) {
    if elsewhere == 0 {
        panic!("provoked\nby a test");
    }
    let _ = thread::spawn(|| panic!("provoked\nby a test")).join();
}
