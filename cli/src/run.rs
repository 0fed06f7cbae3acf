//! `mpress run`: becomes the program, with the preload library loaded before its MPI library.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::{detect, launcher, libraries, program};

const PRELOAD: &str = "LD_PRELOAD";

/// What is printed at the end.
const REPORT: &str = "MPRESS_REPORT";

/// The settings file.
const CONFIG: &str = "MPRESS_CONFIG";

/// The folders in which the dynamic loader looks for libraries that are given by file name only.
const FOLDERS: &str = "LD_LIBRARY_PATH";

/// Run a program with its MPI messages compressed
///
/// Give it to mpirun in place of the program:
///
///     mpirun -n 4 mpress run -- ./app arguments
///
/// mpress finds the MPI when the program makes its first MPI call. mpress replaces
/// itself by the program, so exit status, signals and output are the program's.
#[derive(Args)]
#[command(verbatim_doc_comment, after_long_help = ENVIRONMENT)]
#[command(override_usage = "mpirun [...] mpress run [OPTIONS] -- PROGRAM [ARGS]...")]
pub(crate) struct Options {
    /// How mpress decides what to compress: adaptive, ras, guided, fixed:CODEC, off or measure [default: adaptive]
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<mpress::Strategy>,

    /// What to print about messages at the end of the job [default: none]
    #[arg(long, value_enum, value_name = "WHAT")]
    report: Option<Report>,

    /// Write the full report to this file, as JSON if its name ends in .json, and print a summary unless MPRESS_REPORT is set
    #[arg(long, value_name = "FILE")]
    report_file: Option<PathBuf>,

    /// What to do with messages inside a node [default: pass]
    #[arg(long, value_enum, value_name = "WHAT")]
    same_node: Option<SameNode>,

    /// Threads per rank for messages longer than 1 MiB [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Record receive calls and samples of messages in this folder
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,

    /// The library to preload, instead of the installed one
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
  MPRESS_PREDICT    on: while a rank waits, decode the messages it will ask for next
  MPRESS_TRACE      the folder for receive calls, as --record
  MPRESS_RECORD     the folder for samples of messages, as --record
  MPRESS_CONFIG     a settings file; docs/settings.md lists all settings
  MPRESS_DISABLE    1: compress nothing
  MPRESS_LIBDIR     the folder of the libraries; without it ../lib and ../lib/mpress beside this command

Exit status:
  2 for a wrong command line or setting, 125 if mpress fails, 126 if the program cannot be executed,
  127 if it is not found; otherwise that of the program.";

#[derive(Clone, Copy, ValueEnum)]
enum Report {
    /// Nothing
    None,
    /// A few lines: messages, bytes, and the savings
    Summary,
    /// Everything that was counted
    Full,
}

#[derive(Clone, Copy, ValueEnum)]
enum SameNode {
    /// Leave them alone: shared memory is faster than any compression
    Pass,
    /// Compress them too, to try mpress without a network
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
    /// The shim would pass everything through, possibly after hours in a queue.
    #[error(transparent)]
    Settings(#[from] mpress::SettingsError),
    /// A file or folder that a setting names; the shim would do without it, or find out hours later.
    #[error("{0}")]
    File(String),
    #[error("`{}` cannot be preloaded: its path has a colon or a semicolon, at which the dynamic loader splits paths", .0.display())]
    Separator(PathBuf),
}

impl Error {
    /// The same values as in `env`, `nice` and `timeout`.
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Self::Program(error) => error.exit_status(),
            Self::Settings(_) | Self::File(_) => 2,
            Self::Library(_) | Self::Separator(_) => 125,
        }
    }

    /// Whether other nodes may not have this error, because files may differ.
    pub(crate) fn is_of_node(&self) -> bool {
        matches!(self, Self::File(_) | Self::Settings(mpress::SettingsError::File { .. }))
    }
}

/// Becomes the program; returns only if that failed, with the reason.
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
    if let Some(why) = detect::out_of_reach(&path).filter(|_| launcher::rank().is_none_or(|rank| rank == 0)) {
        eprintln!(
            "mpress: `{}` {why}, so nothing can be preloaded; its messages are not compressed",
            name.display()
        );
    }
    let library = libraries::preload(options.preload.as_deref())?;
    if let Some(abi) = detect::linked(&path) {
        libraries::shim(&library, abi)?; // otherwise messages would pass through
    }
    let mut command = Command::new(name);
    let named = Named::new(&library)?;
    // After the user's own libraries, so that a tool among them sees the program's calls.
    let preloaded = with(std::env::var_os(PRELOAD).as_deref(), named.library, b": ", Place::Last);
    command.args(args).env(PRELOAD, preloaded);
    if let Some(folder) = named.folder {
        let folders = with(std::env::var_os(FOLDERS).as_deref(), folder, b":;", Place::First);
        command.env(FOLDERS, folders);
    }
    if let Some(strategy) = options.strategy {
        command.env("MPRESS_STRATEGY", strategy.to_string());
    }
    if let Some(report) = options.report {
        command.env(REPORT, report.value());
    }
    if let Some(file) = &options.report_file {
        command.env("MPRESS_REPORT_FILE", file);
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
    let given = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let vars: BTreeMap<_, _> = std::env::vars_os().chain(given).collect();
    let asks_for_report = vars.get(OsStr::new(REPORT)).is_some_and(|value| !value.is_empty());
    // The program may go to another folder before it starts its MPI. A variable overrides the file, so paths in it are passed on, too.
    if let Some(file) = vars.get(OsStr::new(CONFIG)).filter(|file| !file.is_empty()) {
        command.env(CONFIG, std::path::absolute(file).unwrap_or_else(|_| file.into()));
    }
    let settings = mpress::Settings::from_vars(vars)?;
    command.envs(settings.paths());
    // `none` in the environment is meant.
    if options.report_file.is_some() && !asks_for_report && settings.report == mpress::Report::None {
        command.env(REPORT, Report::Summary.value());
    }
    if !settings.disable {
        let is_first = launcher::rank().is_none_or(|rank| rank == 0);
        settings.check_files(is_first).map_err(Error::File)?;
        for folder in [&settings.trace, &settings.record].into_iter().flatten() {
            mpress_record::make_folder(folder).map_err(Error::File)?;
        }
    }
    Ok(command)
}

