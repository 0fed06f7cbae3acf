//! mpi4py's own test suite, without and with the shim: every test must have the same outcome.

mod install;
mod outcomes;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mpress_cluster::{Abi, Family, Launcher, Mpi, Outcome};

use crate::build::BUILT_PRELOAD;
use crate::error::Error;
use crate::mpis;
use crate::paths::{Paths, create_folder};
use crate::report;
use crate::step::{Done, seconds};
pub(crate) use install::{Installed, ensure};
use outcomes::Outcomes;

/// The time limit of a run; one that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(900);

/// Compress all messages that can be compressed: few messages of the suite are long, and it runs on one node.
const FORCED: [(&str, &str); 4] = [
    ("MPRESS_SAME_NODE", "compress"),
    ("MPRESS_STRATEGY", "fixed:diffpack-balanced"),
    ("MPRESS_THRESHOLD", "1024"),
    ("MPRESS_REPORT", "summary"),
];

/// A configuration of the suite.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    ranks: usize,
    part: Part,
    /// The level of thread support; by default the suite requests the highest.
    threads: Option<&'static str>,
}

/// The part of the suite that runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Without slow tests that are unrelated to messages: windows, files, and locks made of windows.
    Messages,
    All,
}

const NOT_MESSAGES: &str = "-etest_(rma|win|io|file|util_sync)";

/// The runs of `cargo xtask test --all`.
pub(crate) const SOME: [Run; 1] = [Run::messages(2)];

/// The runs of `cargo xtask conformance`.
pub(crate) const ALL: [Run; 6] = [
    Run::all(1),
    Run::all(2),
    Run::all(3),
    Run::all(4),
    Run { threads: Some("single"), ..Run::messages(2) },
    Run { threads: Some("serialized"), ..Run::messages(3) },
];

impl Run {
    const fn messages(ranks: usize) -> Self {
        Self { ranks, part: Part::Messages, threads: None }
    }

    pub(crate) const fn all(ranks: usize) -> Self {
        Self { ranks, part: Part::All, threads: None }
    }

    /// Options of the suite.
    fn options(&self) -> Vec<String> {
        let part = (self.part == Part::Messages).then(|| NOT_MESSAGES.to_owned());
        part.into_iter().chain(self.threads.map(|level| format!("--thread-level={level}"))).collect()
    }

    /// A part of file names.
    fn name(&self) -> String {
        let part = if self.part == Part::All { "all" } else { "messages" };
        format!("{}-{part}-{}", self.ranks, self.threads.unwrap_or("multiple"))
    }
}

/// Runs the suite with this MPI in these configurations, under the shim and without.
pub(crate) fn run(paths: &Paths, mpi: Mpi, runs: &[Run]) -> Result<Done, Error> {
    if mpi.abi() == Abi::Standard {
        return Ok(Done::Skipped("mpi4py's wheels have no module for the standard ABI".to_owned()));
    }
    let installed = match ensure(paths, mpi)? {
        Ok(installed) => installed,
        Err(reason) => return Ok(Done::Skipped(reason)),
    };
    let (mut tests, mut messages) = (0, 0);
    for run in runs {
        let plain = once(paths, &installed, mpi, run, None)?;
        let shimmed = once(paths, &installed, mpi, run, Some(&paths.tested(BUILT_PRELOAD)))?;
        outcomes::compare(&plain.outcomes, &shimmed.outcomes).map_err(|message| Error::Program {
            run: shimmed.name.clone(),
            message: at(message, &shimmed),
        })?;
        eprintln!(
            "    {}: {} without and {} with mpress; {} messages compressed",
            plain.outcomes,
            seconds(plain.time),
            seconds(shimmed.time),
            shimmed.compressed
        );
        if run.ranks > 1 && shimmed.compressed == 0 {
            let message = "mpress compressed nothing, so this proves nothing".to_owned();
            return Err(Error::Program { run: shimmed.name, message });
        }
        tests += plain.outcomes.count();
        messages += shimmed.compressed;
    }
    Ok(Done::Ran(format!("{tests} tests with the same outcome, {messages} messages compressed")))
}

