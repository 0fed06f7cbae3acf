//! What a test could not do here, said where it is seen.

use std::collections::BTreeSet;
use std::format;
use std::io::Write as _;
use std::string::{String, ToString as _};
use std::sync::{Mutex, PoisonError};

/// Says on the error stream that this was skipped, once in a process.
pub fn skipped(what: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_string()) {
        // Not by `eprintln!`: the harness hides what a passing test prints.
        let _shown = std::io::stderr().write_all(format!("SKIPPED: {what}\n").as_bytes());
    }
}