/// How a library is passed to the dynamic loader.
#[derive(Debug, PartialEq, Eq)]
struct Named<'a> {
    library: &'a OsStr,
    /// The folder of the library, if `LD_PRELOAD` gives only its file name.
    folder: Option<&'a OsStr>,
}

impl<'a> Named<'a> {
    /// `LD_PRELOAD` is split at blanks and colons and has no quoting. `LD_LIBRARY_PATH` is split only at colons and semicolons. So a library whose
    /// path contains a blank is given by its file name, with its folder in `LD_LIBRARY_PATH`.
    fn new(path: &'a Path) -> Result<Self, Error> {
        let has = |text: &OsStr, is: fn(&u8) -> bool| text.as_encoded_bytes().iter().any(is);
        let splits = |byte: &u8| *byte == b':' || byte.is_ascii_whitespace();
        if !has(path.as_os_str(), splits) {
            return Ok(Self { library: path.as_os_str(), folder: None });
        }
        let (library, folder) =
            path.file_name().zip(path.parent()).ok_or_else(|| Error::Separator(path.to_owned()))?;
        if has(library, splits) || has(folder.as_os_str(), |byte| b":;".contains(byte)) {
            return Err(Error::Separator(path.to_owned()));
        }
        Ok(Self { library, folder: Some(folder.as_os_str()) })
    }
}

enum Place {
    First,
    Last,
}

/// A list for the dynamic loader with one more entry. A `mpress run` inside another must not add the entry twice.
fn with(list: Option<&OsStr>, entry: &OsStr, separators: &[u8], place: Place) -> OsString {
    let Some(list) = list.filter(|list| !list.is_empty()) else { return entry.to_owned() };
    let mut entries = list.as_encoded_bytes().split(|byte| separators.contains(byte));
    if entries.any(|path| path == entry.as_encoded_bytes()) {
        return list.to_owned();
    }
    let colon = OsStr::new(":");
    match place {
        Place::First => [entry, colon, list],
        Place::Last => [list, colon, entry],
    }
    .into_iter()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the variables that the sources in this folder read by a literal name.
    fn variables(folder: &Path, names: &mut Vec<String>) {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                variables(&path, names);
            } else if name.ends_with(".rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for call in ["var(\"MPRESS_", "var_os(\"MPRESS_", "env!(\"MPRESS_"] {
                    let ends = text.split(call).skip(1).filter_map(|rest| rest.split('"').next());
                    names.extend(ends.map(|end| format!("MPRESS_{end}")));
                }
            }
        }
    }

    #[test]
    fn variables_that_the_project_reads_are_known() {
        let mut names = vec!["MPRESS_LIBDIR".to_owned()];
        variables(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut names);
        assert!(names.len() > 10, "{names:?}");
        for name in names {
            let settings = mpress::Settings::from_vars([(name.clone().into(), "x".into())]);
            assert!(settings.map_or(true, |settings| settings.unknown.is_empty()), "{name}");
        }
    }

    #[test]
    fn the_users_libraries_stay_in_front_and_ours_comes_once() {
        let list =
            |list: Option<&str>, place| with(list.map(OsStr::new), OsStr::new("/lib/s.so"), b": ", place);
        assert_eq!(list(None, Place::Last), "/lib/s.so");
        assert_eq!(list(Some(""), Place::Last), "/lib/s.so");
        assert_eq!(list(Some("/a.so /b.so"), Place::Last), "/a.so /b.so:/lib/s.so");
        assert_eq!(list(Some("/lib/s.so:/a.so"), Place::Last), "/lib/s.so:/a.so");
        assert_eq!(list(Some("/x/lib/s.so"), Place::Last), "/x/lib/s.so:/lib/s.so");
        assert_eq!(list(Some("/x"), Place::First), "/lib/s.so:/x");
    }

    #[test]
    fn a_library_is_named_by_its_path_or_by_its_folder_where_that_has_a_blank() {
        let os = OsStr::new;
        let plain = Named::new(Path::new("/lib;/s.so")).unwrap();
        assert_eq!(plain, Named { library: os("/lib;/s.so"), folder: None });
        let blank = Named::new(Path::new("/my lib/s.so")).unwrap();
        assert_eq!(blank, Named { library: os("s.so"), folder: Some(os("/my lib")) });
    }

    #[test]
    fn a_path_the_loader_would_split_is_refused() {
        for path in ["/a:b/s.so", "/my lib;/s.so", "/lib/my s.so", "/my lib:/s.so"] {
            let error = Named::new(Path::new(path)).unwrap_err();
            assert_eq!(error.exit_status(), 125);
            assert!(error.to_string().contains(path), "{error}");
        }
    }
}
