//! The PMPI shim: loaded into an MPI program, it compresses the program's messages.
//!
//! Built once per ABI, which the name of the package tells: the packages in `openmpi/`, `mpich/` and `standard/` are this source with the types and
//! constants of theirs (`abi/`). What each wrapped call does, and why a framed message never meets a call that
//! does not know frames, is written down in `docs/shim.md`; frames themselves in `docs/format/frame.md`.
//!
//! The preload library (`preload/`) has the program's calls come here. Data flows one way through the modules: `exports` (the functions
//! for these calls, made from `calls.txt` and `functions.txt`) calls the handlers (`send`, `recv`, `sendrecv`,
//! `probe`, `matched`, `persistent`, `complete`), which use `wire` (a message on its way out), `posted`, `stash` and `early` (on
//! their way in), `in_place` and `covered` (memory that receives share), and `requests` (what is under way), over `peers`,
//! `span`, `mpi` (the MPI's own functions) and `sys`. `startup` makes the shared `state`,
//! for which `network` is measured; `device` knows the memory of GPUs; `finish` reports. `info` are strategies of single communicators;
//! `traffic` learns how long the rank waits; `panics` ends the job where one of ours would unwind. `calibrate` is called by
//! `mpress calibrate` alone.

/// Says a line on stderr. What cannot be written is lost: `eprintln` would panic.
macro_rules! say {
    ($($word:tt)*) => {{
        use std::io::Write as _;
        let _lost = writeln!(std::io::stderr(), $($word)*);
    }};
}

mod arguments;
mod calibrate;
mod collective;
mod complete;
mod covered;
mod deliver;
mod device;
mod early;
mod exports;
mod family;
mod finish;
mod identity;
mod in_place;
mod info;
mod matched;
mod mpi;
mod network;
mod orphans;
mod panics;
mod passed;
mod peers;
mod persistent;
mod posted;
mod probe;
mod recv;
mod requests;
mod send;
mod sendrecv;
mod span;
mod startup;
mod stash;
mod state;
mod symbol;
mod sys;
mod traffic;
mod wire;
