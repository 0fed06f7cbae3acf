//! After every fault there is an MPI error, or messages pass through: never wrong data, and no rank waits
//! that would not wait without the shim.
//!
//! `cargo xtask test` sets the MPI and the shim (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "others need the rest")]
mod support;

use mpress_cluster::{Family, Launcher, Mpi};
use support::compare::assert_same;
use support::{Rig, SHIM, Written, skip, two_nodes};

#[test]
fn a_damaged_frame_is_an_error_and_never_data() {
    let Some(rig) = Rig::beside_others("poison") else { return };
    let written = rig.job(Launcher::Local, 2, "poison", &[]).compressing().run("poison");
    written.assert_well();
    assert!(written.stdout.contains(" damaged frames, 0 wrong\n"), "{}", written.stdout);
    let checked = written.logs[0].lines().filter(|line| line.ends_with("outside=clean")).count();
    assert!(checked > 500 && !written.logs[0].contains("touched"), "{checked} checks");
}

#[test]
fn damaged_frames_in_collectives_are_errors_and_never_data() {
    let Some(rig) = Rig::beside_others("damaged") else { return };
    let ranks: &[usize] = if rig.mpi.family() == Family::Mpich { &[2] } else { &[2, 3] };
    for &ranks in ranks {
        let job = rig.job(Launcher::Local, ranks, "damaged", &[]).compressing_over("damage.so");
        assert_damaged(&job.run("damaged"));
    }
    // MPICH spins while it waits.
    let Some(cluster) = two_nodes().filter(|_| rig.mpi.family() != Family::Mpich) else { return };
    // The frames of a broadcast or all-gather come to one rank of a node, which tells the other one.
    let job = rig.job(Launcher::Cluster(&cluster), 2, "damaged", &[]).preloading(&[SHIM, "damage.so"]);
    assert_damaged(&job.env("MPRESS_STRATEGY", "fixed:diffpack-balanced").run("damaged-nodes"));
}

fn assert_damaged(written: &Written) {
    written.assert_well();
    let summary = written.stdout.lines().find(|line| line.contains(" frames damaged, "));
    let numbers = summary.unwrap().split(' ').filter_map(|word| word.parse::<u64>().ok());
    let numbers: Vec<_> = numbers.collect();
    assert!(numbers[0] > 80 && numbers[1] > 80 && numbers[2] == 0, "{}", written.stdout);
}

#[test]
fn ranks_that_disagree_pass_everything_through() {
    let Some(rig) = Rig::beside_others("disagree") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["every_pair", "probes"]);
    let without = job.run("without");
    for (name, words, script) in [
        (
            "disabled",
            "different settings",
            r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export MPRESS_DISABLE=1; exec "$0" "$@""#,
        ),
        (
            "enabled",
            "different settings",
            r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] && export MPRESS_DISABLE=1; exec "$0" "$@""#,
        ),
        (
            "wrong",
            "wrong settings",
            r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export MPRESS_REPORT=loud; exec "$0" "$@""#,
        ),
        (
            "threshold",
            "different settings",
            r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export MPRESS_THRESHOLD=2048; exec "$0" "$@""#,
        ),
    ] {
        let with = job.compressing().wrapped(script).run(name);
        assert_same(&without, &with);
        let lines = with.shim_lines().unwrap();
        assert!(lines.len() == 1 && lines[0].contains(words), "{name}: {lines:?}");
    }
    let disabled = job.compressing().env("MPRESS_DISABLE", "1").env("MPRESS_ROOT", "/opt");
    let all = disabled.env("MPRESS_REPORT", "full").run("all");
    assert_same(&without, &all);
    assert_eq!(all.shim_lines().unwrap(), Vec::<&str>::new(), "disabled in all ranks: not a word");
}

/// Some launchers do not pass variables on, so settings that only rank 0 uses may be set there alone.
#[test]
fn a_report_for_rank_0_alone_is_of_all_ranks() {
    let Some(rig) = Rig::beside_others("first") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["every_pair", "probes"]);
    let without = job.run("without");
    for (name, wanted, script) in [
        (
            "first",
            true,
            r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] && export MPRESS_REPORT=summary; exec "$0" "$@""#,
        ),
        (
            "second",
            false,
            r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export MPRESS_REPORT=summary; exec "$0" "$@""#,
        ),
    ] {
        let with = job.compressing().wrapped(script).run(name);
        assert_same(&without, &with);
        let lines = with.shim_lines().unwrap();
        assert_eq!(
            lines.iter().any(|line| line.contains("messages compressed over 2 ranks")),
            wanted,
            "{lines:?}"
        );
    }
}

