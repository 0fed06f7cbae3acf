//! The user's command: finds the program in it, and builds the same command with another program.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

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

/// The position of the program in the command: the first word after the launcher that is executable.
pub(super) fn program(words: &[OsString], is_program: impl Fn(&OsString) -> bool) -> Option<usize> {
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

/// Whether the command starts several programs.
pub(super) fn is_mpmd(words: &[OsString]) -> bool {
    words.iter().any(|word| word == ":")
}

/// Whether the command starts the program at `place` with `mpress run`.
pub(super) fn is_run(words: &[OsString], place: usize) -> bool {
    words.get(place..).is_some_and(|program| without_run(program).len() < program.len())
}

/// The command with this `mpress` at `place`. An existing `mpress run` is left out.
pub(super) fn job(words: &[OsString], place: usize, mpress: &Path, preload: &Path) -> Option<Command> {
    let (launcher, rest) = words.split_first()?;
    let (options, program) = rest.split_at_checked(place.checked_sub(1)?)?;
    let mut command = Command::new(launcher);
    command.args(options).arg(mpress).args(["doctor", "--on-rank", "--preload"]).arg(preload).arg("--");
    command.args(without_run(program));
    Some(command)
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
            let found = program(&command, is_program).map(|index| command[index].to_str().unwrap());
            assert_eq!(found, expected, "{command:?}");
        }
    }

    #[test]
    fn the_rest_of_the_command_stays() {
        let shown = |command: &str, place| {
            let job = job(&words(command), place, Path::new("/bin/mpress"), Path::new("/lib/libmpress.so"))
                .unwrap();
            let words: Vec<_> = job.get_args().map(|word| word.to_str().unwrap().to_owned()).collect();
            words.join(" ")
        };
        let ours = "/bin/mpress doctor --on-rank --preload /lib/libmpress.so --";
        assert_eq!(shown("mpirun -n 4 ./app x", 3), format!("-n 4 {ours} ./app x"));
        assert_eq!(
            shown("mpirun /opt/mpress run --report full -- ./app -- x", 1),
            format!("{ours} ./app -- x")
        );
    }
}
