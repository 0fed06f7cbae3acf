//! The user's command: finds the program in it, and builds the same command with another program.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use crate::{libraries, program, similar};

/// Why the program is not found in a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("no program found in the command: `{0}`{1}")]
    NoProgram(String, String),
    #[error("the command starts several programs (:); give each of them on its own")]
    SeveralPrograms,
    #[error(
        "`mpress run` is not right before the program, so the command cannot be run without it; leave it out"
    )]
    InnerRun,
    #[error("`mpress run` in the command has no `--` before the program (mpress run -- ./app)")]
    RunWithoutDashes,
    #[error("the command preloads mpress (`{0}`), so it cannot be run without; leave that out")]
    Preloads(String),
}

/// Options of launchers whose values may be names of programs, and the number of their values. Values of other options are never mistaken for
/// programs.
const VALUES: [(&str, usize); 22] = [
    ("launcher", 1),
    ("launcher-exec", 1),
    ("bootstrap", 1),
    ("bootstrap-exec", 1),
    ("rmk", 1),
    ("mca", 2),
    ("prtemca", 2),
    ("pmixmca", 2),
    ("genv", 2),
    ("env", 2),
    ("x", 1),
    ("wdir", 1),
    ("wd", 1),
    ("D", 1),
    ("gmca", 2),
    ("p", 1),
    ("J", 1),
    ("A", 1),
    ("w", 1),
    ("C", 1),
    ("q", 1),
    ("o", 1),
];

/// The position of the program in the command.
///
/// # Errors
/// If there is none, or several.
pub(crate) fn place(words: &[OsString]) -> Result<usize, Error> {
    if words.iter().any(|word| word == ":") {
        return Err(Error::SeveralPrograms);
    }
    position(words, |word| program::find(word).is_ok()).ok_or_else(|| {
        let command = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let mut others = words.iter().skip(1).filter(|word| !is_option(word) && !is_number(word));
        let paths = others.clone().filter(|word| word.as_encoded_bytes().contains(&b'/'));
        let mut errors: Vec<_> = paths.filter_map(|word| program::find(word).err()).collect();
        errors.sort_by_key(|error| !matches!(error, program::Error::NotFound(_)));
        let hint = match errors.first() {
            Some(error) => Some(format!("; {error}")),
            None => others.next().map(|word| similar::program(word)).filter(|hint| !hint.is_empty()),
        };
        let hint = hint.unwrap_or_else(|| " (give it as you would type it: mpirun -n 4 ./app)".to_owned());
        Error::NoProgram(command, hint)
    })
}

fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

fn is_number(word: &OsStr) -> bool {
    word.as_encoded_bytes().iter().all(u8::is_ascii_digit)
}

/// The first word after the launcher that is executable.
fn position(words: &[OsString], is_program: impl Fn(&OsString) -> bool) -> Option<usize> {
    let mut index = 1;
    while let Some(word) = words.get(index) {
        if let Some(option) = word.to_str().and_then(|word| word.strip_prefix('-')) {
            let option = option.trim_start_matches('-');
            let values = VALUES.iter().find(|(name, _)| *name == option).map_or(0, |(_, values)| *values);
            index += 1 + values;
        } else if is_program(word) {
            return Some(index);
        } else {
            index += 1;
        }
    }
    None
}

/// Whether the command starts the program at `place` with `mpress run`.
pub(crate) fn is_run(words: &[OsString], place: usize) -> bool {
    words.get(place..).is_some_and(|program| without_run(program).len() < program.len())
}

/// Whether [`with`] and no words before the program makes a command without mpress.
///
/// # Errors
/// Which part of the command would start mpress all the same.
pub(crate) fn can_be_without(words: &[OsString], place: usize) -> Result<(), Error> {
    let (launcher, program) = words.split_at_checked(place).unwrap_or((words, &[]));
    let mut plain = launcher.iter().chain(without_run(program));
    if let Some(word) = plain.find(|word| libraries::names_ours(word)) {
        return Err(Error::Preloads(word.to_string_lossy().into_owned()));
    }
    match words.windows(2).position(starts_run) {
        Some(at) if at == place && !is_run(words, place) => Err(Error::RunWithoutDashes),
        Some(at) if at != place || words.windows(2).skip(place + 1).any(starts_run) => Err(Error::InnerRun),
        _ => Ok(()),
    }
}

/// The command with these words before the program at `place`. An existing `mpress run` is left out.
pub(crate) fn with(words: &[OsString], place: usize, before: &[&OsStr]) -> Command {
    let (first, program) = words.split_at_checked(place).unwrap_or((words, &[]));
    let mut command = as_typed(first);
    command.args(before).args(without_run(program));
    command
}

/// The command of these words.
pub(crate) fn as_typed(words: &[OsString]) -> Command {
    let (launcher, rest) =
        words.split_first().map_or((OsStr::new(""), words), |(one, rest)| (one.as_os_str(), rest));
    let mut command = Command::new(launcher);
    command.args(rest);
    command
}

