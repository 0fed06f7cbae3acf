//! The user's command: finds the program in it, and builds the same command with another program.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use crate::{program, similar};

/// Why the program is not found in a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("no program found in the command: `{0}`{1} (give it as you would type it: mpirun -n 4 ./app)")]
    NoProgram(String, String),
    #[error("the command starts several programs (:); give each of them on its own")]
    SeveralPrograms,
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
        // After the launcher, the first word that is nearly a program.
        let mut hints = words.iter().skip(1).map(|word| similar::program(word));
        Error::NoProgram(command, hints.find(|hint| !hint.is_empty()).unwrap_or_default())
    })
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

/// The command with these words before the program at `place`. An existing `mpress run` is left out.
pub(crate) fn with(words: &[OsString], place: usize, before: &[&OsStr]) -> Command {
    let (first, program) = words.split_at_checked(place).unwrap_or((words, &[]));
    let (launcher, options) =
        first.split_first().map_or((OsStr::new(""), first), |(one, rest)| (one.as_os_str(), rest));
    let mut command = Command::new(launcher);
    command.args(options).args(before).args(without_run(program));
    command
}

/// The program after `mpress run [...] --`.
fn without_run(program: &[OsString]) -> &[OsString] {
    let is_ours = |word: &OsString| Path::new(word).file_name() == Some(OsStr::new("mpress"));
    let is_run = program.first().is_some_and(is_ours) && program.get(1).is_some_and(|word| word == "run");
    let end = program.iter().position(|word| word == "--").filter(|_| is_run);
    end.and_then(|end| program.get(end + 1..)).unwrap_or(program)
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
        let plain = with(&words("srun mpress run -- ./app"), 1, &[]);
        assert_eq!(
            (plain.get_program(), plain.get_args().next()),
            (OsStr::new("srun"), Some(OsStr::new("./app")))
        );
        assert!(matches!(place(&words("mpirun ./a : ./b")), Err(Error::SeveralPrograms)));
        assert!(matches!(place(&words("mpirun -n 2 ./no-such-program")), Err(Error::NoProgram(..))));
    }
}
