//! The preload library works together with everything else that is loaded: other tools, other MPIs, and
//! children that are not MPI programs.
//!
//! `cargo xtask test` sets the MPI and the shim (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "others need the rest")]
mod support;

use mpress_cluster::{Cluster, Family, Launcher};
use std::collections::BTreeMap;
use support::compare::assert_same;
use support::{Plan, Rig, SHIM, Written, skip};

/// Scenarios that make almost all calls that the tool counts. Their calls depend neither on the order of
/// arrival nor on requests that failed: whether those must be freed is not specified.
const SCENARIOS: [&str; 11] = [
    "every_pair",
    "exchanges",
    "probes_in_order",
    "matched_messages_kept",
    "mixed_requests",
    "persistent_requests",
    "freed_requests",
    "cancelled_requests",
    "communicators",
    "info_strategies",
    "collectives",
];

/// Calls that a program repeats until something has happened: their number depends on the time.
const POLLING: [&str; 8] =
    ["Iprobe", "Improbe", "Test", "Testall", "Testany", "Testsome", "Waitsome", "Request_get_status"];

/// The number of calls that the tool saw, by name, for each rank.
type Counts = Vec<BTreeMap<String, u64>>;

/// Runs a job with these libraries preloaded, one of which counts calls.
fn counted(rig: &Rig, job: &Plan<'_>, libraries: &[&str], name: &str) -> (Written, Counts) {
    let prefix = rig.folder().join(format!("{name}.counts"));
    let written = job.preloading(libraries).env("COUNT_CALLS", prefix.to_str().unwrap()).run(name);
    let of_rank = |rank: usize| {
        let file = format!("{}.{rank}", prefix.display());
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let pair = |line: &str| line.split_once(' ').map(|(call, n)| (call.to_owned(), n.parse().unwrap()));
        text.lines().map(|line| pair(line).unwrap()).collect()
    };
    let counts = (0..written.logs.len()).map(of_rank).collect();
    (written, counts)
}

fn assert_compressed(written: &Written) {
    let (messages, ratio) = written.framed().expect("a report");
    assert!(messages > 100 && ratio > 1.1, "{messages} messages compressed, ratio {ratio}");
}

#[test]
fn a_tool_sees_the_programs_calls_as_without_the_shim() {
    let Some(rig) = Rig::new("tool") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &SCENARIOS);
    let (without, expected) = counted(&rig, &job, &["count.so"], "without");
    without.assert_well();
    let seen = |call: &&String| expected.iter().any(|calls| calls[*call] > 0);
    assert!(expected[0].keys().filter(seen).count() > 55, "{expected:?}");
    let compressing = job.compressing().env("MPRESS_REPORT", "summary");
    for (name, libraries) in [("after", [SHIM, "count.so"]), ("before", ["count.so", SHIM])] {
        let (with, counts) = counted(&rig, &compressing, &libraries, name);
        assert_same(&without, &with);
        assert_compressed(&with);
        for (expected, counts) in expected.iter().zip(&counts) {
            for (call, &expected) in expected {
                let count = counts[call];
                if POLLING.contains(&call.as_str()) {
                    assert_eq!(count > 0, expected > 0, "{name}: MPI_{call}: {count} of {expected}");
                } else {
                    assert_eq!(count, expected, "{name}: MPI_{call}");
                }
            }
        }
    }
}

/// Such a tool may see frames if it comes after the shim; no receive may see them.
#[test]
fn a_tool_that_goes_past_pmpi_changes_nothing() {
    let Some(rig) = Rig::new("direct") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &SCENARIOS);
    let without = job.run("without");
    let compressing = job.compressing().env("MPRESS_REPORT", "summary");
    for (name, libraries) in [
        ("after", ["count_direct.so", SHIM].as_slice()),
        ("before", &[SHIM, "count_direct.so"]),
        ("between", &[SHIM, "count_direct.so", "count.so"]),
        ("both", &[SHIM, "count.so", "count_direct.so"]),
    ] {
        let (with, counts) = counted(&rig, &compressing, libraries, name);
        assert_same(&without, &with);
        assert_compressed(&with);
        assert!(counts.iter().all(|calls| calls["Send"] > 0 && calls["Recv"] > 0), "{name}: {counts:?}");
    }
}

/// The shim makes its calls through such a tool. An error handler may leave one by a jump; then the program's calls by
/// their other names still come to the shim.
#[test]
fn a_jump_out_of_a_tool_that_goes_past_pmpi() {
    let Some(rig) = Rig::beside_others("jump") else { return };
    let job = rig.job(Launcher::Local, 2, "jump", &[]);
    let with = job.compressing_over("count_direct.so").env("MPRESS_REPORT", "summary").run("with");
    assert_same(&job.run("without"), &with);
    assert!(with.framed().is_some_and(|(messages, _)| messages > 20), "{:?}", with.shim_lines());
}

/// Fails unless a job had the same results as without the shim, and printed exactly these words.
fn assert_passed(without: &Written, with: &Written, words: &[&str]) {
    assert_same(without, with);
    let lines = with.shim_lines().unwrap();
    assert!(lines.len() == 1 && words.iter().all(|word| lines[0].contains(word)), "{}: {lines:?}", with.name);
    assert!(lines[0].ends_with("messages pass through uncompressed"), "{lines:?}");
}

const PASSING: [&str; 3] = ["every_pair", "probes", "collectives_in_turn"];

