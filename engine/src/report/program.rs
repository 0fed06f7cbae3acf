//! The program's name, for reports and recordings.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The name of this process's program: of a script in Python, that of the script.
#[must_use]
pub fn program_name() -> String {
    let path = std::env::current_exe().ok();
    let Some(file) = path.as_deref().and_then(file_name) else { return "unknown".into() };
    // Not `std::env::args`: this library may be loaded late.
    let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).map(OsStr::from_bytes).collect();
    script(&file, words.get(1..).unwrap_or_default()).unwrap_or(file)
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| plain(&name.to_string_lossy()))
}

/// A name without characters that would control a terminal or begin a new line.
fn plain(name: &str) -> String {
    name.replace(char::is_control, "\u{fffd}")
}

/// The script or module that an interpreter of Python runs with these arguments; `None` for other programs, and for commands on the command line.
fn script(interpreter: &str, arguments: &[&OsStr]) -> Option<String> {
    let version = ["python", "pypy"].iter().find_map(|name| interpreter.strip_prefix(name))?;
    if !version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let mut words = arguments.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        let Some(options) = word.strip_prefix('-') else { return file_name(Path::new(&*word)) };
        match options {
            // Standard input.
            "" => return None,
            "-" => return file_name(Path::new(&*words.next()?)),
            "-check-hash-based-pycs" | "-jit" => _ = words.next(),
            _ if options.starts_with('-') => {}
            _ => {
                // Options of a letter may be joined. The value of the last one is the rest of the word, or the next.
                let Some(at) = options.find(['c', 'm', 'W', 'X']) else { continue };
                let (option, rest) = options.split_at(at).1.split_at(1);
                if option == "c" {
                    return None;
                }
                let value = if rest.is_empty() { words.next()? } else { rest.into() };
                if option == "m" {
                    return module(&value, &mut words);
                }
            }
        }
    }
    None
}

/// The program that a module with these arguments is or, if it is one of mpi4py that runs others, runs.
fn module(name: &str, words: &mut dyn Iterator<Item = Cow<'_, str>>) -> Option<String> {
    if !["mpi4py", "mpi4py.run", "mpi4py.futures"].contains(&name) {
        return Some(plain(name));
    }
    while let Some(word) = words.next() {
        match &*word {
            "-m" => return module(&words.next()?, words),
            "-c" | "-" => return None,
            "-rc" | "--rc" | "-p" | "-profile" | "--profile" => _ = words.next(),
            option if option.starts_with('-') => {}
            script => return file_name(Path::new(script)),
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
            ("-Bc code app.py", None),
            ("-uc code app.py", None),
            ("-ccode app.py", None),
            ("-um package.solver x.py", Some("package.solver")),
            ("-mpackage.solver x.py", Some("package.solver")),
            ("-Wignore -Xdev -OO app.py", Some("app.py")),
            ("-uW ignore app.py", Some("app.py")),
            ("--check-hash-based-pycs always app.py", Some("app.py")),
            ("-- app.py", Some("app.py")),
            ("-m mpi4py -rc threads=0 app.py", Some("app.py")),
            ("-m mpi4py --rc=threads=0 --profile mpe ./app.py -m x", Some("app.py")),
            ("-m mpi4py -m package.solver x.py", Some("package.solver")),
            ("-m mpi4py -c code app.py", None),
            ("-m mpi4py.futures app.py", Some("app.py")),
            ("-m mpi4py.bench helloworld", Some("mpi4py.bench")),
            ("-m mpi4py", None),
            ("-m", None),
            ("-c import(mpi4py) app.py", None),
            ("- app.py", None),
            ("", None),
        ] {
            assert_eq!(of("python3.11", line).as_deref(), expected, "{line}");
        }
        assert_eq!(of("pypy3", "app.py").as_deref(), Some("app.py"));
        assert_eq!(of("python", "app.py").as_deref(), Some("app.py"));
        for other in ["app", "python-fluid", "python3.11-config", "pypylon", "mypython"] {
            assert_eq!(of(other, "input.py"), None, "{other}");
        }
        let named = |words: &[&str]| script("python3", &words.iter().map(OsStr::new).collect::<Vec<_>>());
        assert_eq!(named(&["a\x1b[2J\nb.py"]).as_deref(), Some("a\u{fffd}[2J\u{fffd}b.py"));
        assert_eq!(named(&["-m", "a\nb"]).as_deref(), Some("a\u{fffd}b"));
    }

    #[test]
    fn another_program_has_its_own_name() {
        let this = std::env::current_exe().unwrap();
        assert_eq!(Some(program_name()), file_name(&this));
    }
}