/// One run of the suite.
struct Suite {
    name: String,
    time: Duration,
    /// Its standard output and error.
    log: PathBuf,
    outcomes: Outcomes,
    compressed: u64,
}

fn at(message: String, suite: &Suite) -> String {
    format!("{message}\nits output: {}", suite.log.display())
}

fn once(
    paths: &Paths,
    installed: &Installed,
    mpi: Mpi,
    run: &Run,
    shim: Option<&Path>,
) -> Result<Suite, Error> {
    let how = if shim.is_some() { "mpress" } else { "plain" };
    let name = format!("mpi4py with {}, {}, {how}", mpi.title(), run.name());
    eprintln!("    {name}");
    let dir = installed.outcomes();
    create_folder(&dir)?;
    let prefix = dir.join(format!("{}.{how}", run.name()));
    let file = |extension: &str| {
        let mut name = OsString::from(&prefix);
        name.push(format!(".{extension}"));
        PathBuf::from(name)
    };
    let lines: Vec<_> = (0..run.ranks).map(|rank| file(&rank.to_string())).collect();
    for file in &lines {
        let _there_or_not: std::io::Result<()> = fs::remove_file(file);
    }
    let mut job = Launcher::Local.mpirun(mpi, run.ranks);
    for (name, value) in installed.env() {
        job.env(name, value);
    }
    job.current_dir(&dir).program(installed.python()).arg(paths.root().join("xtask/mpi4py/record.py"));
    job.arg(installed.tests()).arg(&prefix).args(run.options());
    for excluded in EXCLUDED.iter().filter(|excluded| excluded.family.is_none_or(|only| only == mpi.family()))
    {
        job.args(["-x", excluded.tests]);
    }
    let preloaded: Vec<_> = shim.map(Path::to_owned).into_iter().chain(installed.preloaded()).collect();
    if !preloaded.is_empty() {
        job.env("LD_PRELOAD", std::env::join_paths(preloaded).unwrap_or_default());
    }
    if shim.is_some() {
        for (name, value) in FORCED {
            job.env(name, value);
        }
    }
    let start = Instant::now();
    let mut command = job.command();
    let outcome = mpress_cluster::run_with_timeout(command.env("PATH", mpis::path(paths)), LIMIT)?;
    let time = start.elapsed();
    let (stdout, stderr, ended) = match outcome {
        Outcome::Finished(output) => (output.stdout, output.stderr, true),
        Outcome::TimedOut(partial) => (partial.stdout, partial.stderr, false),
    };
    let log = file("log");
    fs::write(&log, [stdout, stderr.clone()].concat()).map_err(Error::file(&log))?;
    let written = lines.iter().map(|file| fs::read_to_string(file).unwrap_or_default());
    let outcomes = Outcomes::read(written).map_err(|message| {
        let until = if ended { String::new() } else { format!(" (ended after {})", seconds(LIMIT)) };
        Error::Program {
            run: name.clone(),
            message: format!("{message}{until}\nits output: {}", log.display()),
        }
    })?;
    let compressed = report::compressed(&String::from_utf8_lossy(&stderr));
    Ok(Suite { name, time, log, outcomes, compressed })
}

/// Tests that cannot be compared.
struct Excluded {
    family: Option<Family>,
    /// A pattern for the suite's option `-x`.
    tests: &'static str,
    #[allow(dead_code, reason = "for the reader")]
    why: &'static str,
}

const EXCLUDED: [Excluded; 3] = [
    Excluded {
        family: Some(Family::Mpich),
        tests: "test_util_sync",
        why: "locks by one-sided communication alone: hangs for minutes without the shim if ranks spin on busy cores",
    },
    Excluded {
        family: Some(Family::OpenMpi),
        tests: "test_spawn",
        why: "4.1.4 hangs without the shim, in another test each time, most often in MPI_Comm_spawn_multiple",
    },
    Excluded {
        family: Some(Family::OpenMpi),
        tests: "TestProcessPool",
        why: "the same, with one rank, if the pool spawns its processes",
    },
];
