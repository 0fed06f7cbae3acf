//! `mpress doctor` with launchers that belong to no MPI: its output and its exit status.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with files that have the names of the libraries.
fn libraries(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("doctor-{test}"));
    let _from_an_earlier_run: std::io::Result<()> = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    for name in ["", "_shim_openmpi", "_shim_mpich", "_shim_standard"] {
        fs::write(dir.join(format!("libmpress{name}.so")), name).unwrap();
    }
    dir
}

/// Exit status, standard output, standard error.
fn doctor(dir: &Path, command: &[&str]) -> (Option<i32>, String, String) {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_mpress"));
    for (name, _) in std::env::vars()
        .filter(|(name, _)| ["MPRESS_", "OMPI_", "PMI", "SLURM"].iter().any(|start| name.starts_with(start)))
    {
        doctor.env_remove(name);
    }
    let output = doctor.env("MPRESS_LIBDIR", dir).args(["doctor", "--"]).args(command).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_rank_says_what_it_finds_and_the_program_does_not_run() {
    let dir = libraries("rank");
    let mark = dir.join("it-ran");
    let (status, stdout, stderr) =
        doctor(&dir, &["env", "PMI_RANK=0", "MPRESS_SAME_NODE=compress", "touch", mark.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    for words in [
        "ok    job: 1 rank on 1 node",
        "libmpress.so of mpress",
        "note  MPI: ",
        "between all ranks would be compressed",
    ] {
        assert!(stdout.contains(words), "`{words}` is not in:\n{stdout}");
    }
    assert!(!mark.exists());

    let (status, stdout, stderr) = doctor(&dir, &["env", "MPRESS_SAME_NODE=pass", "true"]);
    assert_eq!(status, Some(0), "nothing is wrong with one node: {stdout}{stderr}");
    let note = "note  messages: none would be compressed: all ranks are on one node";
    assert!(stdout.lines().any(|line| line.starts_with(note)), "{stdout}");
}

#[test]
fn what_is_wrong_is_the_exit_status() {
    let dir = libraries("wrong");
    let fails = |setting: &str, words: &str| {
        let (status, stdout, stderr) = doctor(&dir, &["env", setting, "true"]);
        assert_eq!(status, Some(1), "{stdout}{stderr}");
        assert!(stdout.lines().any(|line| line.starts_with("WRONG") && line.contains(words)), "{stdout}");
    };
    fails("MPRESS_SAME_NODE=often", "expected pass or compress");
    fails("MPRESS_STRATEGY=off", "MPRESS_STRATEGY is off");
    fails("MPRESS_HEURISTICS=/no/such", ": /no/such/compression.toml: No such file");
    fails("MPRESS_LINKS=/dev/null/links", ": /dev/null/links: Not a directory");
    fails("MPRESS_REPORT_FILE=/no/such/r.json", ": /no/such/r.json cannot be written: No such file");
    let guided = ["env", "MPRESS_STRATEGY=guided", "MPRESS_GUIDE=/no/such", "true"];
    let (status, stdout, _) = doctor(&dir, &guided);
    assert!(status == Some(1) && stdout.contains(": /no/such: No such file"), "{stdout}");
    // Two processes that both claim to be the first.
    let (_, stdout, _) = doctor(&dir, &["sh", "-c", "\"$@\"; \"$@\"", "both", "true"]);
    assert!(stdout.contains("2 processes, but only 1 different rank"), "{stdout}");
    // Ranks that were started but did not answer, and a launcher that fails.
    fails("PMI_SIZE=3", "3 ranks were started, but only 1 answered");
    let (status, stdout, _) =
        doctor(&dir, &["sh", "-c", "\"$@\"; echo no such host >&2; exit 3", "launcher", "true"]);
    assert!(status == Some(1) && stdout.contains("failed (exit status: 3): no such host"), "{stdout}");
    let (_, stdout, _) = doctor(&dir, &["sh", "-c", "\"$@\"; echo 'mpress-doctor {}'", "launcher", "true"]);
    assert!(stdout.contains("1 ranks have another version"), "{stdout}");
}

#[test]
fn without_an_answer_there_is_one_line() {
    let dir = libraries("silent");
    let fails = |dir: &Path, command: &[&str], words: &str| {
        let (status, stdout, stderr) = doctor(dir, command);
        assert_eq!((status, stdout.as_str(), stderr.lines().count()), (Some(1), "", 1), "{stderr}");
        assert!(stderr.starts_with("mpress: ") && stderr.contains(words), "{stderr}");
    };
    fails(&dir, &["false", "true"], "`false` started no rank");
    fails(&dir, &["env", "no-such-program"], "no program found in the command: `env no-such-program`");
    let solver = dir.join("solver");
    fs::write(&solver, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&solver, fs::Permissions::from_mode(0o755)).unwrap();
    let near = dir.join("sovler").display().to_string();
    fails(&dir, &["env", "-u", "1", &near], &format!("(did you mean {}?)", solver.display()));
    let no_program = dir.join("libmpres.so").display().to_string();
    let (.., stderr) = doctor(&dir, &["env", &no_program, &near]);
    assert!(!stderr.contains("did you mean"), "{stderr}");
    fails(&dir, &["/no/such/launcher", "true"], "`/no/such/launcher` cannot be started");
    fails(Path::new("/no/such"), &["env", "true"], "MPRESS_LIBDIR");
    fails(&dir, &["env", "true", ":", "true"], "several programs");
}

#[test]
fn a_program_into_which_nothing_can_be_preloaded_is_wrong() {
    let dir = libraries("static");
    let is_wrong = |program: &Path, why: &str| {
        let program = program.to_str().unwrap();
        let (status, stdout, stderr) = doctor(&dir, &["env", program]);
        assert_eq!(status, Some(1), "{stdout}{stderr}");
        let line = format!("WRONG program: {program} {why}, so nothing can be preloaded");
        assert!(stdout.lines().any(|said| said == line), "`{line}` is not in:\n{stdout}");
        assert!(!stdout.contains("MPI: "), "{stdout}");
    };
    let tool = dir.join("tool");
    fs::copy("/bin/true", &tool).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o4755)).unwrap();
    is_wrong(&tool, "runs with the rights of its owner or group (setuid, setgid)");
    let (source, program) = (dir.join("main.c"), dir.join("program"));
    fs::write(&source, "int main(void) { return 7; }").unwrap();
    let built = Command::new("cc").args(["-static", "-o"]).arg(&program).arg(source).output();
    if !built.is_ok_and(|output| output.status.success()) {
        // Not by `eprintln!`: the harness hides the output of a passing test.
        let _shown = writeln!(std::io::stderr(), "SKIPPED: no static C library");
        return;
    }
    is_wrong(&program, "is linked statically");
}
