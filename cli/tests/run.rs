//! `mpress run` as users and launchers meet it: what the program is given, messages, exit statuses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const LAUNCHER: [&str; 12] = [
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_NAMESPACE",
    "PMIX_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "PMI_FD",
    "HYDI_CONTROL_FD",
    "HYDRA_CONTROL_FD",
    "SLURM_PROCID",
    "LD_PRELOAD",
    "MPRESS_LIBDIR",
];

/// A directory of its own for each test, with shims in `lib` that are libraries but do nothing.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-{name}"));
        let _from_an_earlier_run: std::io::Result<()> = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("lib")).unwrap();
        for mpi in ["openmpi", "mpich"] {
            fs::write(dir.join(format!("lib/libmpress-{mpi}.so")), "").unwrap();
        }
        Self(dir)
    }

    fn shim(&self, mpi: &str) -> String {
        self.0.join(format!("lib/libmpress-{mpi}.so")).display().to_string()
    }

    /// `mpress run` where no launcher has been, with the shims of this place.
    fn run(&self, args: &[&str]) -> Command {
        let mut command = bare();
        command.env("MPRESS_LIBDIR", self.0.join("lib")).arg("run").args(args);
        command
    }

    fn file(&self, name: &str, text: &str, mode: u32) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.display().to_string()
    }
}

