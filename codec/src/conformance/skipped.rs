//! Reports what a test could not do on this machine.

use std::collections::BTreeSet;
use std::format;
use std::io::Write as _;
use std::string::{String, ToString as _};
use std::sync::{Mutex, PoisonError};

/// Reports on standard error that this was skipped, once per process.
pub fn skipped(what: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_string()) {
        // Not with `eprintln!`: the test harness hides the output of passing tests.
        let _shown = std::io::stderr().write_all(format!("SKIPPED: {what}\n").as_bytes());
    }
}
