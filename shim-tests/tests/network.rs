//! The bandwidth that a job measures at its start, on emulated clusters: it is that of the links.
//!
//! `cargo xtask test` sets the MPI and the shim (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "others need the rest")]
mod support;

use mpress::report::JobReport;
use mpress_cluster::{Family, Launcher, Rate};
use support::compare::assert_same;
use support::{Rig, nodes_at, skip};

/// The number of measurements of which one must be right: other load on this machine disturbs them, but not always.
const TRIES: usize = 5;

/// The bandwidth of a rank must be its share of its node's link, within a factor of 1.5, and never more than twice that: TCP is not fair to the ranks of
/// a node in a measurement that is so short.
fn finds_the_rate(nodes: usize, ranks_per_node: usize, mbit: u64) {
    let Some(rig) = Rig::new(&format!("network-{nodes}-{ranks_per_node}")) else { return };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if rig.mpi.family() == Family::Mpich && nodes * ranks_per_node > cores {
        return skip(
            "ranks of MPICH spin while they wait: with more ranks than cores, the scheduler is measured",
        )
        .unwrap_or_default();
    }
    let Some(cluster) = nodes_at(nodes, Some(Rate::mbit(mbit))) else { return };
    let share = mbit as f64 / 8.0 / ranks_per_node as f64;
    let file = rig.folder().join("report.json");
    let job = rig.job(Launcher::Cluster(&cluster), ranks_per_node, "transparent", &["none"]);
    let without = job.run("without");
    let with = job.shimmed().env("MPRESS_REPORT_FILE", file.to_str().unwrap());
    let mut found = Vec::new();
    while found.len() < TRIES {
        let _from_an_earlier_try: std::io::Result<()> = std::fs::remove_file(&file);
        assert_same(&without, &with.run("with"));
        let report = JobReport::from_json(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let bandwidth = report.job.bandwidth_mb_s;
        assert!(bandwidth < 2.0 * share, "{bandwidth} MB/s of {share}");
        found.push(bandwidth);
        if (share / 1.5..share * 1.5).contains(&bandwidth) {
            return;
        }
    }
    panic!("{found:?} MB/s of {share}");
}

#[test]
fn one_rank_on_each_of_two_nodes() {
    finds_the_rate(2, 1, 20);
}

#[test]
fn two_ranks_share_the_link_of_their_node() {
    finds_the_rate(2, 2, 1000);
}

/// An odd number of nodes: one of them takes no part.
#[test]
fn three_nodes() {
    finds_the_rate(3, 1, 20);
}

#[test]
fn four_nodes() {
    finds_the_rate(4, 1, 20);
}
