//! `mpress bench` with a launcher that belongs to no MPI: the order of runs, the result, and what fails.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with files that have the names of the libraries, and a program that writes to `log` whether one is preloaded.
fn place(test: &str, slow: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{test}"));
    let _from_an_earlier_run: std::io::Result<()> = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    for name in ["", "_shim_openmpi", "_shim_mpich", "_shim_standard"] {
        fs::write(dir.join(format!("libmpress{name}.so")), "").unwrap();
    }
    let program = format!(
        "#!/bin/sh\ncase \"$LD_PRELOAD\" in\n*libmpress.so*) echo with >> log ;;\n*) echo without >> log; {slow} ;;\nesac\n"
    );
    fs::write(dir.join("app"), program).unwrap();
    fs::set_permissions(dir.join("app"), fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

/// Exit status, standard output, standard error.
fn bench(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_mpress"));
    for (name, _) in std::env::vars().filter(|(name, _)| {
        ["MPRESS_", "OMPI_", "PMI", "SLURM", "LD_PRELOAD"].iter().any(|start| name.starts_with(start))
    }) {
        bench.env_remove(name);
    }
    let output = bench.current_dir(dir).env("MPRESS_LIBDIR", dir).arg("bench").args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn runs_with_and_without_take_turns() {
    let dir = place("turns", "sleep 1");
    let (status, stdout, stderr) = bench(&dir, &["--runs", "2", "--", "env", "A=1", "./app", "x"]);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    assert_eq!(fs::read_to_string(dir.join("log")).unwrap(), "without\nwith\nwith\nwithout\n");
    assert_eq!(stdout.lines().count(), 4, "{stdout}");
    let last = stdout.lines().last().unwrap();
    assert!(last.starts_with("speedup ") && last.ends_with(" in 2 pairs: faster with mpress"), "{last}");
}

#[test]
fn a_command_with_mpress_is_also_run_without() {
    let dir = place("typed", "true");
    let mpress = env!("CARGO_BIN_EXE_mpress");
    let typed = ["--runs", "1", "--", "env", mpress, "run", "--strategy", "off", "--", "./app"];
    let (status, stdout, stderr) = bench(&dir, &typed);
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    assert_eq!(fs::read_to_string(dir.join("log")).unwrap(), "without\nwith\n");
    assert!(stdout.lines().last().unwrap().contains("a single pair"), "{stdout}");
}

#[test]
fn what_fails_is_said() {
    let dir = place("fails", "exit 3");
    let fails = |args: &[&str], words: &str| {
        let (status, _, stderr) = bench(&dir, args);
        assert_eq!((status, stderr.lines().count()), (Some(1), 1), "{stderr}");
        assert!(stderr.starts_with("mpress: ") && stderr.contains(words), "{stderr}");
    };
    fails(&["--", "env", "./app"], "the command failed without mpress (exit status: 3)");
    fails(&["--", "env", "./apq"], "no program found in the command: `env ./apq` (did you mean ./app?)");
    fails(&["--", "/no/such/launcher", "./app"], "`/no/such/launcher` cannot be started");
    fails(&["--", "env", "./app", ":", "./app"], "several programs");
}
