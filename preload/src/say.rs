//! The one line that this library may print: why messages pass through.

use std::fmt::Display;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where launchers say which rank a process is: Open MPI's, those that speak PMIx or PMI, Slurm.
const RANKS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];

static SAID: AtomicBool = AtomicBool::new(false);

/// Says it once; of a job only rank 0 does.
pub(crate) fn once(why: impl Display) {
    if !SAID.swap(true, Ordering::Relaxed) && is_first() {
        // What cannot be written is lost: `eprintln` would panic.
        let _lost = writeln!(std::io::stderr(), "mpress: {why}; messages pass through uncompressed");
    }
}

/// Whether this is rank 0, or no rank of anything as far as can be told before `MPI_Init`.
fn is_first() -> bool {
    RANKS.iter().find_map(std::env::var_os).is_none_or(|rank| rank == "0")
}
