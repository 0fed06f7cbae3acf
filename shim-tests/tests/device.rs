//! Buffers in a GPU's memory, which the host cannot access. Test libraries replace those of the GPU, and make
//! the MPI accept such buffers.
//!
//! `cargo xtask test` sets the MPI and the shim (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "others need the rest")]
mod support;

use mpress_cluster::Launcher;
use support::compare::assert_same;
use support::{Rig, programs, two_nodes};

const MPI: &str = "gpu_aware.so";

/// The data and statuses of all messages are the same as without the shim. Messages in the GPU's memory are
/// sent from there. Messages in the host's memory are still compressed.
fn compare(rig: &Rig, launcher: Launcher<'_>, (library, version): (&str, &str), when: &str) {
    let library = programs::built(rig.mpi, library);
    let ranks_per_node = 2 / launcher.nodes();
    let job = rig.job(launcher, ranks_per_node, "device", &[library.to_str().unwrap(), when]);
    let job = job.env("GPU_HIP_VERSION", version);
    let name = |what: &str| format!("{what}-{}-{when}", launcher.nodes());
    let without = job.over(MPI).run(&name("without"));
    let with = job.compressing_over(MPI).env("MPRESS_REPORT", "summary").run(&name("with"));
    assert_same(&without, &with);
    // If MPICH hung in MPI_Finalize, the report is lost.
    if with.stderr.is_some() {
        let (messages, ratio) = with.framed().expect("a report");
        assert!(messages >= 100 && ratio > 1.1, "{messages} messages compressed, ratio {ratio}");
    }
}

#[test]
fn buffers_of_cuda() {
    let Some(rig) = Rig::new("cuda") else { return };
    for when in ["before", "after"] {
        compare(&rig, Launcher::Local, ("libcuda.so.1", ""), when);
    }
    let Some(cluster) = two_nodes() else { return };
    compare(&rig, Launcher::Cluster(&cluster), ("libcuda.so.1", ""), "after");
}

/// The numbers of memory types changed between these versions.
#[test]
fn buffers_of_hip() {
    let Some(rig) = Rig::new("hip") else { return };
    for version in ["50731921", "60032830"] {
        compare(&rig, Launcher::Local, ("libamdhip64.so.1", version), "after");
    }
}

#[test]
fn buffers_of_level_zero() {
    let Some(rig) = Rig::new("level_zero") else { return };
    compare(&rig, Launcher::Local, ("libze_loader.so.1", ""), "before");
}
