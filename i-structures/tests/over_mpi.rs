//! The programs over an MPI, on this host: their results, and their messages.
//!
//! `cargo xtask test` says which MPI (`MPRESS_TEST_MPI`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "the adapter's tests use the rest")]
#[path = "../../rsmpi-adapter/tests/support/mod.rs"]
mod support;

use mpress_cluster::Launcher;
use support::Rig;

/// Messages by modes, as the programs have them by `--csv`, in alphabetical order of the modes.
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