#[test]
fn another_version_of_the_mpi_passes_with_one_line() {
    let Some(rig) = Rig::new("version") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &PASSING);
    let with = job.compressing_over("other_version.so").run("with");
    assert_passed(&job.run("without"), &with, &["the standard 6.0"]);
    // On one rank only: then all must pass messages through.
    let script = r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] || export LD_PRELOAD="${LD_PRELOAD%:*}"; exec "$0" "$@""#;
    let one = job.compressing_over("other_version.so").wrapped(script).run("one");
    assert_passed(&job.run("without"), &one, &["an MPI that it does not know"]);
}

/// Nodes are determined by what ranks see of their hosts, not by what the MPI says.
#[test]
fn ranks_with_a_host_name_of_their_own_are_nodes() {
    let Some(rig) = Rig::new("nodes") else { return };
    if let Err(error) = Cluster::permitted() {
        return skip(error).unwrap_or_default();
    }
    let job = rig.job(Launcher::Local, 2, "transparent", &["every_pair"]);
    let script = r#"export NAME="r${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
        exec unshare --uts sh -c 'hostname "$NAME" && exec "$0" "$@"' "$0" "$@""#;
    let env = [("MPRESS_STRATEGY", "fixed:dfcm"), ("MPRESS_REPORT", "full")];
    let with = env.iter().fold(job.shimmed(), |job, (name, value)| job.env(name, value));
    let with = with.wrapped(script).run("with");
    assert_same(&job.run("without"), &with);
    assert!(with.framed().is_some_and(|(messages, _)| messages > 4), "{:?}", with.shim_lines());
    assert!(with.shim_lines().unwrap().iter().any(|line| line.contains("2 ranks on 2 nodes")));
}

/// Calls that are newer than the MPI of this machine, from a library that has them.
#[test]
fn calls_of_later_standards_are_handled() {
    follows_calls_of_later_standards("later");
}

/// Threads may ask for the same requests at the same time.
#[test]
fn threads_that_look_do_not_wait_for_each_other() {
    follows_calls_of_later_standards("lookers");
}

/// Runs a program with an MPI that has calls of later standards than this machine's.
fn follows_calls_of_later_standards(program: &str) {
    let Some(rig) = Rig::new(program) else { return };
    let job = rig.job(Launcher::Local, 2, program, &[]);
    let without = job.preloading(&["later_calls.so"]).run("without");
    let with = job.compressing_over("later_calls.so").env("MPRESS_REPORT", "summary").run("with");
    assert_same(&without, &with);
    assert!(with.framed().is_some_and(|(messages, _)| messages > 4), "{:?}", with.shim_lines());
}

/// A program that checks whether a function exists finds those that the MPI has.
#[test]
fn what_the_mpi_lacks_is_not_offered() {
    let Some(rig) = Rig::new("offered") else { return };
    let job =
        rig.job(Launcher::Local, 2, "offered", &[]).env("PLUGIN", rig.preloaded("weak.so").to_str().unwrap());
    let without = job.run("without");
    without.assert_well();
    assert!(
        without.logs.iter().all(|log| log.contains("MPI_Send=1") && log.contains("=0")),
        "{:?}",
        without.logs
    );
    assert_same(&without, &job.compressing().run("with"));
    assert_same(&without, &job.env("MPRESS_DISABLE", "1").shimmed().run("disabled"));
}

#[test]
fn two_mpis_in_a_process_pass_with_one_line() {
    let Some(rig) = Rig::new("two") else { return };
    let second = if rig.mpi.family() == Family::Mpich { "libmpi.so.40" } else { "libmpich.so.12" };
    let job = rig.job(Launcher::Local, 2, "transparent", &PASSING).env("SECOND_MPI", second);
    let without = job.preloading(&["second_mpi.so"]).run("without");
    if without.failure.is_some() {
        return skip(format!("{second} cannot be loaded beside")).unwrap_or_default();
    }
    assert_passed(&without, &job.compressing_over("second_mpi.so").run("with"), &["several MPIs", second]);
}

#[test]
fn without_the_shims_file_messages_pass_with_one_line() {
    let Some(rig) = Rig::new("missing") else { return };
    let name = format!("libmpress_shim_{}.so", rig.mpi.abi().name());
    let alone = rig.folder().join("libmpress.so");
    std::fs::copy(&rig.shim, &alone).unwrap();
    let job = rig.job(Launcher::Local, 2, "transparent", &PASSING);
    let with = job.compressing().env("LD_PRELOAD", alone.to_str().unwrap());
    assert_passed(&job.run("without"), &with.run("with"), &[&name]);

    let shim = rig.folder().join(&name);
    std::fs::write(&shim, "no library").unwrap();
    assert_passed(&job.run("without"), &with.run("broken"), &[&name]);

    // Two preload libraries, only one of which can be used.
    let both = format!("{}:{}", alone.display(), rig.shim.display());
    let both = job.compressing().env("LD_PRELOAD", &both).env("MPRESS_REPORT", "summary").run("both");
    assert_same(&job.run("without"), &both);
    assert!(both.framed().is_some_and(|(messages, _)| messages > 10), "{:?}", both.shim_lines());
}

#[test]
fn children_that_are_no_mpi_programs_notice_nothing() {
    let Some(rig) = Rig::new("children") else { return };
    let job = rig.job(Launcher::Local, 2, "children", &[]);
    let without = job.run("without");
    assert!(without.logs.iter().all(|log| log.contains(" lines=many mpi=0 ")), "{:?}", without.logs);
    let with = job.shimmed().run("with");
    assert_same(&without, &with);
    assert_eq!(with.shim_lines().unwrap(), Vec::<&str>::new());
}
