//! The corpus of real messages that lies beside the repository on the machines of this project, and what a test says that cannot run without it.

use crate::files::File;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The files of the corpus, in order of their names. `None` if there is no corpus; a test is skipped then, and this reports it.
///
/// # Panics
/// If the corpus has no file, or a file does not match its index.
#[must_use]
#[allow(clippy::expect_used, reason = "a test reports by panicking")]
pub fn corpus() -> Option<Vec<File>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    if !folder.exists() {
        skipped("the whole corpus, which does not lie beside the repository");
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
