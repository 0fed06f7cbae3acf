//! The PMPI shim: loaded into an MPI program, it compresses the program's messages.
//!
//! Built once per ABI, which the name of the package tells: the packages in `openmpi/`, `mpich/` and `standard/` are this source with the types and
//! constants of theirs (`abi/`). What each wrapped call does, and why a frame never meets a call that
//! does not know frames, is written down in `docs/shim.md`; frames themselves in `docs/format/frame.md`.
//!
//! The preload library (`preload/`) has the program's calls come here. Imports point one way, from each of these layers to those below:
//!
//! - `exports`: the functions for these calls, made from `calls.txt` and `functions.txt`; `startup`, which makes the shared state,
//!   at once or when it awakes (`dormant`), and `finish`, which reports; `calibrate`, called by `mpress calibrate` alone;
//! - the handlers: `send`, `recv`, `sendrecv`, `persistent`, `probe`, `matched`, `complete`, `collective`, `info`, `packing`;
//! - `progress`, which moves on what is under way while a call waits;
//! - `state`: what handlers share, which is what is under way (`requests`, `orphans`, `stash` of `early` messages) and the context;
//! - a message on its way out (`wire`) and in (`posted`, `deliver`), in chunks (`streams`), whom it may come from (`peers`), and its
//!   `elements` in memory;
//! - `recording` tells the `recorder`, which `context` has, what is recorded of the program's calls, by their `callsite`s;
//! - `context`: what is known from the beginning (`world`, `strategies`, `agreed` for collectives), and the memory of pending receives
//!   (`in_place`, `covered`);
//! - `datatypes`: what is known of the program's derived datatypes;
//! - `arguments`, `span`, `error`, `generalized` requests and other `operation`s of the MPI's, `passed` calls, `device` (the memory of GPUs), `waiting` (for how long this rank
//!   waits), `measure` (of the network), `identity` and `family` of the MPI;
//! - `mpi`: the MPI's own functions, `handle`s as keys, and `sys`: the ABI. `symbol` finds the functions; `panics` ends the job where one of ours would unwind.

/// Says a line on stderr. What cannot be written is lost: `eprintln` would panic.
macro_rules! say {
    ($($word:tt)*) => {{
        use std::io::Write as _;
        let _lost = writeln!(std::io::stderr(), $($word)*);
    }};
}

mod agreed;
mod arguments;
mod calibrate;
mod callsite;
mod collective;
mod complete;
mod context;
mod covered;
mod datatypes;
mod deliver;
mod device;
mod dormant;
mod early;
mod elements;
mod error;
mod exports;
mod family;
mod finish;
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
