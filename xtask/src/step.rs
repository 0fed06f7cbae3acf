//! Steps: named commands that run in sequence and are timed; the first failure ends the sequence.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use crate::error::Error;
use crate::paths::create_folder;

/// One named command.
pub(crate) struct Step<'a> {
    name: String,
    todo: Todo<'a>,
    build: Build,
}

/// The role of a step in the build of what is tested.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Build {
    Makes,
    Uses,
    None,
}

enum Todo<'a> {
    Run(Box<Command>),
    Both { shown: Vec<Command>, kept: Vec<Command>, log: PathBuf },
    Call(Box<dyn FnOnce() -> Result<Done, Error> + 'a>),
    Skip(&'static str),
}

/// The result of a step that ended without an error.
pub(crate) enum Done {
    /// It ran; the text is worth showing.
    Ran(String),
    /// This machine cannot run it, for this reason.
    Skipped(String),
}

impl<'a> Step<'a> {
    pub(crate) fn new(name: impl Into<String>, command: Command) -> Self {
        Self { name: name.into(), todo: Todo::Run(Box::new(command)), build: Build::None }
    }

    /// Two sequences of commands at the same time, of which one often waits. The output of the second goes to a file, and is shown when both have
    /// ended.
    pub(crate) fn both(
        name: impl Into<String>,
        shown: Vec<Command>,
        kept: Vec<Command>,
        log: PathBuf,
    ) -> Self {
        Self { name: name.into(), todo: Todo::Both { shown, kept, log }, build: Build::None }
    }

    /// A step that is more than one command.
    pub(crate) fn call(name: impl Into<String>, call: impl FnOnce() -> Result<Done, Error> + 'a) -> Self {
        Self { name: name.into(), todo: Todo::Call(Box::new(call)), build: Build::None }
    }

    /// A step that this machine cannot run; shown as skipped and never as passed.
    pub(crate) fn skipped(name: impl Into<String>, reason: &'static str) -> Self {
        Self { name: name.into(), todo: Todo::Skip(reason), build: Build::None }
    }

    /// A step that builds files for others.
    pub(crate) fn that_builds(self) -> Self {
        Self { build: Build::Makes, ..self }
    }

    /// A step that uses built files, by their names.
    pub(crate) fn on_the_build(self) -> Self {
        Self { build: Build::Uses, ..self }
    }
}

/// Runs all steps, or those whose names contain this word, and prints how long each took.
pub(crate) fn run_all(mut steps: Vec<Step<'_>>, only: Option<&str>) -> Result<(), Error> {
    if let Some(word) = only {
        let names: Vec<_> = steps.iter().map(|step| step.name.clone()).collect();
        let is_wanted = |step: &Step<'_>| step.name.contains(word);
        if !steps.iter().any(is_wanted) {
            return Err(Error::NoStep { word: word.to_owned(), names: names.join("\n  ") });
        }
        let builds = steps.iter().any(|step| is_wanted(step) && step.build == Build::Uses);
        steps.retain(|step| is_wanted(step) || builds && step.build == Build::Makes);
    }
    let start = Instant::now();
    let count = steps.len();
    let width = steps.iter().map(|step| step.name.len()).max().unwrap_or(0);
    let mut summary = Vec::new();
    for (number, step) in (1..).zip(steps) {
        eprintln!("==> [{number}/{count}] {}", step.name);
        let (start, processor) = (Instant::now(), processor_time());
        let took = || {
            format!(
                "{} ({} of processor time)",
                seconds(start.elapsed()),
                seconds(processor_time() - processor)
            )
        };
        let outcome = match step.todo {
            Todo::Skip(reason) => format!("SKIPPED: {reason}"),
            Todo::Run(mut command) => {
                let what = format!("step {number} of {count}, {}", step.name);
                run(&what, &mut command)?;
                took()
            }
            Todo::Both { shown, kept, log } => {
                let what = format!("step {number} of {count}, {}", step.name);
                run_both(&what, shown, kept, log)?;
                took()
            }
            Todo::Call(call) => match call()? {
                Done::Ran(found) => format!("{}, {found}", took()),
                Done::Skipped(reason) => format!("SKIPPED: {reason}"),
            },
        };
        eprintln!("    {}: {outcome}", step.name);
        summary.push(format!("  {:width$}  {outcome}", step.name));
    }
    eprintln!("\nall {count} steps in {}\n{}", seconds(start.elapsed()), summary.join("\n"));
    Ok(())
}

/// The processor time of all commands so far.
fn processor_time() -> Duration {
    let micros = getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_or(0, |usage| usage.user_time().num_microseconds() + usage.system_time().num_microseconds());
    Duration::from_micros(micros.unsigned_abs())
}

/// Runs one command, with inherited standard streams unless it has others.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<(), Error> {
    let (status, what, command) = (command.status(), what.to_owned(), line(command));
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::Failed { what, command, status: status.to_string() }),
        Err(source) => Err(Error::Start { what, command, source }),
    }
}

