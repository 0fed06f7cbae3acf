//! Steps: named commands that run in sequence and are timed; the first failure ends the sequence.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mpress_cluster::interrupted;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
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
    Skip(String),
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

    /// A step that works in a new folder of its own, so that no other user can have put anything there. After a failure the folder is kept for inspection.
    pub(crate) fn in_a_folder(
        name: impl Into<String>,
        prefix: &'static str,
        call: impl FnOnce(&Path) -> Result<Done, Error> + 'a,
    ) -> Self {
        Self::call(name, move || {
            let mine = fs::Permissions::from_mode(0o700);
            let folder = tempfile::Builder::new().prefix(prefix).permissions(mine).tempdir();
            let mut folder = folder.map_err(Error::file(std::env::temp_dir()))?;
            let done = call(folder.path());
            folder.disable_cleanup(done.is_err());
            done
        })
    }

    /// A step that this machine cannot run; shown as skipped and never as passed.
    pub(crate) fn skipped(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { name: name.into(), todo: Todo::Skip(reason.into()), build: Build::None }
    }

    /// The name, and the reason if it is to be skipped.
    #[cfg(test)]
    pub(crate) fn why_skipped(&self) -> Option<(&str, &str)> {
        if let Todo::Skip(reason) = &self.todo { Some((&self.name, reason)) } else { None }
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
    let mut outcomes = Vec::new();
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
            Todo::Skip(reason) => format!("{SKIPPED}: {reason}"),
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
                Done::Skipped(reason) => format!("{SKIPPED}: {reason}"),
            },
        };
        eprintln!("    {}: {outcome}", step.name);
        outcomes.push((step.name, outcome));
    }
    eprintln!("\n{}", summary(&outcomes, start.elapsed()));
    Ok(())
}

/// Marks what this machine could not run.
pub(crate) const SKIPPED: &str = "SKIPPED";

/// The steps and what came of each. Those that were skipped, as a whole or in part, come last, where they are seen.
fn summary(outcomes: &[(String, String)], time: Duration) -> String {
    let width = outcomes.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = |outcomes: &[&(String, String)]| {
        outcomes.iter().map(|(name, outcome)| format!("\n  {name:width$}  {outcome}")).collect::<String>()
    };
    let (skipped, whole): (Vec<_>, Vec<_>) =
        outcomes.iter().partition(|(_, outcome)| outcome.contains(SKIPPED));
    let (all, time) = (outcomes.len(), seconds(time));
    match skipped.len() {
        0 => format!("all {all} steps in {time}{}", lines(&whole)),
        count => format!(
            "{} of {all} steps in {time}{}\n{count} skipped, as a whole or in part:{}",
            whole.len(),
            lines(&whole),
            lines(&skipped)
        ),
    }
}

/// The processor time of all commands so far.
fn processor_time() -> Duration {
    let micros = getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_or(0, |usage| usage.user_time().num_microseconds() + usage.system_time().num_microseconds());
    Duration::from_micros(micros.unsigned_abs())
}

/// Runs one command, with inherited standard streams unless it has others.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<(), Error> {
    if interrupted() {
        return Err(mpress_cluster::Error::Interrupted.into());
    }
    let (status, what, command) = (command.status(), what.to_owned(), line(command));
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) if was_interrupted(status, interrupted) => Err(mpress_cluster::Error::Interrupted.into()),
        Ok(status) => Err(Error::Failed { what, command, status: status.to_string() }),
        Err(source) => Err(Error::Start { what, command, source }),
    }
}

