//! MPI's calls on compressed messages: the layer that the PMPI shim and the adapter for rsmpi share, and the shim itself.
//!
//! Built once per ABI, with its types and constants (`abi/`). The packages in `openmpi/`, `mpich/` and `standard/` are the shim: loaded
//! into an MPI program, it compresses the program's messages. The package `mpress-layer` leaves out what only the shim has (`cfg(shim)`:
//! exported functions, the panic hook, the handshake in `MPI_Init`), and is built for the ABI of the installed MPI: a program attaches it
//! to one communicator, and makes the [`calls`] with it.
//!
//! `docs/shim.md` describes what each wrapped call does, and why a call that does not know frames never receives one;
//! `docs/format/frame.md` describes frames.
//!
//! The preload library (`preload/`) redirects the program's calls to the shim. Imports go only from each of these groups to those below:
//!
//! - `exports`: the exported functions, generated from `calls.txt` and `functions.txt`; `attach`, the interface to the layer without the
//!   shim; `calibrate`, called only by `mpress calibrate`;
//! - `startup`, which makes the shared state, at once or when it wakes (`dormant`), and `finish`, which reports; `calls`: those that have
//!   handlers;
//! - the handlers: `send`, `recv`, `sendrecv`, `persistent`, `probe`, `matched`, `complete`, `collective`, `info`, `packing`;
//! - `progress`, which advances pending operations while a call waits;
//! - `state`, shared by the handlers: pending operations (`requests`, receives that are `light`, `orphans`, the `stash` of `early` messages,
//!   messages looked for `ahead`) and the context;
//! - messages being sent (`wire`) and received (`posted`, `deliver`; `decoded` before the program asks), in chunks (`streams`), the ranks
//!   they may come from (`peers`), and their `elements` in memory;
//! - `recording` selects which of the program's calls the `recorder`, part of `context`, records, by their `callsite`s;
//! - `context`: what is known from the start (`world`, `strategies`, `agreed` for collectives), the memory of pending receives (`in_place`),
//!   bytes `pending` to be sent, and statistics of receiving ahead (`foreseen`);
//! - `datatypes`: the program's derived datatypes, decoded;
//! - `arguments`, `span`, `error`, `generalized` requests and other `operation`s of the MPI, `passed` calls, `device` (GPU memory),
//!   `waiting` (the time that this rank waits), `measure` (of the network), `identity` and `family` of the MPI;
//! - `mpi`: the MPI's own functions, `handle`s as keys, and `sys`: the ABI. `symbol` finds the functions; `panics` ends the job where a
//!   function of the shim would unwind.

// The layer alone does not use some items that only C programs need from the shim.
#![cfg_attr(not(shim), allow(dead_code))]

/// Prints a line on stderr. A line that cannot be written is lost, whereas `eprintln` would panic.
macro_rules! say {
    ($($word:tt)*) => {{
        use std::io::Write as _;
        // In one write: ranks share a terminal.
        let _lost = std::io::stderr().write_all((format!($($word)*) + "\n").as_bytes());
    }};
}

mod agreed;
mod ahead;
mod arguments;
#[cfg(not(shim))]
mod attach;
#[cfg(shim)]
mod calibrate;
pub mod calls;
mod callsite;
mod collective;
mod complete;
mod context;
mod datatypes;
mod decoded;
mod deliver;
mod device;
mod dormant;
mod early;
mod elements;
mod error;
#[cfg(shim)]
mod exports;
mod family;
mod finish;
mod foreseen;
mod generalized;
mod handle;
mod host;
mod identity;
mod in_place;
mod info;
mod light;
mod matched;
mod measure;
mod mpi;
mod operation;
mod orphans;
mod packing;
#[cfg(shim)]
mod panics;
mod passed;
mod peers;
mod pending;
mod persistent;
mod posted;
mod probe;
mod progress;
mod recorder;
mod recording;
mod recv;
mod requests;
mod send;
mod sendrecv;
mod span;
mod spent;
mod startup;
mod stash;
mod state;
mod strategies;
mod streams;
mod symbol;
mod sys;
mod waiting;
mod wire;
mod world;

#[cfg(not(shim))]
pub use attach::{AttachError, attach, detach, mprobe};
pub use error::{Found, found};
pub use state::Shim as Layer;
pub use sys::{
    ERR_NO_MEM, ERR_TRUNCATE, MPI_Comm, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status, REQUEST_NULL,
    SUCCESS,
};
pub use wire::as_kind;
