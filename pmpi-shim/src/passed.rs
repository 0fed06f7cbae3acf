//! Counts the calls that are passed to the MPI unchanged. They are the sections "passed" of `calls.txt`.

use std::sync::atomic::{AtomicU64, Ordering};

// The categories of these calls: `SORTS`.
include!(concat!(env!("OUT_DIR"), "/sorts.rs"));

static COUNTS: [AtomicU64; SORTS.len()] = [const { AtomicU64::new(0) }; SORTS.len()];

/// Counts a call of this category.
pub(crate) fn count(sort: usize) {
    if let Some(count) = COUNTS.get(sort) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Number of calls of each category.
pub(crate) fn counts() -> Vec<(&'static str, u64)> {
    SORTS.iter().zip(&COUNTS).map(|(sort, count)| (*sort, count.load(Ordering::Relaxed))).collect()
}
