//! Counts the calls that are passed to the MPI unchanged (the sections "passed" of `calls.txt`), and the messages of other calls that cannot be sent
//! in a frame.

use mpress::report::Passed;
use std::sync::atomic::{AtomicU64, Ordering};

// The categories of these calls: `SORTS`.
include!(concat!(env!("OUT_DIR"), "/sorts.rs"));

static CALLS: [AtomicU64; SORTS.len()] = [const { AtomicU64::new(0) }; SORTS.len()];

/// Why a message that is long enough cannot go in a frame.
#[derive(Clone, Copy)]
pub(crate) enum Why {
    Synchronous,
    Buffered,
    SameNode,
    Device,
    Full,
}

/// In the order of [`Why`].
const WHYS: [&str; 5] = [
    "synchronous sends",
    "buffered sends",
    "messages inside a node or outside MPI_COMM_WORLD",
    "messages from a GPU's memory",
    "messages while 64 MiB were being sent",
];

/// The number of such messages, and their bytes.
static MESSAGES: [[AtomicU64; 2]; WHYS.len()] = [const { [const { AtomicU64::new(0) }; 2] }; WHYS.len()];

/// Counts a call of this category.
pub(crate) fn count(sort: usize) {
    if let Some(count) = CALLS.get(sort) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts a message. Not exact where threads do so at the same time, since it must cost nothing.
#[inline]
pub(crate) fn message(why: Why, len: usize) {
    for (counter, by) in MESSAGES[why as usize].iter().zip([1, len as u64]) {
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
    }
}

/// What was found, if a message may be sent as a frame; otherwise it is counted, with the reason, if it is long enough.
pub(crate) fn noted<T>(found: Result<T, Option<(Why, usize)>>) -> Option<T> {
    if let Err(Some((why, len))) = found {
        message(why, len);
    }
    found.ok()
}

/// The counters of this process, to be summed over all.
pub(crate) fn words() -> Vec<u64> {
    CALLS.iter().chain(MESSAGES.iter().flatten()).map(|count| count.load(Ordering::Relaxed)).collect()
}

/// What the sums of the counters say.
pub(crate) fn told(words: &[u64]) -> Vec<Passed> {
    let (calls, messages) = words.split_at(SORTS.len());
    let calls = SORTS.iter().zip(calls).map(|(sort, count)| (*sort, *count, None));
    let messages =
        WHYS.iter().zip(messages.as_chunks().0).map(|(why, [count, bytes])| (*why, *count, Some(*bytes)));
    calls
        .chain(messages)
        .map(|(calls, count, bytes)| Passed { calls: calls.to_owned(), count, bytes })
        .collect()
}