fn starts_run(program: &[OsString]) -> bool {
    let is_mpress = |word: &OsString| Path::new(word).file_name() == Some(OsStr::new("mpress"));
    program.first().is_some_and(is_mpress) && program.get(1).is_some_and(|word| word == "run")
}

/// The program after `mpress run [...] --`.
fn without_run(program: &[OsString]) -> &[OsString] {
    let end = end_of_options(program).filter(|_| starts_run(program));
    end.and_then(|end| program.get(end + 1..)).unwrap_or(program)
}

/// The position of `--` after the options of `mpress run`; `None` if the program comes first. A later `--` is the program's.
fn end_of_options(run: &[OsString]) -> Option<usize> {
    let mut index = 2;
    loop {
        let word = run.get(index)?;
        if word == "--" {
            return Some(index);
        }
        if !is_option(word) {
            return None;
        }
        // Every option of `mpress run` has a value.
        index += if word.as_encoded_bytes().contains(&b'=') { 1 } else { 2 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_program_is_told_from_the_launchers_words() {
        let is_program = |word: &OsString| {
            ["./app", "python3", "ssh", "env", "/opt/mpress"].iter().any(|one| word == *one)
        };
        for (command, expected) in [
            ("mpirun -n 4 ./app x", Some("./app")),
            ("mpirun --oversubscribe ./app", Some("./app")),
            ("mpiexec -launcher ssh -hosts a,b -n 2 python3 ./app", Some("python3")),
            ("mpirun --mca plm_rsh_agent ssh -x env ./app", Some("./app")),
            ("srun -n 2 nothing", None),
            ("mpirun", None),
            ("mpirun -genv env", None),
        ] {
            let command = words(command);
            let found = position(&command, is_program).map(|index| command[index].to_str().unwrap());
            assert_eq!(found, expected, "{command:?}");
        }
    }

    #[test]
    fn the_rest_of_the_command_stays() {
        let shown = |command: &str, place| {
            let before = ["/bin/mpress", "doctor", "--"].map(OsStr::new);
            let job = with(&words(command), place, &before);
            let words: Vec<_> = job.get_args().map(|word| word.to_str().unwrap().to_owned()).collect();
            words.join(" ")
        };
        let ours = "/bin/mpress doctor --";
        assert_eq!(shown("mpirun -n 4 ./app x", 3), format!("-n 4 {ours} ./app x"));
        assert_eq!(
            shown("mpirun /opt/mpress run --report full -- ./app -- x", 1),
            format!("{ours} ./app -- x")
        );
        let given = |command: &str| shown(command, 1);
        assert_eq!(given("srun mpress run --threads 2 --report=full -- ./app"), format!("{ours} ./app"));
        assert_eq!(given("srun mpress run ./app -- x"), format!("{ours} mpress run ./app -- x"));
        let plain = with(&words("srun mpress run -- ./app"), 1, &[]);
        assert_eq!(
            (plain.get_program(), plain.get_args().next()),
            (OsStr::new("srun"), Some(OsStr::new("./app")))
        );
        assert!(matches!(place(&words("mpirun ./a : ./b")), Err(Error::SeveralPrograms)));
        assert!(matches!(place(&words("mpirun -n 2 ./no-such-program")), Err(Error::NoProgram(..))));
    }

    #[test]
    fn a_command_that_would_start_mpress_all_the_same_is_refused() {
        let checked = |command: &str, place| can_be_without(&words(command), place);
        for (command, place) in [
            ("mpirun -n 4 ./app run", 3),
            ("mpirun -n 4 mpress run --report full -- ./app mpress", 3),
            ("mpirun -n 4 env A=1 ./app", 3),
        ] {
            assert!(checked(command, place).is_ok(), "{command}");
        }
        for (command, place) in [
            ("mpirun -n 4 env A=1 mpress run -- ./app", 3),
            ("mpirun numactl -l /opt/bin/mpress run -- ./app", 1),
            ("mpirun mpress run -- env mpress run -- ./app", 1),
            ("mpress run -- ./app", 3),
        ] {
            assert!(matches!(checked(command, place), Err(Error::InnerRun)), "{command}");
        }
        for command in
            ["srun mpress run ./app", "srun mpress run ./app -- x", "srun mpress run --threads 2 ./app"]
        {
            assert!(matches!(checked(command, 1), Err(Error::RunWithoutDashes)), "{command}");
        }
        for command in [
            "mpirun -x LD_PRELOAD=/a.so:/lib/libmpress.so ./app",
            "mpirun -genv LD_PRELOAD /l/libmpress.so ./app",
        ] {
            let place = command.split(' ').count() - 1;
            assert!(matches!(checked(command, place), Err(Error::Preloads(_))), "{command}");
        }
    }
}
