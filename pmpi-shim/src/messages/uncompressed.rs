//! Counts messages that cannot go in a frame; and says what the report tells of them, and of the calls that are passed to the MPI unchanged, which are the
//! sections "passed" of `calls.txt`.

use mpress::report::Passed;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

// The categories of these calls, each with its range among all calls of the list: `SORTS`.
include!(concat!(env!("OUT_DIR"), "/sorts.rs"));

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

/// Counts a message. Not exact where threads do so at the same time, since it must cost nothing.
#[inline]
pub(crate) fn message(why: Why, len: usize) {
    for (counter, by) in MESSAGES[why as usize].iter().zip([1, len as u64]) {
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
    }
}

/// The counters of this process, to be summed over all.
pub(crate) fn words() -> Vec<u64> {
    MESSAGES.iter().flatten().map(|count| count.load(Ordering::Relaxed)).collect()
}

/// What the sums of the counters say, and those of all `calls`, if these are measured.
pub(crate) fn told(messages: &[u64], calls: &[u64]) -> Vec<Passed> {
    let made = |of: &Range<usize>| calls.get(of.clone()).unwrap_or_default().iter().sum();
    let passed = SORTS.iter().map(|(sort, of)| (*sort, made(of), None));
    let messages =
        WHYS.iter().zip(messages.as_chunks().0).map(|(why, [count, bytes])| (*why, *count, Some(*bytes)));
    passed
        .chain(messages)
        .map(|(calls, count, bytes)| Passed { calls: calls.to_owned(), count, bytes })
        .collect()
}
