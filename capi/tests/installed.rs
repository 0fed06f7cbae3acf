//! The library as used by C programs: installed, found by pkg-config, compiled with warnings as errors, run, and run under valgrind.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[path = "../install.rs"]
mod install;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const C99: [&str; 7] = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g"];
const CXX11: [&str; 6] = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g"];

/// The program in the README.
const FIRST: &str = "first.c";

/// The C programs, and the last line that each prints.
const PROGRAMS: [(&str, &str); 7] = [
    (FIRST, "all bytes came back"),
    ("examples/roundtrip.c", "all bytes came back"),
    ("tests/programs/channels.c", "well"),
    ("tests/programs/codecs.c", "with their kinds"),
    ("tests/programs/frames.c", "well"),
    ("tests/programs/job.c", "well"),
    ("tests/programs/threads.c", "well"),
];

/// The faults in `tests/programs/faults.c`, valgrind's report of each, and the function.
const FAULTS: [(&str, &str, &str); 6] = [
    ("undefined", "depends on uninitialised value(s)", "look_at (check.h:"),
    ("unwritten", "depends on uninitialised value(s)", "look_at (check.h:"),
    ("overread", "Invalid read", "mpress_codec_encode"),
    ("overrun", "Invalid write", "mpress_codec_decode"),
    ("freed", "Invalid read", "look_at (check.h:"),
    ("leak", "definitely lost", "mpress_settings_new"),
];

/// The status of a program under valgrind, if it found something.
const FOUND: i32 = 99;

/// The installation prefix for the tests in this file.
static PREFIX: LazyLock<PathBuf> = LazyLock::new(|| {
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("home/mpress");
    // These tests must not use files of an older version.
    let _ = fs::remove_dir_all(&prefix);
    // cargo builds them for these tests, in the same folder.
    let built = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    install::install(&source(install::HEADER), &built, &prefix, VERSION).unwrap();
    prefix
});

/// The folder of a reader of the README, with its program.
static READER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = folder("reader");
    fs::write(folder.join(FIRST), block("c")).unwrap();
    folder
});

/// The first block of the README in this language.
fn block(language: &str) -> &'static str {
    let from = include_str!("../README.md").split(&format!("```{language}\n")).nth(1).unwrap();
    from.split("```").next().unwrap()
}

fn source(name: &str) -> PathBuf {
    let folder = if name == FIRST { READER.as_path() } else { Path::new(env!("CARGO_MANIFEST_DIR")) };
    folder.join(name)
}

/// Runs a command, which must succeed, and returns its standard output.
fn run(command: &mut Command) -> String {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("{command:?}: {error} (`cargo xtask setup` installs what is missing)"),
    };
    let Output { status, stdout, stderr } = output;
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout.into_owned()
}

/// The output of pkg-config for the installed library.
fn pkg_config(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.args(arguments).arg("mpress").env("PKG_CONFIG_PATH", PREFIX.join("lib/pkgconfig"));
    run(&mut command).split_whitespace().map(str::to_owned).collect()
}

/// A folder of a test.
fn folder(name: &str) -> PathBuf {
    let folder = PREFIX.join("tests").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Compiles a program into a folder, with these libraries as arguments for the linker.
fn compile(compiler: &str, flags: &[&str], program: &str, libraries: &[String], folder: &Path) -> PathBuf {
    let place = folder.join(Path::new(program).file_stem().unwrap());
    let mut command = Command::new(compiler);
    command.args(flags).arg(source(program)).arg("-o").arg(&place);
    run(command.args(pkg_config(&["--cflags"])).args(libraries).args(["-lm", "-lpthread"]));
    place
}

/// A command for a compiled program, with its argument and environment. Without trials by the clock, in which all messages are sometimes sent
/// raw.
fn prepared(mut command: Command, argument: &Path) -> Command {
    command
        .arg(argument)
        .env("MPRESS_THREADS", "5")
        .env("MPRESS_CLOCK", "off")
        .env("LD_LIBRARY_PATH", PREFIX.join("lib"));
    command
}

#[test]
fn programs_run() {
    let (folder, libraries) = (folder("run"), pkg_config(&["--libs"]));
    for (program, last) in PROGRAMS {
        let place = compile("cc", &C99, program, &libraries, &folder);
        let written = run(&mut prepared(Command::new(place), &folder));
        assert!(written.trim_end().ends_with(last), "{program}: {written}");
    }
}

/// Without the command that makes what these tests have made already.
#[test]
fn the_commands_of_the_readme_run() {
    let commands: String =
        block("sh").split_inclusive('\n').filter(|line| !line.starts_with("cargo ")).collect();
    assert_eq!(commands.lines().count(), 3, "{commands}");
    let mut shell = Command::new("sh");
    shell.args(["-ec", &commands]).current_dir(&*READER).env("HOME", PREFIX.parent().unwrap());
    let written = run(&mut shell);
    let lines: Vec<_> = written.lines().collect();
    let [sent, "all bytes came back"] = lines[..] else { panic!("{written}") };
    let bytes: u32 = sent.strip_prefix("80000 bytes are sent as ").unwrap().parse().unwrap();
    assert!(bytes < 40000, "{sent}");
}

/// A command for a compiled program under valgrind, whose status says whether it found anything.
fn under_valgrind(place: PathBuf) -> Command {
    let mut command = Command::new("valgrind");
    command.args([
        "--quiet",
        &format!("--error-exitcode={FOUND}"),
        "--leak-check=full",
        "--show-leak-kinds=all",
    ]);
    command.arg("--errors-for-leak-kinds=definite,indirect,possible");
    command.arg(format!("--suppressions={}", source("tests/valgrind.supp").display())).arg(place);
    command
}

/// Whether there is valgrind.
fn has_valgrind() -> bool {
    let version = Command::new("valgrind").arg("--version").output();
    if let Err(error) = &version {
        // Bypasses the test harness, which would hide it.
        let _shown = writeln!(std::io::stderr(), "SKIPPED: the C interface under valgrind: {error}");
    }
    version.is_ok()
}

#[test]
fn valgrind_finds_nothing() {
    if !has_valgrind() {
        return;
    }
    let (folder, libraries) = (folder("valgrind"), pkg_config(&["--libs"]));
    for (program, last) in PROGRAMS {
        let place = compile("cc", &C99, program, &libraries, &folder);
        let written = run(&mut prepared(under_valgrind(place), &folder));
        assert!(written.trim_end().ends_with(last), "{program}: {written}");
    }
}

/// The previous test shows something only if valgrind, run in this way, finds the faults it should find.
#[test]
fn valgrind_finds_each_fault() {
    if !has_valgrind() {
        return;
    }
    let (folder, libraries) = (folder("faults"), pkg_config(&["--libs"]));
    let place = compile("cc", &C99, "tests/programs/faults.c", &libraries, &folder);
    for (fault, said, function) in FAULTS {
        let output = prepared(under_valgrind(place.clone()), Path::new(fault)).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(FOUND), "{fault}: {error}");
        assert!(error.contains(said) && error.contains(function), "{fault}: {error}");
    }
    run(&mut prepared(under_valgrind(place), Path::new("none")));
}

