//! How much work the shim makes for messages that it does not compress, and while many operations are pending:
//! calls of the MPI, readings of the clock, allocations and system calls are counted.
//!
//! `cargo xtask test` sets the MPI and the shim (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "others need the rest")]
mod support;

use mpress_cluster::Launcher;
use support::compare::{assert_framed, assert_same};
use support::{Rig, SHIM, Written};

/// For a pair of messages, one in each direction: the shim's calls of the MPI, readings of the clock,
/// allocations and system calls.
struct Work {
    way: String,
    bytes: u32,
    counts: [f64; 4],
}

fn work(written: &Written) -> Vec<Work> {
    assert_eq!(written.failure, None);
    let lines = written.stdout.lines().filter_map(|line| line.strip_prefix("work: 1 "));
    let parsed = lines.map(|line| {
        let (name, counts) = line.split_once(':').unwrap();
        let (way, bytes) = name.split_once(' ').unwrap();
        let counts: Vec<f64> = counts.split_whitespace().map(|count| count.parse().unwrap()).collect();
        Work { way: way.into(), bytes: bytes.parse().unwrap(), counts: counts.try_into().unwrap() }
    });
    let parsed: Vec<_> = parsed.collect();
    assert_eq!(parsed.len(), 12, "{}", written.stdout);
    parsed
}

#[test]
fn messages_that_are_not_compressed_cost_few_calls() {
    let Some(rig) = Rig::new("work") else { return };
    let job = rig.job(Launcher::Local, 2, "work", &[]).preloading(&[SHIM, "work.so"]);
    let job = job.env("MPRESS_SAME_NODE", "compress");
    for strategy in ["off", "adaptive"] {
        for Work { way, bytes, counts } in work(&job.env("MPRESS_STRATEGY", strategy).run(strategy)) {
            let most = match (&*way, bytes) {
                // The program's own calls: a send and a receive, both in one, or two starts and a wait.
                ("blocking", ..1024) => [2.0, 0.0, 0.0, 0.0],
                ("combined", ..1024) => [1.0, 0.0, 0.0, 0.0],
                (_, ..1024) => [3.0, 0.0, 0.0, 0.0],
                // The receive may bring a frame, so its length is asked for. The selector asks for the time
                // of a message, and tries a codec again now and then.
                ("blocking", _) => [3.0, 1.1, 0.0, 0.0],
                ("combined", _) => [2.0, 1.1, 0.0, 0.0],
                // A list for each of the requests, their statuses and their receives.
                _ => [4.0, 1.1, 3.0, 0.0],
            };
            let is_within = counts.iter().zip(most).all(|(count, most)| *count <= most);
            assert!(is_within, "{strategy} {way} {bytes}: {counts:?} of at most {most:?}");
            let least = if way == "combined" { 1.0 } else { 2.0 };
            assert!(counts[0] >= least, "{strategy} {way} {bytes}: {counts:?}");
        }
    }
}

#[test]
fn no_call_looks_at_all_pending_operations() {
    let Some(rig) = Rig::beside_others("many") else { return };
    let job = rig.job(Launcher::Local, 2, "many_receives", &[]);
    let with = job.compressing_over("work.so").env("MPRESS_REPORT", "summary");
    // Each of the receives may bring a message in chunks.
    let with = with.env("MPRESS_STREAMS", "4096").run("with");
    assert_same(&job.over("work.so").run("without"), &with);
    assert_framed(&with, 1000);
    let mut calls = Vec::new();
    for line in with.stdout.lines().filter_map(|line| line.strip_prefix("work: 1 ")) {
        let (call, counts) = line.split_once(':').unwrap();
        let counts: Vec<f64> = counts.split_whitespace().map(|count| count.parse().unwrap()).collect();
        // Calls of the MPI, and bytes: a list of all receives would have 64,000.
        let most = match call {
            // It encodes a message.
            "Isend" => [200.0, f64::MAX],
            // Some of the thousand sends take their turn.
            "freed" => [150.0, 4096.0],
            _ => [50.0, 4096.0],
        };
        let is_within = counts.iter().zip(most).all(|(count, most)| *count <= most);
        assert!(is_within, "{call}: {counts:?} of at most {most:?}");
        calls.push(call);
    }
    assert_eq!(calls, ["Irecv", "Isend", "Test", "Wait", "freed"], "{}", with.stdout);
}