/// The handshake waits for the other ranks for a limited time; then it fails, which ends the job.
#[test]
fn a_rank_without_the_shim_ends_the_job() {
    let Some(rig) = Rig::beside_others("alone") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["every_pair"]).env("MPRESS_PATIENCE", "2");
    let script = r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && unset LD_PRELOAD; exec "$0" "$@""#;
    let written = job.compressing().wrapped(script).run("alone");
    written.assert_ended_badly();
    let stderr = written.stderr.unwrap();
    assert!(stderr.contains("the shim must be loaded in every rank or in none"), "{stderr}");
    assert!(stderr.contains("rank 0 has waited 1 s in MPI_Init"), "{stderr}");
}

/// Rank 0 would wait for rank 1 for ever if the panic did not end the job.
#[test]
fn a_panic_ends_the_job() {
    let Some(rig) = Rig::beside_others("panic") else { return };
    for place in ["call", "thread", "callback"] {
        let written = rig.job(Launcher::Local, 2, "panic", &[place]).compressing().run(place);
        written.assert_ended_badly();
        assert!(written.logs.iter().all(String::is_empty), "{place}: {:?}", written.logs);
        let lines = written.shim_lines().unwrap();
        let says = |line: &&&str| {
            line.starts_with("mpress: internal error at pmpi-shim/") && line.contains("/src/edge/panics.rs:")
        };
        let line = lines.iter().find(says);
        let line = line.unwrap_or_else(|| panic!("{place}: {:?}", written.stderr));
        assert!(line.contains(": provoked by a test; ") && line.contains("MPRESS_DISABLE=1"), "{line}");
    }
}

#[test]
fn without_memory_messages_pass_or_fail_but_are_never_wrong() {
    let Some(rig) = Rig::new("starved") else { return };
    for who in ["3", "1"] {
        let written = rig.job(Launcher::Local, 2, "starved", &[who]).compressing().run(who);
        written.assert_well();
        assert!(written.stdout.contains(" errors, 0 wrong\n"), "{}", written.stdout);
    }
}

/// A probe returns although the sender has left the MPI.
#[test]
fn a_probe_does_not_wait_for_the_sender() {
    let Some(rig) = Rig::new("local_probe") else { return };
    let Some(cluster) = two_nodes() else { return };
    let job = rig.job(Launcher::Cluster(&cluster), 1, "local_probe", &[]);
    let without = job.run("without");
    assert_same(&without, &job.compressing().run("with"));
}

/// A rank cannot receive a message that it must pass on. The job ends, since others would wait for ever.
#[test]
fn without_memory_for_a_broadcast_the_job_ends_and_says_why() {
    let Some(rig) = Rig::new("starved_broadcast") else { return };
    let job = rig.job(Launcher::Local, 2, "starved", &["3"]).env("STARVED_BROADCAST", "1");
    let written = job.compressing().run("starved");
    written.assert_ended_badly();
    let stderr = written.stderr.unwrap();
    assert!(stderr.contains("of a broadcast that other ranks wait for; the job ends"), "{stderr}");
    assert!(!written.stdout.contains("HUNG") && !stderr.contains("HUNG"), "{stderr}");
}

#[test]
fn a_killed_peer_ends_the_job() {
    let Some(rig) = Rig::new("killed") else { return };
    let cluster = two_nodes();
    let launchers =
        [Some((Launcher::Local, 2)), cluster.as_ref().map(|cluster| (Launcher::Cluster(cluster), 1))];
    for (launcher, ranks_per_node) in launchers.into_iter().flatten() {
        let job = rig.job(launcher, ranks_per_node, "killed", &[]);
        for (name, job) in [("without", job.clone()), ("with", job.compressing())] {
            let written = job.run(name);
            written.assert_ended_badly();
            assert!(
                written.logs.iter().all(String::is_empty),
                "a rank found its peer hanging: {:?}",
                written.logs
            );
        }
    }
}

/// A program that goes on after a process has failed revokes its communicators, but cannot revoke the
/// layer's.
#[test]
fn where_failures_are_tolerated_everything_passes_through() {
    let Some(rig) = Rig::new("revoked") else { return };
    if rig.mpi != Mpi::OpenMpi5 {
        skip::<()>(
            "Open MPI 4.1 does not tolerate failures, and MPICH 4.0 crashes in collectives where it should",
        );
        return;
    }
    let job = rig.job(Launcher::Local, 3, "revoked", &[]).env("OMPI_MCA_mpi_ft_enable", "1");
    let with = job.compressing().run("with");
    assert_same(&job.run("without"), &with);
    let Some(lines) = with.shim_lines() else { return };
    let told = "mpress: the MPI tolerates failed processes; messages pass through uncompressed";
    assert_eq!(lines, [told]);
}
