//! The programs over an MPI on this host: their results, and their messages.
//!
//! `cargo xtask test` selects the MPI (`MPRESS_TEST_MPI`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "the adapter's tests use the rest")]
#[path = "../../rsmpi-adapter/tests/support/mod.rs"]
mod support;

use mpress_cluster::Launcher;
use support::Rig;

/// Messages by mode, as printed with `--csv`, in alphabetical order of the modes.
fn messages(rig: &Rig, ranks: usize, program: &str, size: &str) -> [u64; 3] {
    let arguments =
        ["programs", program, "dis,dissc,residual", "--csv", "--block", "4", "--runs", "2", "--size", size];
    let written = rig.run(Launcher::Local, ranks, &arguments, 3, &[]);
    let modes = ["dis,1", "dissc,4", "residual,4"];
    let mut lines = written.lines.iter().zip(modes).map(|(line, mode)| {
        let rest = line.strip_prefix(&format!("{program},{mode},{ranks},")).expect(line);
        rest.split(',').next().unwrap().parse().unwrap()
    });
    std::array::from_fn(|_| lines.next().unwrap())
}

#[test]
fn programs_send_what_their_formulas_say() {
    let Some(rig) = Rig::new() else { return };
    for ranks in [1, 2, 4, 8] {
        let n = 16;
        let r = ranks as u64;
        let expected = [2 * n * n * n * (r - 1) / r, 2 * n * n * (r - 1) / 4, n * n * (r - 1) / 4];
        assert_eq!(messages(&rig, ranks, "mm", "16"), expected, "{ranks} ranks");
        let fetches = 512 * u64::from(ranks.ilog2());
        assert_eq!(
            messages(&rig, ranks, "fft", "512"),
            [2 * fetches, fetches / 2, fetches / 4],
            "{ranks} ranks"
        );
    }
    for ranks in [3, 5, 6, 7] {
        let [dis, dissc, residual] = messages(&rig, ranks, "triangular", "500");
        assert!(dis > dissc && dissc > residual, "{ranks} ranks: {dis} {dissc} {residual}");
    }
}

/// The outcome of a case for each rank.
fn outcomes(rig: &Rig, ranks: usize, case: &str, env: &[(&str, &str)]) -> Vec<String> {
    let written = rig.run(Launcher::Local, ranks, &["faults", case], ranks, env);
    let line = |(rank, line): (usize, &String)| {
        line.strip_prefix(&format!("{rank}: ")).unwrap_or_else(|| panic!("{line}")).to_owned()
    };
    written.lines.iter().enumerate().map(line).collect()
}

#[test]
fn what_goes_wrong_is_an_error_on_all_ranks() {
    let Some(rig) = Rig::new() else { return };
    let failed = |rank: u32, why: &str| format!("rank {rank} has failed: {why}");

    let why = "element 10 of structure 0 does not exist: the structure has 10 elements";
    assert_eq!(outcomes(&rig, 3, "index", &[]), [failed(1, why), why.into(), failed(1, why)]);
    let why = "element 9 of structure 0 is stored a second time";
    assert_eq!(outcomes(&rig, 3, "twice", &[]), [failed(2, why), failed(2, why), why.into()]);
    let waits = |rank| format!("rank {rank} for element 0 of structure 0");
    let why =
        format!("deadlock: 2 fetches wait for elements that no rank stores: {}, {}", waits(1), waits(2));
    assert_eq!(outcomes(&rig, 3, "unknown", &[]), [&*why; 3]);
    let refused =
        |reason| format!("the owner of element 0 of structure 0, rank 0, refuses the request: {reason}");
    let why = refused("its structure of this number has other parameters");
    assert_eq!(outcomes(&rig, 2, "parameters", &[]), [failed(1, &why), why]);
    let why = refused("it has freed the structure");
    assert_eq!(outcomes(&rig, 2, "freed", &[]), [failed(1, &why), why]);
    let why = "the plan is for other parameters: structures with other sizes, distributions, blocks, deferral or types";
    assert_eq!(outcomes(&rig, 3, "plan", &[]), [why; 3]);
    let why = "the plan is for other parameters: another rank's plan is for other parameters";
    assert_eq!(outcomes(&rig, 3, "disagreement", &[]), [why; 3]);
    let why = "rank 1 sends more for structures that this rank has not created yet than it keeps";
    assert_eq!(outcomes(&rig, 2, "early", &[]), [why.to_owned(), failed(0, why)]);
}

#[test]
fn structures_are_freed_and_made_again_without_growth() {
    let Some(rig) = Rig::new() else { return };
    assert_eq!(outcomes(&rig, 3, "churn", &[]), ["no growth"; 3]);
}

#[test]
fn whole_blocks_are_compressed_as_what_they_are() {
    let Some(rig) = Rig::new() else { return };
    let env = [("MPRESS_SAME_NODE", "compress"), ("MPRESS_STRATEGY", "fixed:diffpack-balanced")];
    for outcome in outcomes(&rig, 2, "compress", &env) {
        assert!(outcome.contains("f64 2 true"), "{outcome}");
    }
}

#[test]
fn a_killed_rank_ends_the_job() {
    let Some(rig) = Rig::new() else { return };
    let program = r#""$0" mm dis --runs 100000"#;
    let rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}";
    rig.fail(
        2,
        "programs",
        &format!("[ {rank} = 0 ] && exec {program}; {program} & sleep 1; kill -9 $!; wait $!"),
    );
}
