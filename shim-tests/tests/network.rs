//! `mpress calibrate` on emulated clusters: the bandwidth it finds is that of the links.
//!
//! `cargo xtask test` sets the MPI, the shim and the command (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`,
//! `MPRESS_TEST_COMMAND`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

use mpress::Knowledge;
use mpress_cluster::{Cluster, Config, Error, Launcher, Mpi, Outcome, Rate};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Each job needs all cores.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The time limit of a job, far longer than any takes: a job that exceeds it hangs.
const LIMIT: Duration = Duration::from_secs(600);

/// Not by `eprintln!`: the harness hides the output of a passing test, and a skip must never look like a
/// pass.
fn skip<T>(reason: impl std::fmt::Display) -> Option<T> {
    let _shown = writeln!(std::io::stderr(), "SKIPPED: {reason}");
    None
}

/// The setup of a test: the command next to its shims, and a folder for the files.
struct Rig {
    mpi: Mpi,
    command: PathBuf,
    dir: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Rig {
    fn new(test: &str) -> Option<Self> {
        let var = |name: &str| std::env::var(format!("MPRESS_TEST_{name}")).ok();
        let (Some(shim), Some(mpi), Some(command)) = (var("SHIM"), var("MPI"), var("COMMAND")) else {
            return skip("MPRESS_TEST_SHIM, _MPI and _COMMAND are not set (`cargo xtask test` sets them)");
        };
        let shim = Path::new(&shim).canonicalize().expect("MPRESS_TEST_SHIM is a file");
        let command = Path::new(&command).canonicalize().expect("MPRESS_TEST_COMMAND is a file");
        let mpi: Mpi = mpi.parse().expect("MPRESS_TEST_MPI is an MPI");
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{mpi}-calibrate-{test}"));
        let _from_an_earlier_run: std::io::Result<()> = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        // The shims, as they are installed.
        for abi in ["openmpi", "mpich", "standard"] {
            let name = format!("libmpress_shim_{abi}.so");
            std::os::unix::fs::symlink(shim.with_file_name(&name), dir.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(shim, dir.join("libmpress.so")).unwrap();
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Self { mpi, command, dir, _turn: turn })
    }

    fn out(&self) -> PathBuf {
        self.dir.join("out")
    }

    /// Runs it by mpirun; returns the standard error, unless MPICH hung in `MPI_Finalize` after the work.
    fn calibrate(&self, launcher: Launcher<'_>, ranks_per_node: usize) -> Option<String> {
        let mut job = launcher.mpirun(self.mpi, ranks_per_node);
        job.env("MPRESS_LIBDIR", &self.dir).program(&self.command).args([
            "calibrate",
            "--network-only",
            "--out",
        ]);
        job.arg(self.out());
        let written = self.out().join("network.toml");
        let output = if job.is_networked() {
            match job.run_patiently(LIMIT, 1, |_| written.exists()) {
                Ok(finished) => finished.output,
                Err(Error::HungInFinalize { .. }) => return None,
                Err(error) => panic!("{error}"),
            }
        } else {
            match job.run(LIMIT) {
                Ok(Outcome::Finished(output)) => output,
                other => panic!("{other:?}"),
            }
        };
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {stderr}", output.status);
        Some(stderr)
    }
}

/// Runs it on two nodes; the bandwidth of a rank in the file must be its share of the link. Other load on
/// this machine slows the links, but not always: one of three measurements must be right, and none may be too
/// high.
fn finds_the_rate(test: &str, rate: Rate, ranks_per_node: usize) {
    let Some(rig) = Rig::new(test) else { return };
    if let Err(error) = Cluster::permitted() {
        return skip(error).unwrap_or_default();
    }
    let cluster = Cluster::new(Config { nodes: 2, rate: Some(rate) }).unwrap();
    let share = rate.bits_per_second() as f64 / 8e6 / ranks_per_node as f64;
    let mut found = Vec::new();
    while found.len() < 3 {
        let bandwidth = measured(&rig, &cluster, ranks_per_node);
        assert!(bandwidth < 1.2 * share, "{bandwidth} MB/s of {share}");
        found.push(bandwidth);
        if bandwidth > 0.8 * share {
            return;
        }
    }
    panic!("{found:?} MB/s of {share}");
}

/// Runs it on a cluster, checks everything except the bandwidth, and returns the bandwidth.
fn measured(rig: &Rig, cluster: &Cluster, ranks_per_node: usize) -> f64 {
    let _from_an_earlier_run: std::io::Result<()> = std::fs::remove_dir_all(rig.out());
    let stderr = rig.calibrate(Launcher::Cluster(cluster), ranks_per_node);
    if let Some(stderr) = stderr {
        let lines = stderr.lines().filter(|line| line.starts_with("mpress: ")).count();
        assert_eq!(lines, 3, "{stderr}");
    }
    let (knowledge, errors) = Knowledge::read(&rig.out());
    assert!(errors.is_empty(), "it may lack the file of the codecs: {errors:?}");
    assert!(knowledge.link_measured);
    let link = knowledge.link;
    // Microseconds, and on a busy machine several time slices of its scheduler.
    assert!(link.latency_us > 1.0 && link.latency_us < 50_000.0, "{link:?}");
    link.bandwidth_mb_s
}

// These links are slow enough for a machine with other work. Measurements of faster ones are in
// `benches/record/belief.txt`.

#[test]
fn twenty_megabit_for_one_rank_on_each_node() {
    finds_the_rate("20-1", Rate::mbit(20), 1);
}

#[test]
fn twenty_megabit_shared_by_two_ranks_on_each_node() {
    finds_the_rate("20-2", Rate::mbit(20), 2);
}

#[test]
fn a_hundred_megabit_for_one_rank_on_each_node() {
    finds_the_rate("100-1", Rate::mbit(100), 1);
}

#[test]
fn a_hundred_megabit_shared_by_two_ranks_on_each_node() {
    finds_the_rate("100-2", Rate::mbit(100), 2);
}

#[test]
fn on_one_node_there_is_no_network_and_nothing_is_written() {
    let Some(rig) = Rig::new("one-node") else { return };
    let stderr = rig.calibrate(Launcher::Local, 2).unwrap();
    let lines: Vec<_> = stderr.lines().filter(|line| line.starts_with("mpress: ")).collect();
    assert!(lines.len() == 1 && lines[0].contains("2 ranks are on one node"), "{stderr}");
    assert_eq!(std::fs::read_dir(rig.out()).unwrap().count(), 0);
}
