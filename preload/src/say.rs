//! The only line that this library may print: why messages pass through.

use crate::ranks::{LOCAL_RANKS, RANKS};
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

static SAID: AtomicBool = AtomicBool::new(false);

/// Why messages pass through.
pub(crate) struct Line {
    why: String,
    variables: &'static [&'static str],
}

impl Line {
    /// For a reason that is the same on all ranks: rank 0 prints it.
    pub(crate) fn of_job(why: impl Into<String>) -> Self {
        Self { why: why.into(), variables: &RANKS }
    }

    /// For a reason that may exist on one node only: the first rank there prints it.
    pub(crate) fn of_node(why: String) -> Self {
        let known = LOCAL_RANKS.iter().any(|name| std::env::var_os(name).is_some());
        Self { why, variables: if known { &LOCAL_RANKS } else { &RANKS } }
    }

    /// Prints the line once.
    pub(crate) fn say(&self) {
        if !SAID.swap(true, Ordering::Relaxed) && self.is_ours() {
            // Ignore write errors: `eprintln` would panic.
            let line = format!("mpress: {}; messages pass through uncompressed\n", self.why);
            let _lost = std::io::stderr().write_all(line.as_bytes()); // in one write: ranks share a terminal
        }
    }

    /// Whether this is the first rank, or has no rank as far as is known before `MPI_Init`.
    fn is_ours(&self) -> bool {
        self.variables.iter().find_map(std::env::var_os).is_none_or(|rank| rank == "0")
    }
}
