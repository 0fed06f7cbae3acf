//! Runs the examples, and the program of the tests, with an MPI.

use mpress_cluster::{Cluster, Config, Error, Finished, Launcher, Mpi, Outcome};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// MPI jobs want all cores; two at a time would be slower than one after the other, and spoil the time limits.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Far beyond any run here: what takes this long hangs.
const LIMIT: Duration = Duration::from_secs(150);
/// MPICH hangs at its end, some programs nearly always; the cluster knows the case. What a job has written by then counts.
const TRIES: u32 = 1;

/// Not by `eprintln!`: the harness hides what a passing test prints, and a skip must never look like a pass.
pub(crate) fn skip<T>(reason: impl std::fmt::Display) -> Option<T> {
    let _shown = writeln!(std::io::stderr(), "SKIPPED: {reason}");
    None
}

/// What a test works with, and the permission to run jobs.
pub(crate) struct Rig {
    pub(crate) mpi: Mpi,
    pub(crate) shim: PathBuf,
    examples: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Rig {
    /// `None` where `cargo xtask test` has not said which MPI this was built for.
    pub(crate) fn new() -> Option<Self> {
        let (Some(shim), Ok(mpi)) = (std::env::var_os("MPRESS_TEST_SHIM"), std::env::var("MPRESS_TEST_MPI"))
        else {
            return skip("MPRESS_TEST_SHIM and MPRESS_TEST_MPI are not set (`cargo xtask test` sets them)");
        };
        let mpi: Mpi = mpi.parse().expect("MPRESS_TEST_MPI is an MPI");
        let shim = PathBuf::from(shim).canonicalize().expect("MPRESS_TEST_SHIM is a file");
        // Cargo builds examples beside the folder of tests.
        let test = std::env::current_exe().unwrap();
        let examples = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
        // A test that failed has released the lock by panicking; that says nothing of the next.
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Self { mpi, shim, examples, _turn: turn })
    }

    /// Runs a program with this environment to its end, and gives its lines in alphabetical order, of which there must be so many.
    pub(crate) fn run(
        &self,
        launcher: Launcher<'_>,
        ranks_per_node: usize,
        program: &[&str],
        lines: usize,
        env: &[(&str, &str)],
    ) -> Written {
        let mut job = launcher.mpirun(self.mpi, ranks_per_node);
        for (name, value) in env {
            job.env(name, value);
        }
        job.program(self.examples.join(program[0])).args(&program[1..]);
        let name = format!("{} ranks of {program:?} with {env:?}", job.ranks());
        let worked = |out: &[u8]| out.iter().filter(|&&byte| byte == b'\n').count() >= lines;
        let (stdout, stderr, ended_well) = match job.run_patiently(LIMIT, TRIES, worked) {
            Ok(Finished { output, .. }) => (output.stdout, output.stderr, output.status.success()),
            Err(Error::HungInFinalize { partial, .. }) => {
                let _shown = writeln!(std::io::stderr(), "{name} hung in MPI_Finalize after its work");
                (partial.stdout, partial.stderr, true)
            }
            Err(error) => panic!("{name}: {error}"),
        };
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        assert!(ended_well, "{name} failed\n{stdout}\n{stderr}");
        let mut sorted: Vec<_> = stdout.lines().map(str::to_owned).collect();
        sorted.sort();
        assert_eq!(sorted.len(), lines, "{name}:\n{stdout}\n{stderr}");
        Written { lines: sorted, stderr }
    }

    /// Runs a program that must fail, each rank started by this shell script, whose `"$0" "$@"` is the program.
    pub(crate) fn fail(&self, ranks: usize, program: &str, script: &str) -> String {
        let mut job = Launcher::Local.mpirun(self.mpi, ranks);
        job.program("sh").args(["-c", script]).arg(self.examples.join(program));
        match job.run(LIMIT).unwrap() {
            Outcome::Finished(output) => {
                assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
                String::from_utf8_lossy(&output.stderr).into_owned()
            }
            Outcome::TimedOut(partial) => {
                panic!("{program} hangs: {}", String::from_utf8_lossy(&partial.stderr))
            }
        }
    }
}

/// What a job wrote.
pub(crate) struct Written {
    pub(crate) lines: Vec<String>,
    pub(crate) stderr: String,
}

/// A cluster as fast as the machine: what is tested here is not speed.
pub(crate) fn nodes(nodes: usize) -> Option<Cluster> {
    match Cluster::permitted() {
        Ok(()) => Some(Cluster::new(Config { nodes, rate: None }).unwrap()),
        Err(error @ Error::NotPermitted(_)) => skip(error),
        Err(error) => panic!("{error}"),
    }
}
