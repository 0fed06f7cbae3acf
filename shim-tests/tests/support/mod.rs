//! Runs the test programs with and without the shim, and compares their logs.

pub(crate) mod compare;
pub(crate) mod programs;

use mpress_cluster::{Cluster, Config, Error, Family, Launcher, Mpi, Outcome, Rate};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time limit of a job, apart from the two known hangs in `MPI_Finalize`: far longer than any takes, on a
/// busy machine, too.
const LIMIT: Duration = Duration::from_secs(900);
/// The time limits of scenes in the programs, which show where a job hangs, are multiplied by this. With
/// forty processes on two processors, a scene of a few seconds takes a minute.
const PATIENCE: &str = "10";

/// Not by `eprintln!`: the harness hides the output of a passing test, and a skip must never look like a
/// pass.
pub(crate) fn skip<T>(reason: impl std::fmt::Display) -> Option<T> {
    let _shown = writeln!(std::io::stderr(), "SKIPPED: {reason}");
    None
}

/// How many of this number of random schedules to run: `MPRESS_TEST_SCHEDULES` percent of them.
pub(crate) fn schedules(all: usize) -> usize {
    let percent = std::env::var("MPRESS_TEST_SCHEDULES").unwrap_or_else(|_| "5".to_owned());
    all * percent.parse::<usize>().expect("MPRESS_TEST_SCHEDULES is a percentage") / 100
}

/// Whether the MPI under test is MPICH from 4.3 on, or Intel MPI.
pub(crate) fn is_newer_mpich() -> bool {
    let mpi = std::env::var("MPRESS_TEST_MPI").ok().and_then(|mpi| mpi.parse::<Mpi>().ok());
    mpi.is_some_and(|mpi| mpi.family() == Family::Mpich && mpi != Mpi::Mpich)
}

/// A cluster as fast as the machine: these tests do not measure speed.
pub(crate) fn two_nodes() -> Option<Cluster> {
    nodes_at(2, None)
}

/// This number of nodes, with links of this rate.
pub(crate) fn nodes_at(nodes: usize, rate: Option<Rate>) -> Option<Cluster> {
    if is_newer_mpich() {
        return skip("PyPI's builds of MPICH and Intel MPI do not find their way over this network");
    }
    match Cluster::permitted() {
        Ok(()) => Some(Cluster::new(Config { nodes, rate }).unwrap()),
        Err(error) => skip(error),
    }
}

/// The placeholder of the preload library among other preloaded libraries.
pub(crate) const SHIM: &str = "the shim";

/// The right to run jobs, alone or beside those of other tests, also of other processes. It is a lock of the
/// file, and ends when the file is dropped.
///
/// An MPI job needs all cores. Beside others it would take longer than after them, and exceed time limits.
fn turn(alone: bool) -> File {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("turns");
    let file = File::create(place).unwrap();
    if alone { file.lock() } else { file.lock_shared() }.unwrap();
    file
}

/// The setup of a test, and the right to run jobs.
pub(crate) struct Rig {
    pub(crate) mpi: Mpi,
    pub(crate) shim: PathBuf,
    dir: PathBuf,
    _turn: File,
}

impl Rig {
    /// For a test whose jobs run alone. `None` if `cargo xtask test` has not set the shim to test.
    pub(crate) fn new(test: &str) -> Option<Self> {
        Self::with(test, true)
    }

    /// For a test whose outcome does not depend on when something happens: its jobs run beside those of other
    /// such tests. Jobs mostly wait at their start and end.
    pub(crate) fn beside_others(test: &str) -> Option<Self> {
        Self::with(test, false)
    }

    fn with(test: &str, alone: bool) -> Option<Self> {
        let (Some(shim), Ok(mpi)) = (std::env::var_os("MPRESS_TEST_SHIM"), std::env::var("MPRESS_TEST_MPI"))
        else {
            return skip("MPRESS_TEST_SHIM and MPRESS_TEST_MPI are not set (`cargo xtask test` sets them)");
        };
        let shim = PathBuf::from(shim).canonicalize().expect("MPRESS_TEST_SHIM is a file");
        let mpi: Mpi = mpi.parse().expect("MPRESS_TEST_MPI is an MPI");
        // With the name of these tests: others may run at the same time.
        let dir = format!("{mpi}-{}-{test}", env!("CARGO_CRATE_NAME"));
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(dir);
        let _new: std::io::Result<()> = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Some(Self { mpi, shim, dir, _turn: turn(alone) })
    }

