//! `mpress bench` with a launcher that belongs to no MPI: the order of runs, the form of the result, and what fails. No time is asserted.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A folder with files that have the names of the libraries, and a program that writes to `log` whether one is preloaded. Then it does `then`.
fn place(test: &str, then: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{test}"));
    let _from_an_earlier_run: io::Result<()> = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    for name in ["", "_shim_openmpi", "_shim_mpich", "_shim_standard"] {
        fs::write(dir.join(format!("libmpress{name}.so")), "").unwrap();
    }
    let program = format!(
        "#!/bin/sh\ntrap 'echo ended >> log; exit 9' TERM\n\
         case \"$LD_PRELOAD\" in\n*libmpress*) echo with >> log ;;\n*) echo without >> log ;;\nesac\n{then}\n"
    );
    fs::write(dir.join("app"), program).unwrap();
    fs::set_permissions(dir.join("app"), fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

/// For the program: from the fourth run on.
const FROM_THE_FOURTH: &str = "[ $(wc -l < log) -lt 4 ] ||";

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_mpress"));
    for (name, _) in std::env::vars().filter(|(name, _)| {
        ["MPRESS_", "OMPI_", "PMI", "SLURM", "LD_PRELOAD"].iter().any(|start| name.starts_with(start))
    }) {
        bench.env_remove(name);
    }
    bench.current_dir(dir).env("MPRESS_LIBDIR", dir).arg("bench").args(args);
    bench
}

/// Exit status, standard output, standard error.
fn bench(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = command(dir, args).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), stdout, own(&output.stderr))
}

/// The lines on standard error that are not the dynamic loader's, which says that the files are no libraries.
fn own(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.lines().filter(|line| !line.contains("ld.so: ")).map(|line| format!("{line}\n")).collect()
}

