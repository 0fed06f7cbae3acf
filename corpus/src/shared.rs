//! The corpus of real messages that is next to the repository on this project's machines, and the report of a test that cannot run without it.

use crate::files::File;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The files of the corpus, sorted by name. `None` if there is no corpus; a test is then skipped, and this reports it.
///
/// # Panics
/// If the corpus has no file, or a file does not match its index.
#[must_use]
#[allow(clippy::expect_used, reason = "a test reports by panicking")]
pub fn corpus() -> Option<Vec<File>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    if !folder.exists() {
        skipped("the whole corpus, which is not next to the repository");
        return None;
    }
    Some(File::read_all(&folder).expect("the corpus"))
}

/// Reports on standard error that a test skips this, once per process.
pub fn skipped(what: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_owned()) {
        // Not with `eprintln!`: the test harness hides the output of passing tests.
        let _shown = writeln!(std::io::stderr(), "SKIPPED: {what}");
    }
}