#[test]
fn programs_in_cplusplus_run() {
    let (folder, libraries) = (folder("cplusplus"), pkg_config(&["--libs"]));
    let place = compile("c++", &CXX11, "tests/programs/cplusplus.cpp", &libraries, &folder);
    assert_eq!(run(&mut prepared(Command::new(place), &folder)), "well\n");
}

#[test]
fn a_program_needs_only_the_library_of_its_version() {
    let (folder, libraries) = (folder("soname"), pkg_config(&["--libs"]));
    let place = compile("cc", &C99, "tests/programs/frames.c", &libraries, &folder);
    let soname = install::soname(VERSION);
    let library = folder.join(&soname);
    let _ = fs::remove_file(&library);
    let mut command = Command::new(&place);
    command.env("LD_LIBRARY_PATH", &folder);
    let output = command.output().unwrap();
    assert!(!output.status.success(), "valgrind found a fault elsewhere");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains(&soname), "{error}");
    fs::copy(PREFIX.join("lib").join(install::SHARED), &library).unwrap();
    assert_eq!(run(&mut command), "well\n");
}

#[test]
fn the_static_library_is_all_that_is_needed() {
    let folder = folder("static");
    let named = |library: &String| library == "-lmpress_c";
    let mut libraries = pkg_config(&["--static", "--libs"]);
    let at = libraries.iter().position(named).unwrap();
    libraries[at] = format!("-l:{}", install::STATIC);
    let place = compile("cc", &C99, "tests/programs/frames.c", &libraries, &folder);
    let mut command = Command::new(place);
    // Without the path to the shared library.
    assert_eq!(run(command.env_remove("LD_LIBRARY_PATH")), "well\n");
}

#[test]
fn pkg_config_knows_the_version_and_the_place() {
    assert_eq!(pkg_config(&["--modversion"]), [VERSION]);
    let moved = folder("moved/prefix");
    let _ = fs::remove_dir_all(&moved);
    fs::create_dir_all(moved.join("lib/pkgconfig")).unwrap();
    fs::copy(PREFIX.join("lib/pkgconfig/mpress.pc"), moved.join("lib/pkgconfig/mpress.pc")).unwrap();
    let mut command = Command::new("pkg-config");
    command.args(["--cflags", "mpress"]).env("PKG_CONFIG_PATH", moved.join("lib/pkgconfig"));
    let flags = run(&mut command);
    let include = Path::new(flags.trim().strip_prefix("-I").unwrap());
    fs::create_dir_all(moved.join("include")).unwrap();
    assert_eq!(include.canonicalize().unwrap(), moved.join("include").canonicalize().unwrap());
}

#[test]
fn the_soname_changes_with_versions_that_may_be_incompatible() {
    for (version, soname) in
        [("0.1.0", "0.1"), ("0.1.7", "0.1"), ("0.12.3", "0.12"), ("1.4.2", "1"), ("12.0.0", "12")]
    {
        assert_eq!(install::soname(version), format!("libmpress_c.so.{soname}"));
    }
}
