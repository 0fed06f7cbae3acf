//! Runs the examples and the `semantics` program with an MPI.

use mpress_cluster::{Cluster, Config, Error, Finished, Launcher, Mpi, Outcome};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// MPI jobs use all cores; two at the same time would be slower than in sequence, and exceed time limits.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Far longer than any run here takes, even on a busy machine; a job that takes this long hangs.
const LIMIT: Duration = Duration::from_secs(600);
/// MPICH may hang in `MPI_Finalize`, with some programs nearly always. `mpress-cluster` detects this, and the output up to then counts.
const TRIES: u32 = 1;

/// Does not use `eprintln!`: the harness hides the output of passing tests, and a skip must not look like a pass.
pub(crate) fn skip<T>(reason: impl std::fmt::Display) -> Option<T> {
    let _shown = writeln!(std::io::stderr(), "SKIPPED: {reason}");
    None
}

/// The MPI under test, and the lock that permits running jobs.
pub(crate) struct Rig {
    pub(crate) mpi: Mpi,
    pub(crate) shim: PathBuf,
    examples: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Rig {
    /// `None` if `cargo xtask test` has not set the MPI that this was built for.
    pub(crate) fn new() -> Option<Self> {
        let (Some(shim), Ok(mpi)) = (std::env::var_os("MPRESS_TEST_SHIM"), std::env::var("MPRESS_TEST_MPI"))
        else {
            return skip("MPRESS_TEST_SHIM and MPRESS_TEST_MPI are not set (`cargo xtask test` sets them)");
        };
        let mpi: Mpi = mpi.parse().expect("MPRESS_TEST_MPI is an MPI");
        let shim = PathBuf::from(shim).canonicalize().expect("MPRESS_TEST_SHIM is a file");
        // Cargo puts examples next to the folder of test binaries.
        let test = std::env::current_exe().unwrap();
        let examples = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
        // A failed test poisons the lock, which does not affect the next test.
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Self { mpi, shim, examples, _turn: turn })
    }

    /// Runs a program in this environment to its end, checks the number of its output lines, and returns them in alphabetical order.
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
        job.yielding(&self.examples).unwrap();
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

    /// Runs a program that must fail, and returns what its ranks wrote to stderr. Each rank is started by this shell script, in which `"$0" "$@"` is
    /// the program. The ranks write to a file, because MPICH's launcher may end before it has passed on what a rank wrote before `MPI_Abort`.
    pub(crate) fn fail(&self, ranks: usize, program: &str, script: &str) -> String {
        let written =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stderr-{}-{program}", self.mpi.name()));
        std::fs::write(&written, "").unwrap();
        let mut job = Launcher::Local.mpirun(self.mpi, ranks);
        job.program("sh").args(["-c", &format!("exec 2>>'{}'; {script}", written.display())]);
        job.arg(self.examples.join(program));
        let outcome = job.run(LIMIT).unwrap();
        let stderr = String::from_utf8_lossy(&std::fs::read(&written).unwrap()).into_owned();
        match outcome {
            Outcome::Finished(output) => {
                assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
                stderr
            }
            Outcome::TimedOut(_) => panic!("{program} hangs: {stderr}"),
        }
    }
}

/// The output of a job.
pub(crate) struct Written {
    pub(crate) lines: Vec<String>,
    pub(crate) stderr: String,
}

/// A cluster whose network is not slowed down: these tests do not measure speed.
pub(crate) fn nodes(nodes: usize) -> Option<Cluster> {
    match Cluster::permitted() {
        Ok(()) => Some(Cluster::new(Config { nodes, rate: None }).unwrap()),
        Err(error @ Error::NotPermitted(_)) => skip(error),
        Err(error) => panic!("{error}"),
    }
}
