//! One run of one program: timed by the program's own clock, bytes counted by the interfaces.

use std::time::Duration;

use mpress_cluster::{Launcher, Mpi, Outcome, Partial, Traffic};

use crate::error::Error;
use crate::paths::Paths;
use crate::report;
use crate::step::tail;

/// The time limit of a run; one that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Cells along each axis and time steps, or keys and rounds, chosen so that the demo takes a few minutes. One simulation is divided as finely as is
/// usual, so that at 1 Gbit/s a good third of its time is communication (16 x 16 x 216 cells per rank); the other computes more between messages (48
/// x 48 x 96).
const SIZES: [(&str, &[&str]); 4] = [
    ("euler3d", &["32", "32", "216", "45"]),
    ("reaction3d", &["96", "96", "96", "15"]),
    ("grains", &["128", "60", "1"]),
    ("shuffle", &["262144", "100"]),
];

/// With or without mpress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    Plain,
    Mpress,
}

impl Variant {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Mpress => "mpress",
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// The program's own time, of its time loop only.
    pub(crate) seconds: f64,
    /// The digest of all bits of its result.
    pub(crate) digest: String,
    /// Bytes sent by all nodes while it ran.
    pub(crate) bytes: u64,
    /// The report of mpress, if one was requested.
    pub(crate) report: String,
}

pub(crate) fn measure(
    paths: &Paths,
    launcher: Launcher<'_>,
    mpi: Mpi,
    ranks: usize,
    program: &str,
    variant: Variant,
) -> Result<Run, Error> {
    let mut job = launcher.mpirun(mpi, ranks / launcher.nodes());
    job.pinned();
    let binary = paths.examples(mpi).join(program);
    if variant == Variant::Mpress {
        job.program(paths.mpress()).arg("run");
        if launcher.nodes() == 1 {
            // This host has no counters, so mpress itself must report that it was active.
            job.args([
                "--same-node",
                "compress",
                "--strategy",
                "fixed:diffpack-balanced",
                "--report",
                "summary",
            ]);
        }
        job.arg("--").arg(binary);
    } else {
        job.program(binary);
    }
    job.args(SIZES.into_iter().find(|(name, _)| *name == program).map(|(_, size)| size).unwrap_or_default());

    let before = sent(launcher)?;
    let outcome = job.run(LIMIT)?;
    let bytes = match (sent(launcher)?, before) {
        (Some(after), Some(before)) => after.since(&before).total(),
        _ => 0,
    };
    let wrong = |message: String| Error::Program { run: format!("{program}, {}", variant.name()), message };
    let output = match outcome {
        Outcome::Finished(output) => output,
        Outcome::TimedOut(partial) => return Err(wrong(hung(&partial))),
    };
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(wrong(format!("failed ({}), saying:\n{}", output.status, stderr.trim_end())));
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    if variant == Variant::Mpress {
        worked(&stderr, launcher.nodes() == 1).map_err(wrong)?;
    }
    let report = stderr.lines().find(|line| line.starts_with("mpress: ")).unwrap_or_default().to_owned();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let (seconds, digest) =
        parse(&stdout).ok_or_else(|| wrong(format!("gave no time and digest:\n{stdout}")))?;
    Ok(Run { seconds, digest, bytes, report })
}

/// Checks that mpress did not let all messages pass, as far as it says so; a run on one node has a report.
fn worked(stderr: &str, has_report: bool) -> Result<(), String> {
    match report::idle(stderr) {
        Some(line) => Err(format!("is no run with mpress: {line}")),
        None if has_report && report::compressed(stderr) == 0 => {
            Err(format!("compressed nothing, so the digests prove nothing:\n{}", stderr.trim_end()))
        }
        None => Ok(()),
    }
}

/// What a program that hangs wrote last.
fn hung(partial: &Partial) -> String {
    let [stdout, stderr] = [&partial.stdout, &partial.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("had not ended after {LIMIT:?}; its last words:\n{}", tail(&format!("{stdout}{stderr}"), 20))
}

fn sent(launcher: Launcher<'_>) -> Result<Option<Traffic>, Error> {
    match launcher {
        Launcher::Local => Ok(None),
        Launcher::Cluster(cluster) => Ok(Some(cluster.traffic()?)),
    }
}

/// Parses the program's last lines: `time SECONDS s` and `digest HEX`.
fn parse(stdout: &str) -> Option<(f64, String)> {
    let seconds = stdout.lines().rev().find_map(|line| line.strip_prefix("time ")?.strip_suffix(" s"))?;
    let digest = stdout.lines().next_back()?.strip_prefix("digest ")?;
    let is_digest = !digest.is_empty() && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then_some(())?;
    Some((seconds.trim().parse().ok()?, digest.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_read() {
        let text = "euler3d: 4 ranks\nmodel time 0.2\ntime 2.386 s\ndigest 67bc8bc78e4d6a16\n";
        assert_eq!(parse(text), Some((2.386, "67bc8bc78e4d6a16".to_owned())));
        for bad in ["", "time 1 s\n", "digest 12\n", "time 1 s\ndigest 12\nmore\n", "time 1 s\ndigest xyz\n"]
        {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_run_that_compressed_nothing_is_none_with_mpress() {
        let idle = "mpress: no shim; messages pass through uncompressed\n";
        let report =
            |count: u32| format!("mpress: {count} of 24 messages compressed over 4 ranks: 3 kB raw\n");
        assert!(worked(idle, false).unwrap_err().contains("no shim"));
        assert!(worked(&report(0), true).is_err() && worked("", true).is_err());
        assert_eq!((worked(&report(24), true), worked("", false)), (Ok(()), Ok(())));
    }

    #[test]
    fn a_run_that_hangs_has_last_words() {
        let partial = Partial { stdout: b"step 3\n".to_vec(), stderr: b"rank 1 waits\n".to_vec() };
        assert!(hung(&partial).ends_with("last words:\nstep 3\nrank 1 waits"), "{}", hung(&partial));
    }

    #[test]
    fn every_program_has_its_size() {
        for (name, _) in crate::build::EXAMPLES {
            assert!(SIZES.iter().any(|(program, _)| *program == name), "{name}");
        }
    }
}
