//! `mpress predict`: how well the next receive call of a rank can be predicted. The evaluation of Afsahi and Dimopoulos,
//! *Efficient Communication Using Message Prediction for Cluster of Multiprocessors* (2000), for any traces.

mod distribution;
mod evaluate;
mod input;
mod paper;
mod plots;
mod starts;
mod tables;

use clap::{Args, ValueEnum};
use evaluate::Evaluated;
use std::io::Write as _;
use std::path::PathBuf;

/// Show how well receive calls can be predicted, from traces of them
///
/// A trace is a file with the receive calls of one rank, APP.CLASS.NPROCS.rRANK.csv.gz
/// or APP.NPROCS.rRANK.csv.gz. Files of one run have the same name except for the rank.
/// TRACE is such a file, or a folder with such files.
///
/// Hit ratios are given as minimum, mean and maximum over the ranks of a run. Tag-based
/// predictors know the call site of the next call; the two-level ones predict it. Memory
/// is that of the rank that needs the most, in messages (6-tuples); for the tournament
/// predictors, in bytes.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Options {
    /// Traces, or folders of traces
    #[arg(required = true, value_name = "TRACE")]
    paths: Vec<PathBuf>,

    /// The output format: tables with all figures, or hit ratios and memory as CSV
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,

    /// A folder for the figures, as SVG
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,

    /// Hit ratios are means over N runs of a predictor, of which run K begins at call K
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    starts: u32,

    /// Whether predictors skip the calls before the first cycle of more than five
    #[arg(long, value_name = "PHASE", default_value = "on")]
    initialisation: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Csv,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Phase {
    On,
    Off,
}

impl Phase {
    fn on(self) -> bool {
        self == Self::On
    }
}

/// Why nothing could be evaluated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Input(String),
    #[error("found no traces, which are files APP.NPROCS.rRANK.csv.gz (mpress run --record DIR makes them)")]
    NoTraces,
    #[error("{}: {why}", file.display())]
    Plot { file: PathBuf, why: String },
    #[error("cannot write the result: {0}")]
    Output(#[from] std::io::Error),
    #[error("cannot write the result: {0}")]
    Csv(#[from] csv::Error),
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let runs = input::find(&options.paths)?;
    let all = options.format == Format::Table || options.plot.is_some();
    let mut evaluated: Vec<Evaluated> = Vec::new();
    let mut runs = runs.iter().peekable();
    while let Some((run, files)) = runs.next() {
        // Runs are sorted by program, and then by the number of their ranks.
        let largest = runs.peek().is_none_or(|(next, _)| next.app != run.app);
        evaluated.push(evaluate::run(run, files, options, all && largest)?);
    }
    let text = match options.format {
        Format::Csv => tables::csv(&evaluated)?,
        Format::Table => tables::all(&evaluated).into_bytes(),
    };
    if let Some(folder) = &options.plot {
        plots::write(folder, &evaluated)?;
    }
    match std::io::stdout().write_all(&text) {
        // The reader of the output may stop early.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// The largest run of each program.
fn largest(runs: &[Evaluated]) -> impl Iterator<Item = &Evaluated> {
    let next = runs.iter().skip(1).map(Some).chain([None]);
    let last =
        |(run, next): (&Evaluated, Option<&Evaluated>)| next.is_none_or(|next| next.run.app != run.run.app);
    runs.iter().zip(next).filter(move |pair| last(*pair)).map(|(run, _)| run)
}