/// Runs two sequences of commands at the same time. If the first fails, the second still runs to its end, because its commands clean up what they
/// have started.
fn run_both(what: &str, shown: Vec<Command>, kept: Vec<Command>, log: PathBuf) -> Result<(), Error> {
    let folder = log.parent().unwrap_or(&log);
    create_folder(folder)?;
    let file = File::create(&log).map_err(Error::file(&log))?;
    let to_file = |mut command: Command| {
        let copy = || file.try_clone().map_err(Error::file(&log));
        run(what, command.stdout(copy()?).stderr(copy()?))
    };
    let (first, second) = std::thread::scope(|scope| {
        let kept = scope.spawn(|| kept.into_iter().try_for_each(to_file));
        let first = shown.into_iter().try_for_each(|mut command| run(what, &mut command));
        (first, kept.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let mut file = File::open(&log).map_err(Error::file(&log))?;
    io::copy(&mut file, &mut io::stderr()).map_err(Error::file(log))?;
    first.and(second)
}

/// A command as it would be typed: the variables that it sets, then its words.
fn line(command: &Command) -> String {
    let env = command.get_envs().filter_map(|(name, value)| {
        let value = value?.to_string_lossy();
        // Words with blanks or quotes need quoting; others are easier to read without.
        let plain = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./,=:".contains(&b));
        let value = if plain { value.into_owned() } else { format!("'{value}'") };
        Some(format!("{}={value}", name.to_string_lossy()))
    });
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    env.chain(words.map(|word| word.to_string_lossy().into_owned())).collect::<Vec<_>>().join(" ")
}

/// A time in readable form.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_first_failure_ends_it_and_is_named() {
        let marker = std::env::temp_dir().join(format!("xtask-step-{}", std::process::id()));
        let touch = format!("touch {}", marker.display());
        let steps = vec![
            Step::new("fine", sh("true")),
            Step::skipped("impossible", "no such processor"),
            Step::new("bad", sh("exit 3")),
            Step::new("never", sh(&touch)),
        ];
        let error = run_all(steps, None).unwrap_err().to_string();
        assert_eq!(error, "step 3 of 4, bad: `sh -c exit 3` failed (exit status: 3)");
        assert!(!marker.exists());
    }

    #[test]
    fn of_two_at_the_same_time_both_must_pass() {
        let log = std::env::temp_dir().join(format!("xtask-both-{}/log", std::process::id()));
        let run = |one, other| {
            run_all(
                vec![Step::both("both", vec![sh(one)], vec![sh(other), sh("echo then")], log.clone())],
                None,
            )
        };
        run("true", "echo kept").unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap(), "kept\nthen\n");
        for (one, other) in [("true", "exit 3"), ("exit 3", "true"), ("exit 3", "exit 4")] {
            let error = run(one, other).unwrap_err().to_string();
            assert_eq!(error, "step 1 of 1, both: `sh -c exit 3` failed (exit status: 3)");
        }
        fs::remove_dir_all(log.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_call_says_what_came_of_it() {
        let mut ran = false;
        let steps = vec![
            Step::call("fine", || {
                ran = true;
                Ok(Done::Ran("all well".to_owned()))
            }),
            Step::call("impossible", || Ok(Done::Skipped("no network".to_owned()))),
        ];
        run_all(steps, None).unwrap();
        assert!(ran);
        let bad = Step::call("bad", || Err(Error::ResultsDiffer));
        assert!(matches!(run_all(vec![bad], None), Err(Error::ResultsDiffer)));
    }

    #[test]
    fn a_word_chooses_steps() {
        let steps = || vec![Step::new("bad", sh("exit 3")), Step::new("fine", sh("true"))];
        run_all(steps(), Some("fin")).unwrap();
        let built = vec![
            Step::new("build", sh("exit 4")).that_builds(),
            Step::new("fine", sh("true")).on_the_build(),
        ];
        let error = run_all(built, Some("fine")).unwrap_err().to_string();
        assert_eq!(error, "step 1 of 2, build: `sh -c exit 4` failed (exit status: 4)");
        let error = run_all(steps(), Some("good")).unwrap_err().to_string();
        assert_eq!(error, "no step has `good` in its name; there are\n  bad\n  fine");
    }

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["test", "-p", "x"]).env("RUSTFLAGS", "--cfg a=\"b\"").env_remove("GONE");
        assert_eq!(line(&command), "RUSTFLAGS='--cfg a=\"b\"' cargo test -p x");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 5 s");
    }
}
