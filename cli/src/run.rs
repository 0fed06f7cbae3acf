//! `mpress run`: becomes the program, with the preload library before its MPI library.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::{detect, libraries, program};

const PRELOAD: &str = "LD_PRELOAD";

/// Run a program with its MPI messages compressed
///
/// Give it to mpirun in place of the program:
///
///     mpirun -n 4 mpress run -- ./app arguments
///
/// Which MPI the program uses is found out when it makes its first MPI call. From then
/// on the process is the program: its exit status, its signals, its output.
#[derive(Args)]
#[command(verbatim_doc_comment, after_long_help = ENVIRONMENT)]
#[command(override_usage = "mpirun [...] mpress run [OPTIONS] -- PROGRAM [ARGS]...")]
pub(crate) struct Options {
    /// How to decide what is compressed: adaptive, guided, fixed:CODEC, off or measure [default: adaptive]
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<mpress::Strategy>,

    /// What to say at the end of the job about its messages [default: none]
    #[arg(long, value_enum, value_name = "WHAT")]
    report: Option<Report>,

    /// What to do with messages within a node [default: pass]
    #[arg(long, value_enum, value_name = "WHAT")]
    same_node: Option<SameNode>,

    /// Threads of each rank for messages of more than a MiB [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Record the receive calls of the program and samples of its messages in this folder
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,

    /// The library to put before MPI, instead of the one installed
    #[arg(long, value_name = "PATH")]
    preload: Option<PathBuf>,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

const ENVIRONMENT: &str = "\
Environment:
  MPRESS_STRATEGY   as --strategy
  MPRESS_REPORT     none, summary or full, as --report
  MPRESS_SAME_NODE  pass or compress, as --same-node
  MPRESS_THREADS    1 to 1024, as --threads
  MPRESS_TRACE      the folder for receive calls, as --record
  MPRESS_RECORD     the folder for samples of messages, as --record
  MPRESS_CONFIG     a file of settings; more of them are in docs/settings.md
  MPRESS_DISABLE    1 leaves all messages alone, 0 does not
  MPRESS_LIBDIR     where the libraries are, if not in ../lib or ../lib/mpress beside this command

Exit status:
  125 if mpress itself fails, 126 if the program cannot be executed, 127 if it is not found,
  2 for a wrong command line; else that of the program.";

#[derive(Clone, Copy, ValueEnum)]
enum Report {
    /// Nothing
    None,
    /// A few lines: messages, bytes, what was saved
    Summary,
    /// Everything that was counted
    Full,
}

#[derive(Clone, Copy, ValueEnum)]
enum SameNode {
    /// Leave them alone: shared memory is faster than any compression
    Pass,
    /// Compress them as well, to try mpress without a network
    Compress,
}

impl Report {
    fn value(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Summary => "summary",
            Self::Full => "full",
        }
    }
}

impl SameNode {
    fn value(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Compress => "compress",
        }
    }
}

/// Why the program does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Program(#[from] program::Error),
    #[error(transparent)]
    Library(#[from] libraries::Error),
    #[error("`{}` cannot be preloaded: its path has a blank or a colon in it", .0.display())]
    Separator(PathBuf),
}

impl Error {
    /// As `env`, `nice` and `timeout` have it.
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Self::Program(error) => error.exit_status(),
            Self::Library(_) | Self::Separator(_) => 125,
        }
    }
}

/// Becomes the program; comes back only with the reason why not.
pub(crate) fn run(options: &Options) -> Error {
    prepare(options).map_or_else(
        |error| error,
        |mut command| {
            let error = command.exec();
            program::Error::of_exec(command.get_program(), &error).into()
        },
    )
}

fn prepare(options: &Options) -> Result<Command, Error> {
    let (name, args) = options.command.split_first().ok_or(program::Error::None)?;
    let path = program::find(name)?;
    let library = libraries::preload(options.preload.as_deref())?;
    if let Some(abi) = detect::linked(&path) {
        libraries::shim(&library, abi)?; // or messages would pass through
    }
    let mut command = Command::new(name);
    command.args(args).env(PRELOAD, preload(&library, std::env::var_os(PRELOAD).as_deref())?);
    if let Some(strategy) = options.strategy {
        command.env("MPRESS_STRATEGY", strategy.to_string());
    }
    if let Some(report) = options.report {
        command.env("MPRESS_REPORT", report.value());
    }
    if let Some(same_node) = options.same_node {
        command.env("MPRESS_SAME_NODE", same_node.value());
    }
    if let Some(threads) = options.threads {
        command.env("MPRESS_THREADS", threads.to_string());
    }
    if let Some(folder) = &options.record {
        command.env("MPRESS_TRACE", folder).env("MPRESS_RECORD", folder);
    }
    Ok(command)
}

/// The library, then what was to be preloaded before.
fn preload(library: &Path, before: Option<&OsStr>) -> Result<OsString, Error> {
    let bytes = library.as_os_str().as_encoded_bytes();
    if bytes.iter().any(|&byte| byte == b':' || byte.is_ascii_whitespace()) {
        return Err(Error::Separator(library.to_owned()));
    }
    let mut all = library.as_os_str().to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        // One `mpress run` inside another must not put it there twice.
        if before.as_encoded_bytes().split(|byte| b": ".contains(byte)).any(|path| path == bytes) {
            return Ok(before.to_owned());
        }
        all.push(":");
        all.push(before);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shim_goes_first_and_once() {
        let shim = Path::new("/lib/s.so");
        assert_eq!(preload(shim, None).unwrap(), "/lib/s.so");
        assert_eq!(preload(shim, Some(OsStr::new(""))).unwrap(), "/lib/s.so");
        assert_eq!(preload(shim, Some(OsStr::new("/a.so /b.so"))).unwrap(), "/lib/s.so:/a.so /b.so");
        assert_eq!(preload(shim, Some(OsStr::new("/a.so:/lib/s.so"))).unwrap(), "/a.so:/lib/s.so");
        assert_eq!(preload(shim, Some(OsStr::new("/x/lib/s.so"))).unwrap(), "/lib/s.so:/x/lib/s.so");
    }

    #[test]
    fn a_path_the_loader_would_split_is_refused() {
        for path in ["/my lib/s.so", "/a:b/s.so"] {
            let error = preload(Path::new(path), None).unwrap_err();
            assert_eq!(error.exit_status(), 125);
            assert!(error.to_string().contains(path), "{error}");
        }
    }
}
