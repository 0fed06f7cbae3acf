//! Calls that are passed to the MPI as they come, and counted. They are the sections "passed" of `calls.txt`.

use std::sync::atomic::{AtomicU64, Ordering};

// Their sorts: `SORTS`.
include!(concat!(env!("OUT_DIR"), "/sorts.rs"));

static COUNTS: [AtomicU64; SORTS.len()] = [const { AtomicU64::new(0) }; SORTS.len()];

/// One more call of this sort.
pub(crate) fn count(sort: usize) {
    if let Some(count) = COUNTS.get(sort) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// How many calls of each sort there were.
pub(crate) fn counts() -> Vec<(&'static str, u64)> {
    SORTS.iter().zip(&COUNTS).map(|(sort, count)| (*sort, count.load(Ordering::Relaxed))).collect()
}
