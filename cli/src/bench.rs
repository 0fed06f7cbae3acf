//! `mpress bench`: whether a program is faster with mpress, by runs with and without it in turn.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::{self, ErrorKind, Write as _};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Instant;

use clap::Args;
use nix::sys::signal::Signal;

use crate::{command, libraries, signals};

/// Run a job without and with mpress, in turn, and show the speedup
///
/// Give it the command as you would type it:
///
///     mpress bench -- mpirun -n 4 ./app arguments
///
/// It runs the command with `mpress run --` before the program, and with
/// `MPRESS_DISABLE=1` set for the program. So a program that uses mpress itself
/// (mpress-rsmpi) does not compress then, if it takes its settings from variables.
/// It measures how long each takes, from start to end. One run with mpress comes first
/// and does not count. A command with `mpress run` is also run without it. Standard
/// input is empty, and what the program prints on standard output is not shown.
///
/// The speedup is the median of the pairs. From 6 pairs on it has an interval, which
/// in 95 of 100 such measurements contains the true median.
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    override_usage = "mpress bench [OPTIONS] -- LAUNCHER [...] PROGRAM [ARGS]..."
)]
pub(crate) struct Options {
    /// The number of pairs of runs
    #[arg(long, value_name = "N", default_value_t = ENOUGH, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,

    /// The command that starts the program
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// With fewer pairs, all of them may be on one side of the true median by chance: of five, in 6 % of cases.
const ENOUGH: u32 = 6;

/// Why there is no result, or not the whole one.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Library(#[from] libraries::Error),
    #[error(transparent)]
    Command(#[from] command::Error),
    #[error("`{0}` cannot be started: {1}")]
    Start(String, io::Error),
    #[error("the command failed {0} mpress ({1})")]
    Failed(&'static str, ExitStatus),
    #[error("ended by {0}")]
    Ended(Signal),
    #[error("standard output: {0}")]
    Print(#[from] io::Error),
}

impl Error {
    /// As of a shell's commands.
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Ended(signal) => {
                u8::try_from(128 + *signal as i32).map_or(ExitCode::FAILURE, ExitCode::from)
            }
            _ => ExitCode::FAILURE,
        }
    }
}

/// Seconds without and with mpress.
type Pair = [f64; 2];

pub(crate) fn run(options: &Options) -> ExitCode {
    let mut pairs = Vec::new();
    let mut result = measure(options, &mut pairs);
    // Also of the pairs before a failure.
    if !pairs.is_empty() {
        result = result.and(say(&verdict(&pairs)));
    }
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that stops early is no error.
        Err(Error::Print(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, nothing can be reported.
            let _unwritten = writeln!(io::stderr(), "mpress: {error}");
            error.exit_code()
        }
    }
}

fn say(line: &dyn Display) -> Result<(), Error> {
    Ok(writeln!(io::stdout(), "{line}")?)
}

/// Runs the pairs, and adds each.
fn measure(options: &Options, pairs: &mut Vec<Pair>) -> Result<(), Error> {
    let words = &options.command;
    let place = command::place(words)?;
    command::can_be_without(words, place)?;
    let is_run = command::is_run(words, place);
    if !is_run {
        // Each rank would find this out, after the run without mpress.
        libraries::preload(None)?;
    }
    let this = std::env::current_exe().unwrap_or_else(|_| "mpress".into());
    let before = [this.as_os_str(), OsStr::new("run"), OsStr::new("--")];
    let job = |with: bool| match (with, is_run) {
        // Before the program, not for the launcher: all ranks must have the same settings, also those on other nodes.
        (false, _) => {
            let before: Vec<_> = disabled(words, place).iter().map(OsStr::new).collect();
            without_preload(command::with(words, place, &before))
        }
        (true, false) => command::with(words, place, &before),
        (true, true) => command::as_typed(words),
    };
    signals::catch();
    say(&"pair  without, s  with mpress, s  speedup")?;
    // The first run also reads programs and libraries from the disk.
    let first = timed(job(true), true);
    if let Err(error @ Error::Failed(..)) = &first {
        // mpress is to blame only if it does not fail without, which may take long.
        say(&format_args!("{error}; now without"))?;
        timed(job(false), false)?;
    }
    first?;
    for pair in 1..=options.runs {
        let mut seconds = Pair::default();
        // Every second pair the other way round: a machine that gets slower or faster favours neither.
        let order = if pair % 2 == 1 { [false, true] } else { [true, false] };
        for with in order {
            seconds[usize::from(with)] = timed(job(with), with)?;
        }
        let [without, with] = seconds;
        pairs.push(seconds);
        say(&format_args!("{pair:>4}  {without:>10.3}  {with:>14.3}  {:>7.3}", without / with))?;
    }
    Ok(())
}

/// The words before the program in a run without mpress. `env` would take a program with `=` in its name for a variable; a shell may not pass on all
/// variables.
fn disabled(words: &[OsString], place: usize) -> &'static [&'static str] {
    let has_sign = words.get(place).is_some_and(|program| program.as_encoded_bytes().contains(&b'='));
    if has_sign {
        &["sh", "-c", r#"export MPRESS_DISABLE=1; exec "$0" "$@""#]
    } else {
        &["env", "MPRESS_DISABLE=1"]
    }
}

/// A library of mpress in `LD_PRELOAD` would compress without `mpress run`, too.
fn without_preload(mut command: Command) -> Command {
    const PRELOAD: &str = "LD_PRELOAD";
    if let Some(list) = std::env::var_os(PRELOAD).filter(|list| libraries::names_ours(list)) {
        match libraries::without_ours(&list) {
            Some(others) => command.env(PRELOAD, others),
            None => command.env_remove(PRELOAD),
        };
    }
    command
}

fn timed(mut command: Command, with: bool) -> Result<f64, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let start = Instant::now();
    let status = signals::status(command.stdin(Stdio::null()).stdout(Stdio::null()));
    let seconds = start.elapsed().as_secs_f64();
    if let Some(signal) = signals::last() {
        return Err(Error::Ended(signal));
    }
    let status = status.map_err(|error| Error::Start(name, error))?;
    if !status.success() {
        return Err(Error::Failed(if with { "with" } else { "without" }, status));
    }
    Ok(seconds)
}