    /// A library of `programs/preload`.
    pub(crate) fn preloaded(&self, name: &str) -> PathBuf {
        programs::built(self.mpi, name)
    }

    /// A folder for the output of the test.
    pub(crate) fn folder(&self) -> &Path {
        &self.dir
    }

    /// A job of this program with this number of ranks on every node.
    pub(crate) fn job<'a>(
        &'a self,
        launcher: Launcher<'a>,
        ranks_per_node: usize,
        program: &str,
        args: &[&str],
    ) -> Plan<'a> {
        Plan {
            rig: self,
            launcher,
            ranks_per_node,
            program: programs::built(self.mpi, program),
            args: args.iter().map(ToString::to_string).collect(),
            env: Vec::new(),
            wrapper: None,
            pinned: false,
        }
    }
}

/// A job that can be run in several ways.
#[derive(Clone)]
pub(crate) struct Plan<'a> {
    rig: &'a Rig,
    launcher: Launcher<'a>,
    ranks_per_node: usize,
    program: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
    wrapper: Option<&'static str>,
    pinned: bool,
}

/// The output of a job.
pub(crate) struct Written {
    /// The name of the job.
    pub(crate) name: String,
    /// The log of every rank; empty if there is none.
    pub(crate) logs: Vec<String>,
    pub(crate) stdout: String,
    /// `None` if the job was ended in `MPI_Finalize`, after its work: MPICH hangs there.
    pub(crate) stderr: Option<String>,
    /// Why the job failed, if it did.
    pub(crate) failure: Option<String>,
}

