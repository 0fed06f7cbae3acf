//! Messages that are received before the program asks for them (`MPRESS_PREDICT`): a program sees the same as
//! without the shim, even if every message is received as soon as it has come.
//!
//! `cargo xtask test` sets the MPI and the shim (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "others need the rest")]
mod support;

use mpress_cluster::{Family, Launcher};
use support::compare::assert_same;
use support::{Plan, Rig, Written, two_nodes};

/// From the report: correctly predicted receive calls, all receive calls, and messages that were decoded
/// before the program asked for them.
fn foreseen(written: &Written) -> Option<[u64; 3]> {
    let lines = written.shim_lines()?;
    let line = lines.iter().find_map(|line| line.split("predicted: ").nth(1)).expect("a line of the report");
    let mut numbers = line.split([' ', ',']).filter_map(|word| word.parse().ok());
    Some([(); 3].map(|()| numbers.next().unwrap()))
}

/// Runs the program without the shim, and with this setting in chunks and in frames; returns the numbers of
/// messages that were decoded early. With the setting `on`, that are few in a random program.
fn compare(plain: &Plan<'_>, compressing: &Plan<'_>, predict: &str) -> Vec<u64> {
    compare_to(&plain.run("without"), compressing, predict)
}

/// The same, given what the program wrote without the shim.
fn compare_to(without: &Written, compressing: &Plan<'_>, predict: &str) -> Vec<u64> {
    let streams = ["4096", "off"].into_iter().filter_map(|streams| {
        let job = compressing.env("MPRESS_STREAMS", streams).env("MPRESS_REPORT", "full");
        let with = job.env("MPRESS_PREDICT", predict).run(&format!("{predict}-{streams}"));
        assert_same(without, &with);
        foreseen(&with).map(|[_, _, early]| early)
    });
    streams.collect()
}

fn on_this_host(rig: &Rig, ranks: usize, args: &[&str], predict: &str) -> Vec<u64> {
    // Over shared memory, Open MPI sends chunks only when the receiver asks for them, and then the shim sends
    // none.
    let job = rig.job(Launcher::Local, ranks, "transparent", args).env("OMPI_MCA_btl", "tcp,self");
    compare(&job, &job.compressing(), predict)
}

/// Together with the schedules between nodes, these are ten thousand in chunks and as many in frames; by
/// default a part of them runs.
fn schedules(all: usize) -> String {
    support::schedules(all).to_string()
}

#[test]
fn random_schedules_on_this_host() {
    let Some(rig) = Rig::beside_others("ahead_random") else { return };
    let early = on_this_host(&rig, 2, &["random", "60000", &schedules(4000)], "all");
    // The number depends on the machine.
    assert!(early.iter().sum::<u64>() > 100, "{early:?}");
    on_this_host(&rig, 2, &["multiple", "random", "70000", &schedules(2500)], "all");
    on_this_host(&rig, 2, &["random", "80000", &schedules(2000)], "on");
    // MPICH spins while it waits: more ranks than cores take it minutes.
    let count = if rig.mpi.family() == Family::Mpich { 50 } else { 500 };
    on_this_host(&rig, 3, &["random", "90000", &schedules(count)], "all");
}

#[test]
fn random_schedules_between_two_nodes() {
    let Some(rig) = Rig::beside_others("ahead_nodes") else { return };
    let Some(cluster) = two_nodes() else { return };
    for (args, predict) in [
        (&["random", "60000", &schedules(1000)][..], "all"),
        (&["random", "70000", &schedules(500)], "on"),
        (&["multiple", "random", "80000", &schedules(500)], "all"),
    ] {
        let job = rig.job(Launcher::Cluster(&cluster), 1, "transparent", args);
        let fixed = job.shimmed().env("MPRESS_STRATEGY", "fixed:diffpack-balanced");
        compare(&job, &fixed, predict);
    }
}

#[test]
fn every_call_on_this_host() {
    let Some(rig) = Rig::beside_others("ahead_every_call") else { return };
    on_this_host(&rig, 2, &["all"], "all");
    on_this_host(&rig, 2, &["multiple", "all"], "all");
}

#[test]
fn what_comes_early_is_decoded_before_it_is_asked_for() {
    let Some(rig) = Rig::new("ahead_gather") else { return };
    let job = rig.job(Launcher::Local, 3, "foreseen", &[]).env("OMPI_MCA_btl", "tcp,self");
    // UCX writes to stdout that a message was never received.
    let job = job.env("UCX_LOG_LEVEL", "error");
    let without = job.run("without");
    let compressing = job.compressing();
    // On a busy machine rank 0 may not get a processor in the time that is short on others.
    for milliseconds in ["30", "100", "300"] {
        let job = compressing.env("MILLISECONDS", milliseconds);
        let early = compare_to(&without, &job, "on");
        // This memory has no room for the long messages.
        let few = compare_to(&without, &job.env("MPRESS_PREDICT_MEMORY", "72000"), "on");
        // Fourteen gathers of twelve rounds, each with a message that can be decoded in time; prediction
        // learns from the first rounds.
        let are_early = early.iter().all(|early| *early > 100)
            && few.iter().zip(&early).all(|(few, early)| *few > 30 && few < early);
        if are_early {
            break;
        }
        assert_ne!(milliseconds, "300", "{early:?} and {few:?}");
    }
    compare_to(&without, &compressing, "all");
}
