//! `mpress doctor`: whether the messages of a job would be compressed, and if not, why.

mod facts;
mod judge;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::Args;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{command, libraries};
use facts::Facts;
use judge::Finding;

/// Check whether the messages of a job would be compressed
///
/// Give it the command as you would type it:
///
///     mpress doctor -- mpirun -n 4 ./app arguments
///
/// It starts a short job in the same way, with itself in place of the program. It says
/// which MPI the program uses, whether all nodes have the same libraries and settings,
/// which other tools are preloaded, and whether messages would be compressed. The
/// program does not run.
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    override_usage = "mpress doctor [OPTIONS] -- LAUNCHER [...] PROGRAM [ARGS]..."
)]
pub(crate) struct Options {
    /// The library to preload, instead of the installed one
    #[arg(long, value_name = "PATH")]
    preload: Option<PathBuf>,

    /// End the job after this time
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,

    /// As one rank of the job: report what is found here
    #[arg(long, hide = true)]
    on_rank: bool,

    /// The command that starts the program
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Library(#[from] libraries::Error),
    #[error(transparent)]
    Command(#[from] command::Error),
    #[error("`{0}` did not end within {1} s (--timeout SECONDS waits longer)")]
    Hangs(String, u64),
    #[error("`{0}` cannot be started: {1}")]
    Start(String, String),
    #[error("`{0}` started no rank of mpress{1}")]
    Silent(String, String),
}

/// Examines the job; returns whether there is no problem.
pub(crate) fn run(options: &Options) -> Result<bool, Error> {
    let preload = libraries::preload(options.preload.as_deref());
    if options.on_rank {
        Facts::of_this_rank(preload, &options.command).say();
        return Ok(true);
    }
    let preload = preload?;
    let place = command::place(&options.command)?;
    let this = std::env::current_exe().unwrap_or_else(|_| "mpress".into());
    let [doctor, on_rank, given, end] = ["doctor", "--on-rank", "--preload", "--"].map(OsStr::new);
    let before = [this.as_os_str(), doctor, on_rank, given, preload.as_os_str(), end];
    let job = command::with(&options.command, place, &before);
    let launcher =
        options.command.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let output = ended(job, &launcher, options.timeout)?;

    let text = String::from_utf8_lossy(&output.stdout);
    let said: Vec<_> = text.lines().filter_map(Facts::read).collect();
    if said.is_empty() {
        return Err(Error::Silent(launcher, first_words(&output.stderr)));
    }
    let other_versions = said.iter().filter(|facts| facts.is_err()).count();
    let mut ranks: Vec<Facts> = said.into_iter().flatten().collect();
    ranks.sort_by_key(|facts| facts.rank);
    let mut findings = judge::judge(&ranks, command::is_run(&options.command, place));
    if other_versions > 0 {
        findings
            .push(Finding::Wrong(format!("library: {other_versions} ranks have another version of mpress")));
    }
    if !output.status.success() {
        let why = first_words(&output.stderr);
        findings.push(Finding::Wrong(format!("job: {launcher} failed ({}){why}", output.status)));
    }
    findings.iter().for_each(|finding| println!("{finding}"));
    Ok(findings.iter().all(|finding| !finding.is_wrong()))
}

/// The first lines of an error that contain words.
fn first_words(stderr: &[u8]) -> String {
    const MOST: usize = 6;
    let stderr = String::from_utf8_lossy(stderr);
    let has_words = |line: &&str| line.chars().any(char::is_alphabetic);
    let lines = stderr.lines().map(str::trim).skip_while(|line| !has_words(line));
    let words = lines.take_while(has_words).take(MOST).collect::<Vec<_>>().join(" ");
    if words.is_empty() { words } else { format!(": {words}") }
}

/// Runs the job to its end. A launcher that is terminated ends its ranks.
fn ended(mut job: Command, launcher: &str, seconds: u64) -> Result<Output, Error> {
    let start = |error: std::io::Error| Error::Start(launcher.to_owned(), error.to_string());
    let child =
        job.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(start)?;
    let id = i32::try_from(child.id()).ok();
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        // Sending fails only after the time limit, when the receiver has been dropped.
        let _late = send.send(child.wait_with_output());
    });
    match receive.recv_timeout(Duration::from_secs(seconds)) {
        Ok(output) => output.map_err(start),
        Err(_) => {
            // It has ended meanwhile, or a failure cannot be handled.
            let send = |signal| id.map(|id| kill(Pid::from_raw(id), signal));
            let _ended: Option<Result<(), Errno>> = send(Signal::SIGTERM);
            thread::sleep(Duration::from_secs(1));
            let _killed: Option<Result<(), Errno>> = send(Signal::SIGKILL);
            Err(Error::Hangs(launcher.to_owned(), seconds))
        }
    }
}