fn bare() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpress"));
    LAUNCHER.iter().for_each(|name| {
        command.env_remove(name);
    });
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What the program had in its environment.
fn variable(output: &Output, name: &str) -> Option<String> {
    let stdout = text(&output.stdout);
    stdout.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

/// One line, and what it has to have in it.
#[track_caller]
fn fails(command: &mut Command, status: i32, words: &[&str]) {
    let output = command.output().unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    assert!(stderr.starts_with("mpress: ") && stderr.lines().count() == 1, "{stderr}");
    for word in words {
        assert!(stderr.contains(word), "`{word}` is not in: {stderr}");
    }
}

#[test]
fn the_launcher_says_which_mpi() {
    let place = Place::new("launcher");
    for (name, mpi) in
        [("OMPI_COMM_WORLD_SIZE", "openmpi"), ("PMI_RANK", "mpich"), ("PMIX_NAMESPACE", "openmpi")]
    {
        let output = place.run(&["--", "env"]).env(name, "0").output().unwrap();
        assert!(output.status.success());
        assert_eq!(variable(&output, "LD_PRELOAD"), Some(place.shim(mpi)), "{name}");
        assert_eq!(variable(&output, "MPRESS_REPORT"), None);
        assert_eq!(variable(&output, "MPRESS_SAME_NODE"), None);
    }
}

#[test]
fn flags_reach_the_shim_and_win_over_the_environment() {
    let place = Place::new("flags");
    let args =
        ["--mpi", "mpich", "--report", "full", "--same-node", "compress", "--threads", "3", "--", "env"];
    let output = place.run(&args).env("MPRESS_REPORT", "none").env("PMIX_RANK", "0").output().unwrap();
    assert_eq!(variable(&output, "LD_PRELOAD"), Some(place.shim("mpich")));
    assert_eq!(variable(&output, "MPRESS_REPORT").as_deref(), Some("full"));
    assert_eq!(variable(&output, "MPRESS_SAME_NODE").as_deref(), Some("compress"));
    assert_eq!(variable(&output, "MPRESS_THREADS").as_deref(), Some("3"));

    let output = place.run(&["--mpi", "mpich", "env"]).env("MPRESS_REPORT", "summary").output().unwrap();
    assert_eq!(variable(&output, "MPRESS_REPORT").as_deref(), Some("summary"));
}

#[test]
fn what_was_preloaded_stays() {
    let place = Place::new("preload");
    let run = |before: &str| {
        let output =
            place.run(&["--mpi", "openmpi", "--", "env"]).env("LD_PRELOAD", before).output().unwrap();
        variable(&output, "LD_PRELOAD").unwrap()
    };
    assert_eq!(run("/a/one.so"), format!("{}:/a/one.so", place.shim("openmpi")));
    // As when one `mpress run` starts another.
    assert_eq!(run(&place.shim("openmpi")), place.shim("openmpi"));
}

#[test]
fn a_given_shim_needs_no_mpi_and_becomes_absolute() {
    let place = Place::new("given");
    let output =
        place.run(&["--shim", "lib/libmpress-mpich.so", "--", "env"]).current_dir(&place.0).output().unwrap();
    assert_eq!(variable(&output, "LD_PRELOAD"), Some(place.shim("mpich")));
    fails(&mut place.run(&["--shim", "/no/such.so", "--", "env"]), 125, &["/no/such.so", "--shim"]);
}

#[test]
fn installed_shims_are_beside_the_command() {
    let place = Place::new("installed");
    fs::create_dir(place.0.join("bin")).unwrap();
    fs::create_dir(place.0.join("elsewhere")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_mpress"), place.0.join("bin/mpress")).unwrap();
    let link = place.0.join("elsewhere/mpress");
    std::os::unix::fs::symlink("../bin/mpress", &link).unwrap();
    let mut command = Command::new(&link);
    LAUNCHER.iter().for_each(|name| {
        command.env_remove(name);
    });
    let output = command.args(["run", "--mpi", "openmpi", "--", "env"]).output().unwrap();
    let found = variable(&output, "LD_PRELOAD").unwrap();
    assert_eq!(Path::new(&found), Path::new(&place.shim("openmpi")).canonicalize().unwrap());

    fs::remove_dir_all(place.0.join("lib")).unwrap();
    fails(&mut command, 125, &["Open MPI", "libmpress-openmpi.so", "lib/mpress", "MPRESS_LIBDIR", "--shim"]);
}

#[test]
fn the_process_becomes_the_program() {
    let place = Place::new("exec");
    // The same process, the same arguments, the same name.
    let mut child = place
        .run(&["--mpi", "mpich", "--", "sh", "-c", "echo $$ \"$0\" \"$@\"", "a b", "", "--report"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let id = child.id();
    let mut stdout = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut stdout).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(stdout, format!("{id} a b  --report\n"));

    let status = |script: &str| {
        place.run(&["--mpi", "mpich", "--", "sh", "-c", script]).stderr(Stdio::null()).status().unwrap()
    };
    assert_eq!(status("exit 42").code(), Some(42));
    assert_eq!(status("kill -SEGV $$").signal(), Some(11));
    // A closed pipe ends a program quietly; a Rust process ignores the signal unless it is put back.
    assert_eq!(status("kill -PIPE $$").signal(), Some(13));

    let output = place
        .run(&["--mpi", "mpich", "sh", "-c", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = output.unwrap();
    child.stdin.take().unwrap().write_all(b"through").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"through");
}

#[test]
fn what_cannot_be_run_is_said_in_one_line() {
    let place = Place::new("missing");
    let plain = place.file("plain", "#!/bin/sh\n", 0o644);
    let orphan = place.file("orphan", "#!/no/such/interpreter\n", 0o755);
    fails(&mut place.run(&["--mpi", "mpich", "--", "no-such-program"]), 127, &["`no-such-program`", "PATH"]);
    fails(&mut place.run(&["--mpi", "mpich", "--", "./no/such"]), 127, &["`./no/such`"]);
    fails(&mut place.run(&["--mpi", "mpich", "--", &plain]), 126, &[&plain]);
    fails(&mut place.run(&["--mpi", "mpich", "--", &orphan]), 127, &[&orphan]);
    fails(&mut place.run(&["--", "env"]), 125, &["env", "no MPI", "PMI_RANK", "--mpi openmpi"]);
    let mut elsewhere = place.run(&["--mpi", "mpich", "--", "env"]);
    fails(
        elsewhere.env("MPRESS_LIBDIR", "/no/dir"),
        125,
        &["MPICH", "libmpress-mpich.so", "/no/dir", "MPRESS_LIBDIR"],
    );
}

#[test]
fn only_the_first_rank_complains() {
    let place = Place::new("ranks");
    for rank in ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"] {
        let stderr = |value: &str| {
            let output =
                place.run(&["--mpi", "mpich", "--", "no-such-program"]).env(rank, value).output().unwrap();
            assert_eq!(output.status.code(), Some(127));
            text(&output.stderr)
        };
        assert_eq!(stderr("0").lines().count(), 1);
        assert_eq!(stderr("1"), "");
        let wrong = place.run(&["--no-such-flag", "x"]).env(rank, "3").output().unwrap();
        assert_eq!((wrong.status.code(), text(&wrong.stderr)), (Some(2), String::new()));
    }
}

#[test]
fn help_and_version() {
    let output = bare().arg("--version").output().unwrap();
    assert_eq!(text(&output.stdout), format!("mpress {}\n", env!("CARGO_PKG_VERSION")));
    let help = text(&bare().args(["run", "--help"]).output().unwrap().stdout);
    for word in ["mpirun -n 4 mpress run -- ./app", "--same-node", "MPRESS_DISABLE", "MPRESS_LIBDIR", "127"] {
        assert!(help.contains(word), "`{word}` is not in:\n{help}");
    }
    assert_eq!(bare().output().unwrap().status.code(), Some(2));
    assert_eq!(bare().arg("run").output().unwrap().status.code(), Some(2));
}

/// Builds with the system's compiler; says so where there is none.
fn compile(compiler: &str, args: &[&str], dir: &Path) -> bool {
    match Command::new(compiler).args(args).current_dir(dir).output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => panic!("{compiler}: {}", text(&output.stderr)),
        Err(error) => {
            // Not by `eprintln!`: the harness hides what a passing test prints.
            let _shown = writeln!(std::io::stderr(), "SKIPPED: {compiler}: {error}");
            false
        }
    }
}

#[test]
fn what_a_program_is_linked_to_decides() {
    let place = Place::new("linked");
    place.file("main.c", "#include <stdio.h>\n#include <stdlib.h>\nint f(void);\nint main(void) { f(); puts(getenv(\"LD_PRELOAD\")); return 0; }\n", 0o644);
    place.file("f.c", "int f(void) { return 0; }\n", 0o644);
    for (name, mpi) in [("libmpi.so.40", "openmpi"), ("libmpich.so.12", "mpich"), ("libmpi.so.12", "mpich")] {
        // A library that has the name only, a library that needs it, and programs that need the one or the other.
        let dir = place.0.join(name);
        fs::create_dir(&dir).unwrap();
        let soname = format!("-Wl,-soname,{name}");
        let steps: [&[&str]; 4] = [
            &["-shared", "-fPIC", &soname, "-o", name, "../f.c"],
            &[
                "-shared",
                "-fPIC",
                "-Wl,-soname,libphysics.so.1",
                "-Wl,--no-as-needed",
                "-o",
                "libphysics.so.1",
                "../f.c",
                name,
                "-Wl,-rpath,$ORIGIN",
            ],
            &["-o", "direct", "../main.c", name, "-Wl,-rpath,$ORIGIN"],
            &["-o", "indirect", "../main.c", "libphysics.so.1", "-Wl,-rpath,$ORIGIN", "-Wl,-rpath-link,."],
        ];
        if !steps.iter().all(|args| compile("cc", args, &dir)) {
            return;
        }
        for program in ["direct", "indirect"] {
            // A launcher that says otherwise is overruled: the shim must match the library.
            let other = if mpi == "mpich" { "OMPI_COMM_WORLD_SIZE" } else { "PMI_RANK" };
            let path = dir.join(program).display().to_string();
            let output = place.run(&["--", &path]).env(other, "0").output().unwrap();
            assert_eq!(text(&output.stdout).trim(), place.shim(mpi), "{program} with {name}");
            // The name alone, found in the path.
            let output = place.run(&["--", program]).env("PATH", &dir).output().unwrap();
            assert_eq!(text(&output.stdout).trim(), place.shim(mpi), "{program} with {name}");
        }
    }
}

#[test]
fn both_mpis_are_told_apart_for_real() {
    let place = Place::new("real");
    let source = "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) { \
                  puts(getenv(\"LD_PRELOAD\")); if (argc > 9) MPI_Init(&argc, &argv); return 0; }\n";
    place.file("program.c", source, 0o644);
    for mpi in ["openmpi", "mpich"] {
        if !compile(&format!("mpicc.{mpi}"), &["-o", mpi, "program.c"], &place.0) {
            continue;
        }
        let program = place.0.join(mpi).display().to_string();
        let output = place.run(&["--", &program]).output().unwrap();
        assert_eq!(text(&output.stdout).trim(), place.shim(mpi));
    }
}
