//! The program's name, for reports and recordings.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The name of this process's program: of a script in Python, that of the script.
pub(crate) fn name() -> String {
    let path = std::env::current_exe().ok();
    let Some(file) = path.as_deref().and_then(file_name) else { return "unknown".into() };
    // Not `std::env::args`: this library may be loaded late.
    let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).map(OsStr::from_bytes).collect();
    script(&file, words.get(1..).unwrap_or_default()).unwrap_or(file)
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// The script or module that an interpreter of Python runs with these arguments; `None` for other programs, and for
/// commands on the command line.
fn script(interpreter: &str, arguments: &[&OsStr]) -> Option<String> {
    if !["python", "pypy"].iter().any(|start| interpreter.starts_with(start)) {
        return None;
    }
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("-c" | "-" | "") => return None,
            // `python -m mpi4py app.py` runs the script, too.
            Some("-m") => match arguments.next()?.to_str()? {
                "mpi4py" | "mpi4py.run" => {}
                module => return Some(module.to_owned()),
            },
            // Options with a value of their own.
            Some("-W" | "-X" | "--check-hash-based-pycs") => _ = arguments.next(),
            Some(option) if option.starts_with('-') => {}
            _ => return file_name(Path::new(argument)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_in_python_has_the_name_of_its_script() {
        let of = |interpreter: &str, line: &str| {
            let words: Vec<_> = line.split_whitespace().map(OsStr::new).collect();
            script(interpreter, &words)
        };
        for (line, expected) in [
            ("app.py 64", Some("app.py")),
            ("-u -W ignore /home/me/app.py -c x", Some("app.py")),
            ("-m mpi4py app.py", Some("app.py")),
            ("-X importtime -m mpi4py.run ./app.py", Some("app.py")),
            ("-m package.solver --steps 3", Some("package.solver")),
            ("-c import(mpi4py) app.py", None),
            ("- app.py", None),
            ("", None),
        ] {
            assert_eq!(of("python3.11", line).as_deref(), expected, "{line}");
        }
        assert_eq!(of("pypy3", "app.py").as_deref(), Some("app.py"));
        assert_eq!(of("app", "input.py"), None);
    }

    #[test]
    fn another_program_has_its_own_name() {
        let this = std::env::current_exe().unwrap();
        assert_eq!(Some(name()), file_name(&this));
    }
}
