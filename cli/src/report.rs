//! `mpress report`: shows the reports that jobs have written, as text and as an HTML page.

mod chart;
mod page;
mod spread;
mod tables;
mod text;
mod units;
mod xml;

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser as _};
use mpress::report::JobReport;

use crate::similar;

/// Show the reports of jobs, as text and as an HTML page
///
/// A job writes its report at its end if it is run with
///
///     mpress run --report-file NAME.json
///
/// Several reports are compared; speedups are against the first. Runs with the same
/// program, ranks, nodes and strategy share a line, with the range of their times.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Options {
    /// Reports in JSON
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The file for the page [default: next to FILE, as .html; no page for several files]
    #[arg(long, value_name = "PATH", value_parser = PathBufValueParser::new().try_map(page_path))]
    html: Option<PathBuf>,
}

/// What failed.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{}: {why}{}", .file.display(), similar::file(.file))]
    Read { file: PathBuf, why: io::Error },
    #[error("{}: not a report of mpress in JSON: {why}", .file.display())]
    Foreign { file: PathBuf, why: String },
    #[error("{}: the page is not written: {why}", .path.display())]
    Write { path: PathBuf, why: io::Error },
    #[error("{}: the page is not written: it would replace the report; choose another file with --html", .0.display())]
    Replace(PathBuf),
    #[error("standard output: {0}")]
    Print(io::Error),
}

/// A report and its file.
struct Named {
    file: String,
    report: JobReport,
}

/// Shows all reports that can be read. Fails if any error occurred.
pub(crate) fn run(options: &Options) -> ExitCode {
    let mut status = ExitCode::SUCCESS;
    let mut fails = |error: &Error| {
        // If standard error is closed, nothing can be reported.
        let _ = writeln!(io::stderr(), "mpress: {}", text::plain(&error.to_string()));
        status = ExitCode::FAILURE;
    };
    let mut reports = Vec::new();
    for file in &options.files {
        match read(file) {
            Ok(report) => reports.push(Named { file: file.display().to_string(), report }),
            Err(error) => fails(&error),
        }
    }
    let mut text = text::text(&reports);
    if let Some(path) = options.page().filter(|_| !reports.is_empty()) {
        match write(&path, &options.files, &page::page(&reports)) {
            Ok(()) => text += &format!("page: {}\n", text::plain(&path.display().to_string())),
            Err(error) => fails(&error),
        }
    }
    if let Err(error) = print(&text) {
        fails(&error);
    }
    status
}

impl Options {
    fn page(&self) -> Option<PathBuf> {
        self.html.clone().or_else(|| match &*self.files {
            [file] => Some(file.with_extension("html")),
            _ => None,
        })
    }
}

fn page_path(path: PathBuf) -> Result<PathBuf, &'static str> {
    if path == Path::new("-") {
        Err("the text goes to standard output, the page to a file")
    } else {
        Ok(path)
    }
}

fn read(file: &Path) -> Result<JobReport, Error> {
    let text = fs::read_to_string(file).map_err(|why| Error::Read { file: file.to_owned(), why })?;
    JobReport::from_json(&text).map_err(|why| Error::Foreign { file: file.to_owned(), why })
}

fn write(path: &Path, reports: &[PathBuf], page: &str) -> Result<(), Error> {
    if let Ok(there) = path.canonicalize()
        && reports.iter().any(|file| file.canonicalize().is_ok_and(|file| file == there))
    {
        return Err(Error::Replace(path.to_owned()));
    }
    fs::write(path, page).map_err(|why| Error::Write { path: path.to_owned(), why })
}

/// Prints the text. A reader that stops early is not an error.
fn print(text: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::Print(error)),
        _ => Ok(()),
    }
}