/// Whether a command ended by the signal that this process was sent as well; its handler may take a moment longer to say so.
fn was_interrupted(status: ExitStatus, interrupted: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    let signals = [Signal::SIGINT, Signal::SIGTERM].map(|signal| Some(signal as i32));
    while signals.contains(&status.signal()) && start.elapsed() < Duration::from_secs(1) {
        if interrupted() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    interrupted()
}

/// Runs a command and returns its output.
pub(crate) fn output(command: &mut Command) -> Result<String, Error> {
    let run = line(command);
    let start = Error::file(command.get_program().to_owned());
    let output = command.output().map_err(start)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    Err(Error::Program { run, message: message.concat() })
}

/// Runs two sequences of commands at the same time. If a command fails, the current one of the other sequence still runs to its end, because it
/// cleans up what it has started.
fn run_both(what: &str, shown: Vec<Command>, kept: Vec<Command>, log: PathBuf) -> Result<(), Error> {
    let folder = log.parent().unwrap_or(&log);
    create_folder(folder)?;
    let file = File::create(&log).map_err(Error::file(&log))?;
    eprintln!("    half of it writes to {}", log.display());
    let has_failed = AtomicBool::new(false);
    let sequence = |commands: Vec<Command>, is_kept: bool| {
        for mut command in commands {
            if has_failed.load(Ordering::Relaxed) {
                break;
            }
            if is_kept {
                let copy = || file.try_clone().map_err(Error::file(&log));
                command.stdout(copy()?).stderr(copy()?);
            }
            run(what, &mut command).inspect_err(|error| {
                if !has_failed.swap(true, Ordering::Relaxed) {
                    eprintln!("    {error}; waiting for the other half (log: {})", log.display());
                }
            })?;
        }
        Ok(())
    };
    let (first, second) = std::thread::scope(|scope| {
        let kept = scope.spawn(|| sequence(kept, true));
        let first = sequence(shown, false);
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

/// The last lines of a text.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let all: Vec<_> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
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
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("marker");
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
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("more/log");
        let run = |one, other| {
            let both = Step::both("both", vec![sh(one)], vec![sh(other), sh("echo then")], log.clone());
            run_all(vec![both], None)
        };
        run("true", "echo kept").unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap(), "kept\nthen\n");
        for (one, other) in [("true", "exit 3"), ("exit 3", "true"), ("exit 3", "exit 3")] {
            let error = run(one, other).unwrap_err().to_string();
            assert_eq!(error, "step 1 of 1, both: `sh -c exit 3` failed (exit status: 3)");
        }
        // What has begun ends; nothing more begins.
        fs::remove_file(&log).unwrap();
        let begun = format!("until [ -s '{}' ]; do sleep 0.05; done; exit 3", log.display());
        run(&begun, "echo begun; sleep 1").unwrap_err();
        assert_eq!(fs::read_to_string(&log).unwrap(), "begun\n");
    }

    #[test]
    fn a_folder_is_new_and_stays_after_a_failure() {
        let (mut first, mut second) = (PathBuf::new(), PathBuf::new());
        let note = |place: &mut PathBuf, folder: &Path| {
            assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
            fs::write(folder.join("file"), "").unwrap();
            *place = folder.to_owned();
        };
        let step = Step::in_a_folder("fine", "xtask a ", |folder| {
            note(&mut first, folder);
            Ok(Done::Ran(String::new()))
        });
        run_all(vec![step], None).unwrap();
        let step = Step::in_a_folder("bad", "xtask a ", |folder| {
            note(&mut second, folder);
            Err(Error::ResultsDiffer)
        });
        run_all(vec![step], None).unwrap_err();
        assert!(first != second && !first.exists() && second.join("file").exists());
        fs::remove_dir_all(second).unwrap();
    }

    #[test]
    fn what_was_skipped_comes_last() {
        let outcomes = [
            ("nodes", "SKIPPED: not root"),
            ("tests", "1.0 s"),
            ("packages", "2.0 s, wheel SKIPPED: no PyPI"),
        ];
        let mut outcomes = outcomes.map(|(name, outcome)| (name.to_owned(), outcome.to_owned()));
        let text = summary(&outcomes, Duration::from_secs(3));
        let expected = "1 of 3 steps in 3.0 s\n  tests     1.0 s\n2 skipped, as a whole or in part:\n  nodes     SKIPPED: not root\n  \
                        packages  2.0 s, wheel SKIPPED: no PyPI";
        assert_eq!(text, expected);
        let text = summary(outcomes.get_mut(1..2).unwrap(), Duration::from_secs(3));
        assert_eq!(text, "all 1 steps in 3.0 s\n  tests  1.0 s");
    }

    #[test]
    fn a_command_that_our_signal_ended_is_no_failure() {
        let by = |signal: Signal| ExitStatus::from_raw(signal as i32);
        let asked = std::cell::Cell::new(0);
        let later = || asked.replace(asked.get() + 1) > 0;
        assert!(was_interrupted(by(Signal::SIGINT), later));
        asked.set(0);
        assert!(was_interrupted(by(Signal::SIGTERM), later));
        assert!(!was_interrupted(by(Signal::SIGKILL), || false));
        let error = run_all(vec![Step::new("ended", sh("kill -TERM $$"))], None).unwrap_err().to_string();
        assert!(error.contains("signal: 15"), "{error}");
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
    fn the_tail_is_the_end() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("a", 2), "a");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 5 s");
    }
}
