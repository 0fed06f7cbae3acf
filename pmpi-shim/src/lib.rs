//! MPI's calls on compressed messages: the layer that the PMPI shim and the adapter for rsmpi have in common, and the shim.
//!
//! Built once per ABI, with the types and constants of that one (`abi/`). The packages in `openmpi/`, `mpich/` and `standard/` are the shim: loaded
//! into an MPI program, it compresses the program's messages. The package `mpress-layer` is the same without what only the shim has (`cfg(shim)`:
//! exported functions, the hook for panics, the handshake in `MPI_Init`), for the MPI that it is built for: a program attaches it to one
//! communicator, and makes the [`calls`] with it.
//!
//! What each wrapped call does, and why a frame never meets a call that
//! does not know frames, is written down in `docs/shim.md`; frames themselves in `docs/format/frame.md`.
//!
//! The preload library (`preload/`) has the program's calls come to the shim. Imports point one way, from each of these layers to those below:
//!
//! - `exports`: the functions for these calls, made from `calls.txt` and `functions.txt`; `attach`, the way into the layer without the shim;
//!   `calibrate`, called by `mpress calibrate` alone;
//! - `startup`, which makes the shared state, at once or when it awakes (`dormant`), and `finish`, which reports; `calls`: those that have handlers;
//! - the handlers: `send`, `recv`, `sendrecv`, `persistent`, `probe`, `matched`, `complete`, `collective`, `info`, `packing`;
//! - `progress`, which moves on what is under way while a call waits;
//! - `state`: what handlers share, which is what is under way (`requests`, `orphans`, `stash` of `early` messages, what is looked for `ahead`) and
//!   the context;
//! - a message on its way out (`wire`) and in (`posted`, `deliver`; `decoded` before it is asked for), in chunks (`streams`), whom it may come from (`peers`), and its
//!   `elements` in memory;
//! - `recording` tells the `recorder`, which `context` has, what is recorded of the program's calls, by their `callsite`s;
//! - `context`: what is known from the beginning (`world`, `strategies`, `agreed` for collectives), and the memory of pending receives
//!   (`in_place`, `covered`), what came of looking ahead (`foreseen`);
//! - `datatypes`: what is known of the program's derived datatypes;
//! - `arguments`, `span`, `error`, `generalized` requests and other `operation`s of the MPI's, `passed` calls, `device` (the memory of GPUs), `waiting` (for how long this rank
//!   waits), `measure` (of the network), `identity` and `family` of the MPI;
//! - `mpi`: the MPI's own functions, `handle`s as keys, and `sys`: the ABI. `symbol` finds the functions; `panics` ends the job where one of ours would unwind.

// The layer alone has no use for some of what only C programs can ask of the shim.
#![cfg_attr(not(shim), allow(dead_code))]

/// Says a line on stderr. What cannot be written is lost: `eprintln` would panic.
macro_rules! say {
    ($($word:tt)*) => {{
        use std::io::Write as _;
        let _lost = writeln!(std::io::stderr(), $($word)*);
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
mod covered;
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
