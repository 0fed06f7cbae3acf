//! Compares two sets of logs line by line.

use super::{Written, is_newer_mpich};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The maximum number of differences that are shown.
const SHOWN: usize = 3;

/// Fails unless both jobs succeeded and every rank saw the same in both.
pub(crate) fn assert_same(without: &Written, with: &Written) {
    without.assert_well();
    let text = differences(&without.logs, &with.logs);
    match (&with.failure, text.is_empty()) {
        (None, true) => {}
        (None, false) => panic!("`{}` and `{}` differ\n{text}", without.name, with.name),
        (Some(failure), _) => {
            let last = last_lines(&with.logs);
            panic!("`{}` failed: {failure}\n{last}\ncompared with `{}`:\n{text}", with.name, without.name)
        }
    }
}

/// The last line of each log, which shows how far the rank came.
pub(crate) fn last_lines(logs: &[String]) -> String {
    let last = logs.iter().map(|log| log.lines().last().unwrap_or("nothing"));
    last.enumerate().map(|(rank, line)| format!("rank {rank} came to: {line}\n")).collect()
}

fn differences(without: &[String], with: &[String]) -> String {
    let mut text = String::new();
    for (rank, (without, with)) in without.iter().zip(with).enumerate() {
        let without: Vec<_> = without.lines().collect();
        let with: Vec<_> = with.lines().collect();
        assert!(!without.is_empty(), "rank {rank} wrote nothing even without the shim");
        let mut scenes: BTreeMap<&str, usize> = BTreeMap::new();
        let mut shown = String::new();
        let mut count = 0;
        for i in 0..without.len().max(with.len()) {
            let (a, b) = (without.get(i), with.get(i));
            if a.zip(b).is_some_and(|(a, b)| same(a, b)) {
                continue;
            }
            if count < SHOWN {
                let _ = writeln!(shown, "  line {}", i + 1);
                let _ = writeln!(shown, "    without: {}", a.unwrap_or(&"(no such line)"));
                let _ = writeln!(shown, "    with:    {}", b.unwrap_or(&"(no such line)"));
            }
            count += 1;
            let scene = a.or(b).and_then(|line| line.split(':').next()).unwrap_or_default();
            *scenes.entry(scene).or_default() += 1;
        }
        if count > 0 {
            let _ = writeln!(
                text,
                "rank {rank}: {count} of {} lines differ, by scenario: {scenes:?}",
                without.len()
            );
            text.push_str(&shown);
        }
    }
    text
}

/// Whether the lines are equal, except that the shim may prevent the MPI from writing beyond a buffer that is
/// too short (see `note_outside`).
fn same(without: &str, with: &str) -> bool {
    without == with
        || without.replace(" outside=touched", " outside=clean") == with
        || (is_newer_mpich() && forgiven(without, with))
}

/// MPICH from 4.3 on, and Intel MPI, omit four things that happen with the shim, because it makes other calls
/// to send and receive the messages:
///
/// - the status of a persistent request, after `MPI_Request_get_status` returned it: that of `MPI_Wait` is
///   empty, and `MPI_Waitsome` finds no active request;
/// - the error, after a handler of the program was called for it: the call returns `MPI_SUCCESS`;
/// - the call of the communicator's handler for a request that cannot be started;
/// - the error of a message that was too long, in calls that complete several requests, and of a persistent
///   request.
fn forgiven(without: &str, with: &str) -> bool {
    let (a, b): (Vec<_>, Vec<_>) = (without.split(' ').collect(), with.split(' ').collect());
    let forgotten = |a: &str, b: &str| {
        let empty = [
            "done=-32766",
            "at=-5",
            "from=-99",
            "tag=-99",
            "count=-32766",
            "bytes=12345",
            "elements=-32766",
            "from=-2",
            "from=-1",
            "tag=-1",
            "tag=-2",
            "count=0",
            "bytes=0",
            "elements=0",
            "cancelled=0",
            "same=0",
            "rc=0",
            "handler=0,-1",
            "error=0",
        ];
        a == b || (empty.contains(&a) && a.split('=').next() == b.split('=').next())
    };
    if ["truncation", "handlers"].iter().any(|scene| without.starts_with(scene)) {
        // The received data, and the data of the next message.
        let memory = ["data", "after", "outside", "sent"];
        let is_memory = |word: &&&str| word.split_once('=').is_some_and(|(key, _)| memory.contains(&key));
        return a.iter().filter(is_memory).eq(b.iter().filter(is_memory));
    }
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| forgotten(a, b))
}

#[test]
fn only_the_shim_may_be_cleaner() {
    assert!(same("a: 1", "a: 1") && !same("a: 1", "a: 2"));
    assert!(same("a: outside=touched", "a: outside=clean"));
    assert!(!same("a: outside=clean", "a: outside=touched"));
}

#[test]
fn only_what_was_forgotten_is_forgiven() {
    let (empty, right) = ("a: same=0 rc=0 from=-2 data=7", "a: same=1 rc=0 from=1 data=7");
    assert!(
        forgiven(empty, right) && !forgiven(right, empty) && !forgiven(empty, "a: same=1 rc=0 from=1 data=8")
    );
    let (none, one) = ("a: done=-32766 at=-5 from=-99 tag=-99 data=7", "a: done=1 at=1 from=0 tag=80 data=7");
    assert!(forgiven(none, one) && !forgiven(one, none));
    assert!(forgiven("b: rc=0 handler=1,4", "b: rc=19 handler=1,4") && !forgiven("b: rc=19", "b: rc=0"));
    let (forgotten, known) = ("truncation: 9 rc=0 request=null after=7", "truncation: 9 rc=14 after=7");
    assert!(forgiven(forgotten, known) && !forgiven(forgotten, "truncation: 9 rc=14 after=8"));
}

#[test]
fn the_first_difference_is_readable() {
    let text = differences(&["a: 1\nb: 2\nb: 3\n".into()], &["a: 1\nb: 9\n".into()]);
    assert_eq!(
        text,
        "rank 0: 2 of 3 lines differ, by scenario: {\"b\": 2}\n  line 2\n    without: b: 2\n    with:    b: 9\n  \
         line 3\n    without: b: 3\n    with:    (no such line)\n"
    );
}

/// Fails unless at least this number of messages went in frames: a test whose messages were all passed
/// through would prove nothing.
pub(crate) fn assert_framed(written: &Written, least: u64) {
    // If MPICH hung in MPI_Finalize, the report is lost.
    if written.stderr.is_none() {
        return;
    }
    let (messages, ratio) = written.framed().expect("a report");
    assert!(messages >= least && ratio > 1.1, "{messages} messages compressed, ratio {ratio}");
}