/// The speedup, its interval, and what that means.
fn verdict(pairs: &[Pair]) -> String {
    let mut speedups: Vec<_> = pairs.iter().map(|[without, with]| without / with).collect();
    speedups.sort_by(f64::total_cmp);
    let at = |at: usize| speedups.get(at).copied().unwrap_or(1.0);
    let last = speedups.len().saturating_sub(1);
    let median = (at(last / 2) + at(last.div_ceil(2))) / 2.0;
    let number = format!("{} pair{}", speedups.len(), if speedups.len() == 1 { "" } else { "s" });
    let Some(outside) = outside(speedups.len()) else {
        return format!("speedup {median:.3} in {number}: too few pairs to tell (--runs {ENOUGH})");
    };
    let (low, high) = (at(outside), at(last - outside));
    let meaning = if low > 1.0 {
        "faster with mpress"
    } else if high < 1.0 {
        "slower with mpress"
    } else {
        "no difference beyond chance\nWhether mpress compresses this program's messages: mpress doctor, with the same command"
    };
    format!("speedup {median:.3}, 95 % interval {low:.3} to {high:.3}, {number}: {meaning}")
}

/// The number of the least and of the most speedups that are outside an interval which contains the true median with 95 % or more, whatever the
/// distribution of speedups; `None` if there is no such interval. A speedup is below the true median as a coin shows heads, so this is the most
/// for which so few heads or fewer have 2.5 % at most.
fn outside(pairs: usize) -> Option<usize> {
    const SIDE: f64 = 0.025;
    let n = pairs as f64;
    // As a logarithm: of a thousand pairs, the probability of no heads is less than the smallest number.
    let (mut ln_exactly, mut at_most, mut heads) = (-n * std::f64::consts::LN_2, 0.0, 0);
    while heads <= pairs {
        at_most += ln_exactly.exp();
        if at_most > SIDE {
            break;
        }
        ln_exactly += ((pairs - heads) as f64 / (heads + 1) as f64).ln();
        heads += 1;
    }
    heads.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_one_only_beyond_chance() {
        let faster = [[2.0, 1.0], [3.0, 2.0], [1.1, 1.0], [1.2, 1.0], [1.4, 1.0], [1.6, 1.0]];
        let said = "speedup 1.450, 95 % interval 1.100 to 2.000, 6 pairs: faster with mpress";
        assert_eq!(verdict(&faster), said);
        let slower = faster.map(|[without, with]| [with, without]);
        assert!(verdict(&slower).ends_with("6 pairs: slower with mpress"));
        for few in 1..6 {
            assert!(verdict(&faster[..few]).contains("too few pairs to tell (--runs 6)"), "{few}");
        }
        assert!(verdict(&faster[..1]).contains("in 1 pair:"));
        // A slow run of very many says little, another one of a few says much.
        let mut many = [[1.2, 1.0]; 100];
        many[50] = [1.0, 4.0];
        assert!(verdict(&many).ends_with("faster with mpress"), "{}", verdict(&many));
        let few = [faster[0], faster[1], faster[2], faster[3], faster[4], [1.0, 1.1]];
        let said = verdict(&few);
        assert!(said.contains("no difference beyond chance\n") && said.ends_with("with the same command"));
    }

    /// Two-sided sign test at 5 %, by binomial coefficients.
    #[test]
    fn the_interval_is_that_of_the_sign_test() {
        for (pairs, expected) in
            [(0, None), (5, None), (6, Some(0)), (8, Some(0)), (9, Some(1)), (100, Some(39))]
        {
            assert_eq!(outside(pairs), expected, "{pairs}");
        }
        for pairs in 1..60_u32 {
            let (mut exactly, mut sum, mut count) = (1_u128, 0, 0);
            for heads in 0..u128::from(pairs) {
                sum += exactly;
                if sum * 40 > 1 << pairs {
                    break;
                }
                exactly = exactly * (u128::from(pairs) - heads) / (heads + 1);
                count += 1;
            }
            assert_eq!(outside(pairs as usize), usize::checked_sub(count, 1), "{pairs}");
        }
        let most = outside(10_000).unwrap();
        assert!((4_890..4_910).contains(&most), "{most}");
    }
}