impl Plan<'_> {
    /// With this variable on all ranks.
    #[must_use]
    pub(crate) fn env(&self, name: &str, value: &str) -> Self {
        let mut with = self.clone();
        with.env.push((name.to_owned(), value.to_owned()));
        with
    }

    /// With the shim.
    #[must_use]
    pub(crate) fn shimmed(&self) -> Self {
        self.env("LD_PRELOAD", self.rig.shim.to_str().unwrap())
    }

    /// With the shim, and with messages inside a node compressed as well.
    #[must_use]
    pub(crate) fn compressing(&self) -> Self {
        self.shimmed().env("MPRESS_SAME_NODE", "compress").env("MPRESS_STRATEGY", "fixed:diffpack-balanced")
    }

    /// Without the shim, with this library of `programs/preload` before the MPI.
    #[must_use]
    pub(crate) fn over(&self, library: &str) -> Self {
        self.env("LD_PRELOAD", programs::built(self.rig.mpi, library).to_str().unwrap())
    }

    /// As [`compressing`](Self::compressing), with this library of `programs/preload` between the shim and
    /// the MPI.
    #[must_use]
    pub(crate) fn compressing_over(&self, library: &str) -> Self {
        self.compressing().preloading(&[SHIM, library])
    }

    /// With exactly these libraries of `programs/preload` preloaded in this order; [`SHIM`] stands for the
    /// preload library.
    #[must_use]
    pub(crate) fn preloading(&self, libraries: &[&str]) -> Self {
        let path = |&name: &&str| {
            if name == SHIM { self.rig.shim.clone() } else { programs::built(self.rig.mpi, name) }
        };
        let paths: Vec<_> = libraries.iter().map(path).collect();
        self.env("LD_PRELOAD", std::env::join_paths(paths).unwrap().to_str().unwrap())
    }

    /// With the ranks of all nodes spread over the processors: otherwise Open MPI binds the first rank of
    /// each node to the same one.
    #[must_use]
    pub(crate) fn pinned(&self) -> Self {
        Self { pinned: true, ..self.clone() }
    }

    /// With each rank started by this shell script, whose `"$0" "$@"` is the program.
    #[must_use]
    pub(crate) fn wrapped(&self, script: &'static str) -> Self {
        Self { wrapper: Some(script), ..self.clone() }
    }

    /// Runs the job. `name` distinguishes its files from those of other jobs.
    #[must_use]
    pub(crate) fn run(&self, name: &str) -> Written {
        let prefix = self.rig.dir.join(name);
        let log_of = |rank: usize| PathBuf::from(format!("{}.{rank}", prefix.display()));
        // A test may run jobs of several sizes under one name.
        for rank in 0..16 {
            let _there_or_not: std::io::Result<()> = std::fs::remove_file(log_of(rank));
        }
        let mut job = self.launcher.mpirun(self.rig.mpi, self.ranks_per_node);
        if self.pinned {
            job.pinned();
        }
        job.env("TRANSPARENT_PATIENCE", PATIENCE);
        for (name, value) in &self.env {
            job.env(name, value);
        }
        match self.wrapper {
            Some(script) => job.program("sh").args(["-c", script]).arg(&self.program),
            None => job.program(&self.program),
        };
        job.arg(&prefix).args(&self.args);
        job.yielding(&self.rig.dir).unwrap();
        let mut written = Written {
            name: name.to_owned(),
            logs: Vec::new(),
            stdout: String::new(),
            stderr: None,
            failure: None,
        };
        // One attempt: a job that hangs in MPI_Finalize has written its logs, and only these are needed.
        let result = if job.is_networked() {
            job.run_patiently(LIMIT, 1, |out| out.ends_with(b"done\n"))
                .map(|done| Outcome::Finished(done.output))
        } else {
            job.run(LIMIT)
        };
        match result {
            Ok(Outcome::Finished(output)) => {
                written.stdout = String::from_utf8_lossy(&output.stdout).into_owned();
                let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
                if !output.status.success() || !written.stdout.ends_with("done\n") {
                    written.failure = Some(format!("{}\n{}", output.status, first_lines(&stderr)));
                }
                written.stderr = Some(stderr);
            }
            Ok(Outcome::TimedOut(partial)) => {
                let stderr = String::from_utf8_lossy(&partial.stderr).into_owned();
                written.failure = Some(format!("not ended after {LIMIT:?}\n{}", first_lines(&stderr)));
            }
            // Its report is lost, but what the ranks wrote before is there.
            Err(Error::HungInFinalize { partial, .. }) => {
                written.stdout = String::from_utf8_lossy(&partial.stdout).into_owned();
                let _shown = writeln!(
                    std::io::stderr(),
                    "{} hung in MPI_Finalize after its work ({name})",
                    self.rig.mpi
                );
            }
            Err(error) => written.failure = Some(error.to_string()),
        }
        for reason in written.stdout.lines().filter_map(|line| line.strip_prefix("skipped: ")) {
            skip::<()>(format_args!("{} ({name}): {reason}", self.program.display()));
        }
        let log = |rank: usize| std::fs::read_to_string(log_of(rank));
        let ranks = self.ranks_per_node * self.launcher.nodes();
        written.logs = (0..ranks).map(|rank| log(rank).unwrap_or_default()).collect();
        // A comparison of only some of the logs would look like success.
        assert!(log(ranks).is_err(), "`{name}` had more ranks than {ranks}");
        let cut = written.logs.iter().position(|log| !log.ends_with("end\n"));
        if let (None, Some(rank)) = (&written.failure, cut) {
            written.failure = Some(format!("the log of rank {rank} is not complete"));
        }
        written
    }
}

fn first_lines(text: &str) -> String {
    text.lines().filter(|line| !line.trim().is_empty()).take(12).collect::<Vec<_>>().join("\n")
}

impl Written {
    /// The lines of the shim on stderr; `None` if stderr is not known.
    pub(crate) fn shim_lines(&self) -> Option<Vec<&str>> {
        Some(self.stderr.as_deref()?.lines().filter(|line| line.contains("mpress")).collect())
    }

    /// The number of compressed messages in the report, and the ratio.
    pub(crate) fn framed(&self) -> Option<(u64, f64)> {
        let lines = self.shim_lines()?;
        let line = lines.iter().find(|line| line.contains(" messages compressed over "))?;
        let mut words = line.split([' ', ',', ';']);
        let messages = words.nth(1)?.parse().ok()?;
        let ratio = line.split("ratio ").nth(1)?.split(';').next()?.parse().ok()?;
        Some((messages, ratio))
    }

    /// Fails unless the job ended by itself with a failure.
    pub(crate) fn assert_ended_badly(&self) {
        let failure = self.failure.as_deref().unwrap_or_else(|| panic!("`{}` ended well", self.name));
        assert!(!failure.starts_with("not ended after"), "`{}`: {failure}", self.name);
    }

    /// Fails unless the job succeeded.
    pub(crate) fn assert_well(&self) {
        if let Some(failure) = &self.failure {
            panic!("`{}` failed: {failure}\n{}", self.name, compare::last_lines(&self.logs));
        }
    }
}
