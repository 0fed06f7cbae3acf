//! `mpress doctor`: whether a job would run with its messages compressed, and what is in the way.

mod command;
mod facts;
mod judge;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use clap::Args;

use crate::{libraries, program};
use facts::Facts;

/// Look whether a job would run with its messages compressed
///
/// Give it the command as you would type it:
///
///     mpress doctor -- mpirun -n 4 ./app arguments
///
/// It starts a short job in the same way, with itself in place of the program, and says
/// which MPI the program uses, whether every node has the same libraries and settings,
/// whether the network is measured, which other tools are preloaded, and whether messages
/// would be compressed. The program does not run.
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    override_usage = "mpress doctor [OPTIONS] -- LAUNCHER [...] PROGRAM [ARGS]..."
)]
pub(crate) struct Options {
    /// The library to put before MPI, instead of the one installed
    #[arg(long, value_name = "PATH")]
    preload: Option<PathBuf>,

    /// As one rank of the job: say what is here
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
    #[error("no program found in the command: `{0}`")]
    NoProgram(String),
    #[error("`{0}` cannot be started: {1}")]
    Start(String, String),
    #[error("`{0}` started no rank of mpress{1}")]
    Silent(String, String),
}

/// Examines the job; whether all is well.
pub(crate) fn run(options: &Options) -> Result<bool, Error> {
    let preload = libraries::preload(options.preload.as_deref());
    if options.on_rank {
        Facts::of_this_rank(preload, &options.command).say();
        return Ok(true);
    }
    let preload = preload?;
    let words = || options.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let is_program = |word: &OsString| program::find(word).is_ok();
    let place = command::program(&options.command, is_program).ok_or_else(|| Error::NoProgram(words()))?;
    let this = std::env::current_exe().unwrap_or_else(|_| "mpress".into());
    let mut job =
        command::job(&options.command, place, &this, &preload).ok_or_else(|| Error::NoProgram(words()))?;
    let launcher =
        || options.command.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let output =
        job.stdin(Stdio::null()).output().map_err(|error| Error::Start(launcher(), error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut ranks: Vec<Facts> = text.lines().filter_map(Facts::read).collect();
    if ranks.is_empty() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let why = stderr.lines().map(str::trim).find(|line| line.chars().any(char::is_alphabetic));
        return Err(Error::Silent(launcher(), why.map(|line| format!(": {line}")).unwrap_or_default()));
    }
    ranks.sort_by_key(|facts| facts.rank);
    let findings = judge::judge(&ranks);
    findings.iter().for_each(|finding| println!("{finding}"));
    Ok(findings.iter().all(|finding| !finding.is_wrong()))
}