fn log(dir: &Path) -> Vec<String> {
    fs::read_to_string(dir.join("log")).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn after_a_first_run_those_with_and_without_take_turns() {
    let dir = place("turns", "");
    let (status, stdout, stderr) = bench(&dir, &["--runs", "2", "--", "env", "A=1", "./app", "x"]);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    assert_eq!(log(&dir), ["with", "without", "with", "with", "without"]);
    let lines: Vec<_> = stdout.lines().collect();
    let [head, one, two, last] = lines[..] else { panic!("{stdout}") };
    assert!(head.starts_with("pair ") && one.starts_with("   1 ") && two.starts_with("   2 "), "{stdout}");
    assert!(
        last.starts_with("speedup ") && last.ends_with(" in 2 pairs: too few pairs to tell (--runs 6)"),
        "{last}"
    );
}

#[test]
fn six_pairs_are_enough_and_usual() {
    let dir = place("usual", "");
    let (status, stdout, stderr) = bench(&dir, &["--", "env", "./app"]);
    assert_eq!((status, log(&dir).len()), (Some(0), 13), "{stdout}{stderr}");
    let result = stdout.lines().nth(7).unwrap();
    assert!(result.starts_with("speedup ") && result.contains(", 95 % interval "), "{stdout}");
    assert!(result.contains(", 6 pairs: "), "{stdout}");
}

#[test]
fn a_command_with_mpress_is_also_run_without() {
    let dir = place("typed", "");
    let mpress = env!("CARGO_BIN_EXE_mpress");
    let typed = ["--runs", "1", "--", "env", mpress, "run", "--strategy", "off", "--", "./app"];
    let (status, stdout, stderr) = bench(&dir, &typed);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    assert_eq!(log(&dir), ["with", "without", "with"]);
    assert!(stdout.lines().last().unwrap().contains(" in 1 pair: too few pairs"), "{stdout}");
}

/// A program may compress by itself, as those in Rust with `mpress-rsmpi` do.
#[test]
fn a_program_that_has_mpress_is_disabled_in_the_run_without() {
    let dir = place("disabled", "echo \"disabled $MPRESS_DISABLE\" >> log");
    let (status, stdout, stderr) = bench(&dir, &["--runs", "1", "--", "env", "./app"]);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    assert_eq!(log(&dir), ["with", "disabled ", "without", "disabled 1", "with", "disabled "]);
}

#[test]
fn a_program_with_an_equals_sign_in_its_name_is_a_program() {
    let dir = place("equals", "");
    std::fs::rename(dir.join("app"), dir.join("a=b")).unwrap();
    let (status, stdout, stderr) = bench(&dir, &["--runs", "1", "--", "nice", "./a=b"]);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    assert_eq!(log(&dir), ["with", "without", "with"]);
}

#[test]
fn a_library_that_is_preloaded_is_left_out_of_the_run_without() {
    let dir = place("preloaded", "");
    let library = dir.join("libmpress.so");
    let output =
        command(&dir, &["--runs", "1", "--", "env", "./app"]).env("LD_PRELOAD", library).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(log(&dir), ["with", "without", "with"]);
}

#[test]
fn a_run_that_would_have_mpress_all_the_same_is_refused() {
    let dir = place("inner", "");
    let mpress = env!("CARGO_BIN_EXE_mpress");
    for (args, words) in [
        (&["env", "A=1", mpress, "run", "--", "./app"][..], "`mpress run` is not right before the program"),
        (&[mpress, "run", "./app"][..], "has no `--` before the program"),
        (&[mpress, "run", "./app", "--", "x"][..], "has no `--` before the program"),
        (&["LD_PRELOAD=./libmpress.so", "./app"][..], "the command preloads mpress"),
    ] {
        let (status, stdout, stderr) = bench(&dir, &[&["--", "env"][..], args].concat());
        assert_eq!((status, &*stdout, stderr.lines().count()), (Some(1), "", 1), "{stdout}{stderr}");
        assert!(stderr.starts_with("mpress: ") && stderr.contains(words), "{stderr}");
        assert_eq!(log(&dir).len(), 0, "nothing was run: {args:?}");
    }
}

#[test]
fn a_signal_ends_the_job_and_keeps_the_pairs() {
    let dir = place("signal", &format!("{FROM_THE_FOURTH} sleep 60"));
    let mut bench = command(&dir, &["--", "env", "./app"]);
    let mut child = bench.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while log(&dir).len() < 4 {
        assert!(Instant::now() < end, "{:?}", log(&dir));
        sleep(Duration::from_millis(10));
    }
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
    let status = child.wait().unwrap();
    let (mut stdout, mut stderr) = (String::new(), Vec::new());
    child.stdout.unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.unwrap().read_to_end(&mut stderr).unwrap();
    // Some shells say that their command was ended.
    let said = own(&stderr);
    assert_eq!(status.code(), Some(143), "{stdout}{said}");
    assert_eq!(said.lines().last(), Some("mpress: ended by SIGTERM"), "{stdout}{said}");
    assert_eq!(log(&dir), ["with", "without", "with", "with", "ended"]);
    assert!(stdout.lines().last().unwrap().contains("in 1 pair: "), "{stdout}");
}

#[test]
fn pairs_before_a_failure_are_shown() {
    let dir = place("late", &format!("{FROM_THE_FOURTH} exit 3"));
    let (status, stdout, stderr) = bench(&dir, &["--", "env", "./app"]);
    assert_eq!((status, &*stderr), (Some(1), "mpress: the command failed with mpress (exit status: 3)\n"));
    assert!(
        stdout.lines().count() == 3 && stdout.lines().last().unwrap().contains("in 1 pair: "),
        "{stdout}"
    );
}

#[test]
fn a_closed_output_is_no_failure() {
    let dir = place("closed", "");
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let output = command(&dir, &["--", "env", "./app"]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

#[test]
fn what_fails_is_said() {
    let dir = place("fails", "case \"$LD_PRELOAD\" in\n*libmpress*) ;;\n*) exit 3 ;;\nesac");
    std::fs::write(dir.join("hosts"), "here").unwrap();
    let fails = |args: &[&str], words: &str| {
        let (status, _, stderr) = bench(&dir, args);
        assert_eq!((status, stderr.lines().count()), (Some(1), 1), "{stderr}");
        assert!(stderr.starts_with("mpress: ") && stderr.contains(words), "{stderr}");
    };
    fails(&["--", "env", "./app"], "the command failed without mpress (exit status: 3)");
    let dir = place("always", "exit 3");
    let stderr = bench(&dir, &["--", "env", "./app"]).2;
    assert_eq!(stderr, "mpress: the command failed without mpress (exit status: 3)\n");
    fails(
        &["--", "env", "./apq"],
        "no program found in the command: `env ./apq`; `./apq` is not found (did you mean ./app?)",
    );
    fails(&["--", "env", "./hosts", "./apq"], "; `./apq` is not found (did you mean ./app?)");
    fails(&["--", "env", "./hosts"], "; `./hosts` cannot be executed");
    fails(&["--", "/no/such/launcher", "./app"], "`/no/such/launcher` cannot be started");
    fails(&["--", "env", "./app", ":", "./app"], "several programs");
}
