//! `mpress bench`: whether a program is faster with mpress, by runs with and without it in turn.

use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use clap::Args;

use crate::{command, libraries};

/// Run a job without and with mpress, in turn, and show the speedup
///
/// Give it the command as you would type it:
///
///     mpress bench -- mpirun -n 4 ./app arguments
///
/// It runs the command as it is and with `mpress run --` before the program, and
/// measures how long each takes, from start to end. A command with `mpress run` is
/// also run without it. What the program prints on standard output is not shown.
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    override_usage = "mpress bench [OPTIONS] -- LAUNCHER [...] PROGRAM [ARGS]..."
)]
pub(crate) struct Options {
    /// The number of pairs of runs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,

    /// The command that starts the program
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Library(#[from] libraries::Error),
    #[error(transparent)]
    Command(#[from] command::Error),
    #[error("`{0}` cannot be started: {1}")]
    Start(String, std::io::Error),
    #[error("the command failed {0} mpress ({1})")]
    Failed(&'static str, ExitStatus),
}

/// Seconds without and with mpress.
type Pair = [f64; 2];

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let words = &options.command;
    let place = command::place(words)?;
    let is_run = command::is_run(words, place);
    if !is_run {
        // Each rank would find this out, after the run without mpress.
        libraries::preload(None)?;
    }
    let this = std::env::current_exe().unwrap_or_else(|_| "mpress".into());
    let before = [this.as_os_str(), OsStr::new("run"), OsStr::new("--")];
    let job = |with: bool| match (with, is_run) {
        (false, _) => command::with(words, place, &[]),
        (true, false) => command::with(words, place, &before),
        (true, true) => as_typed(words),
    };
    println!("pair  without, s  with mpress, s  speedup");
    let mut pairs: Vec<Pair> = Vec::new();
    for pair in 1..=options.runs {
        let mut seconds = Pair::default();
        // Every second pair the other way round: a machine that gets slower or faster favours neither.
        let order = if pair % 2 == 1 { [false, true] } else { [true, false] };
        for with in order {
            seconds[usize::from(with)] = timed(job(with), with)?;
        }
        let [without, with] = seconds;
        println!("{pair:>4}  {without:>10.3}  {with:>14.3}  {:>7.3}", without / with);
        pairs.push(seconds);
    }
    println!("{}", verdict(&pairs));
    Ok(())
}

fn as_typed(words: &[OsString]) -> Command {
    let (launcher, rest) =
        words.split_first().map_or((OsStr::new(""), words), |(one, rest)| (one.as_os_str(), rest));
    let mut command = Command::new(launcher);
    command.args(rest);
    command
}

fn timed(mut command: Command, with: bool) -> Result<f64, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let start = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.map_err(|error| Error::Start(name, error))?;
    if !status.success() {
        return Err(Error::Failed(if with { "with" } else { "without" }, status));
    }
    Ok(start.elapsed().as_secs_f64())
}

/// The speedup, its range over the pairs, and what that means.
fn verdict(pairs: &[Pair]) -> String {
    let mut speedups: Vec<_> = pairs.iter().map(|[without, with]| without / with).collect();
    speedups.sort_by(f64::total_cmp);
    let at = |at: usize| speedups.get(at).copied().unwrap_or(1.0);
    let last = speedups.len().saturating_sub(1);
    let (least, median, most) = (at(0), (at(last / 2) + at(last.div_ceil(2))) / 2.0, at(last));
    if speedups.len() < 2 {
        return format!("speedup {median:.3} in a single pair, which may be chance (--runs N)");
    }
    let meaning = if least > 1.0 {
        "faster with mpress"
    } else if most < 1.0 {
        "slower with mpress"
    } else {
        "no difference beyond the spread"
    };
    format!("speedup {median:.3}, from {least:.3} to {most:.3} in {} pairs: {meaning}", speedups.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_one_only_beyond_the_spread() {
        let said = |pairs: &[Pair]| verdict(pairs);
        let faster = [[2.0, 1.0], [3.0, 2.0], [1.1, 1.0]];
        assert_eq!(said(&faster), "speedup 1.500, from 1.100 to 2.000 in 3 pairs: faster with mpress");
        assert!(
            said(&[[1.0, 2.0], [1.0, 4.0]])
                .starts_with("speedup 0.375, from 0.250 to 0.500 in 2 pairs: slower")
        );
        assert!(said(&[[1.0, 2.0], [2.0, 1.0]]).ends_with("no difference beyond the spread"));
        assert!(said(&[[2.0, 1.0]]).contains("single pair"));
    }
}
