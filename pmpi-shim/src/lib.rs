//! MPI's calls on compressed messages: the layer that the PMPI shim and the adapter for rsmpi share, and the shim itself.
//!
//! Built once per ABI, with its types and constants (`abi/`). The packages in `openmpi/`, `mpich/` and `standard/` are the shim: loaded into an MPI
//! program, it compresses the program's messages. The package `mpress-layer` leaves out what only the shim has (`cfg(shim)`: exported functions, the
//! panic hook, the handshake in `MPI_Init`), and is built for the ABI of the installed MPI: a program attaches it to one communicator, and makes the
//! [`calls`] with it.
//!
//! `docs/shim.md` describes what users see, `README.md` beside this file how it works and why, layer by layer, and `docs/format/frame.md` frames.
//!
//! The preload library (`preload/`) redirects the program's calls to the shim. The folders are layers: each uses only those below it.
//!
//! - `edge`: the functions that programs call;
//! - `job`: from `MPI_Init` to `MPI_Finalize`;
//! - `collectives`;
//! - `handlers` of all other calls;
//! - `progress` of pending operations, in each call and while one waits;
//! - `operations`: what is pending;
//! - `messages` on the wire, sent and received;
//! - `mpi`: the MPI below, as C declares it.

// Some items are only for the shim, and the layer alone does not use them.
#![cfg_attr(not(shim), allow(dead_code))]

/// Prints a line on stderr. A line that cannot be written is lost, whereas `eprintln` would panic.
macro_rules! say {
    ($($word:tt)*) => {{
        use std::io::Write as _;
        // In one write: ranks share a terminal.
        let _lost = std::io::stderr().write_all((format!($($word)*) + "\n").as_bytes());
    }};
}

/// Defines handlers of calls. Each gets the arguments of its call, and `pass`, which makes the call by the MPI alone. Most bodies call an
/// unsafe function to which the program's arguments may be given, so all of a body is in one unsafe block.
macro_rules! handlers {
    ($($name:ident($arguments:ident): |$shim:ident, $call:ident, $pass:ident| $made:expr;)*) => {$(
        #[allow(unused_unsafe, reason = "some bodies need none")]
        pub(crate) unsafe fn $name(
            $shim: &Shim,
            $call: arguments::$arguments,
            $pass: impl Fn() -> c_int,
        ) -> c_int {
            // SAFETY: the program's own arguments.
            unsafe { $made }
        }
    )*};
}

/// A lock that ignores poisoning: a panic cannot leave what it has inconsistent, and ends the job.
fn locked<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

mod collectives;
mod edge;
mod handlers;
mod job;
mod messages;
mod mpi;
mod operations;
mod progress;

#[cfg(not(shim))]
pub use edge::attach::{AttachError, attach, detach, mprobe};
pub use edge::calls;
pub use messages::error::{Found, found};
pub use messages::wire::as_kind;
pub use mpi::sys::{
    ERR_NO_MEM, ERR_TRUNCATE, MPI_Comm, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status, REQUEST_NULL,
    SUCCESS,
};
pub use operations::state::Shim as Layer;
