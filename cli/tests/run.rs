//! `mpress run` as users and launchers run it: the program's environment, messages, exit statuses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

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

/// A separate directory for each test, with files in `lib` that have the names of the libraries.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-{name}"));
        let _from_an_earlier_run: std::io::Result<()> = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("lib")).unwrap();
        for name in ["libmpress.so", "libmpress_shim_openmpi.so", "libmpress_shim_mpich.so"] {
            fs::write(dir.join("lib").join(name), "").unwrap();
        }
        Self(dir)
    }

    fn library(&self) -> String {
        self.0.join("lib/libmpress.so").display().to_string()
    }

    /// `mpress run` in an environment without a launcher, with the libraries of this place.
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

/// A variable in the program's environment.
fn variable(output: &Output, name: &str) -> Option<String> {
    let stdout = text(&output.stdout);
    stdout.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

/// Checks for one line that contains these words.
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
fn the_library_is_preloaded_whoever_launched() {
    let place = Place::new("launcher");
    for name in ["OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_NAMESPACE", "HOME"] {
        let output = place.run(&["--", "env"]).env(name, "0").output().unwrap();
        assert!(output.status.success());
        assert_eq!(variable(&output, "LD_PRELOAD"), Some(place.library()), "{name}");
        assert_eq!(variable(&output, "MPRESS_REPORT"), None);
        assert_eq!(variable(&output, "MPRESS_SAME_NODE"), None);
    }
}

#[test]
fn flags_reach_the_shim_and_win_over_the_environment() {
    let place = Place::new("flags");
    let records = place.0.join("records").display().to_string();
    let args =
        ["--report", "full", "--same-node", "compress", "--threads", "3", "--record", &records, "--", "env"];
    let output = place.run(&args).env("MPRESS_REPORT", "none").env("PMIX_RANK", "0").output().unwrap();
    assert_eq!(variable(&output, "LD_PRELOAD"), Some(place.library()));
    assert_eq!(variable(&output, "MPRESS_REPORT").as_deref(), Some("full"));
    assert_eq!(variable(&output, "MPRESS_SAME_NODE").as_deref(), Some("compress"));
    assert_eq!(variable(&output, "MPRESS_THREADS").as_deref(), Some("3"));
    assert_eq!(variable(&output, "MPRESS_TRACE").as_ref(), Some(&records));
    assert_eq!(variable(&output, "MPRESS_RECORD").as_ref(), Some(&records));

    let output = place.run(&["env"]).env("MPRESS_REPORT", "summary").output().unwrap();
    assert_eq!(variable(&output, "MPRESS_REPORT").as_deref(), Some("summary"));
}

#[test]
fn what_was_preloaded_stays() {
    let place = Place::new("preload");
    let run = |before: &str| {
        let output = place.run(&["--", "env"]).env("LD_PRELOAD", before).output().unwrap();
        variable(&output, "LD_PRELOAD").unwrap()
    };
    assert_eq!(run("/a/one.so"), format!("/a/one.so:{}", place.library()));
    // As when one `mpress run` starts another.
    assert_eq!(run(&place.library()), place.library());
}

#[test]
fn a_given_library_becomes_absolute() {
    let place = Place::new("given");
    let output =
        place.run(&["--preload", "lib/libmpress.so", "--", "env"]).current_dir(&place.0).output().unwrap();
    assert_eq!(variable(&output, "LD_PRELOAD"), Some(place.library()));
    fails(&mut place.run(&["--preload", "/no/such.so", "--", "env"]), 125, &["/no/such.so", "--preload"]);
}

#[test]
fn installed_libraries_are_beside_the_command() {
    let place = Place::new("installed");
    fs::create_dir(place.0.join("bin")).unwrap();
    fs::create_dir(place.0.join("elsewhere")).unwrap();
    // Not a copy: a process that another test starts meanwhile would have the copy open for writing, and then it could
    // not be run.
    fs::hard_link(env!("CARGO_BIN_EXE_mpress"), place.0.join("bin/mpress")).unwrap();
    let link = place.0.join("elsewhere/mpress");
    std::os::unix::fs::symlink("../bin/mpress", &link).unwrap();
    let mut command = Command::new(&link);
    LAUNCHER.iter().for_each(|name| {
        command.env_remove(name);
    });
    let output = command.args(["run", "--", "env"]).output().unwrap();
    let found = variable(&output, "LD_PRELOAD").unwrap();
    assert_eq!(Path::new(&found), Path::new(&place.library()).canonicalize().unwrap());

    fs::remove_dir_all(place.0.join("lib")).unwrap();
    fails(&mut command, 125, &["libmpress.so", "lib/mpress", "MPRESS_LIBDIR", "--preload"]);
}

#[test]
fn the_process_becomes_the_program() {
    let place = Place::new("exec");
    // The same process, the same arguments, the same name.
    let mut child = place
        .run(&["--", "sh", "-c", "echo $$ \"$0\" \"$@\"", "a b", "", "--report"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let id = child.id();
    let mut stdout = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut stdout).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(stdout, format!("{id} a b  --report\n"));

    let status =
        |script: &str| place.run(&["--", "sh", "-c", script]).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status("exit 42").code(), Some(42));
    assert_eq!(status("kill -SEGV $$").signal(), Some(11));
    // A closed pipe ends a program quietly; a Rust process ignores the signal unless its default action is restored.
    assert_eq!(status("kill -PIPE $$").signal(), Some(13));

    let output = place.run(&["sh", "-c", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = output.unwrap();
    child.stdin.take().unwrap().write_all(b"through").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"through");
}

#[test]
fn what_cannot_be_run_is_said_in_one_line() {
    let place = Place::new("missing");
    let plain = place.file("plain", "#!/bin/sh\n", 0o644);
    let orphan = place.file("orphan", "#!/no/such/interpreter\n", 0o755);
    fails(&mut place.run(&["--", "no-such-program"]), 127, &["`no-such-program`", "PATH"]);
    fails(&mut place.run(&["--", "./no/such"]), 127, &["`./no/such`"]);
    let (near, there) = (place.0.join("orphna").display().to_string(), format!("(did you mean {orphan}?)"));
    fails(&mut place.run(&["--", &near]), 127, &[&near, &there]);
    let mut here = place.run(&["--", "orphan"]);
    fails(here.current_dir(&place.0), 127, &["`orphan`", "PATH (did you mean ./orphan?)"]);
    fails(&mut place.run(&["--", &plain]), 126, &[&plain]);
    fails(&mut place.run(&["--", &orphan]), 127, &[&orphan]);
    let mut elsewhere = place.run(&["--", "env"]);
    fails(elsewhere.env("MPRESS_LIBDIR", "/no/dir"), 125, &["libmpress.so", "/no/dir", "MPRESS_LIBDIR"]);
}

#[test]
fn a_wrong_setting_is_refused_before_the_program_starts() {
    let place = Place::new("setting");
    let started = place.0.join("started");
    let wrong = |options: &[&str], name: &str, value: &str, line: &str| {
        let mut command = place.run(options);
        command.args(["--", "touch"]).arg(&started).env(name, value);
        fails(&mut command, 2, &[line]);
        assert!(!started.exists(), "{name}={value}");
    };
    let file = |name: &str, text: &str| place.file(name, text, 0o644);
    let none = place.0.join("none").display().to_string();
    let folder = place.0.display().to_string();
    let limit = "MPRESS_RECORD_LIMIT=8X: expected at least 1024 bytes, such as 64MiB";
    wrong(&[], "MPRESS_RECORD_LIMIT", "8X", limit);
    wrong(&[], "MPRESS_REPORT", "loud", "MPRESS_REPORT=loud: expected none, summary or full");
    wrong(&[], "MPRESS_CONFIG", &none, &format!("{none}: No such file"));
    let key = file("key.toml", "root = 1\n");
    wrong(&[], "MPRESS_CONFIG", &key, &format!("{key}: root: unknown setting"));
    wrong(&["--strategy", "guided"], "MPRESS_GUIDE", "", "MPRESS_STRATEGY=guided needs MPRESS_GUIDE=FILE");
    wrong(&["--strategy", "guided"], "MPRESS_GUIDE", &none, &format!("{none}: No such file"));
    wrong(&[], "MPRESS_HEURISTICS", &none, &format!("{none}/compression.toml: No such file"));
    let text = file("text", "Dear diary\n");
    wrong(&[], "MPRESS_LINKS", &text, &format!("{text}: line 1: "));
    for name in ["MPRESS_TRACE", "MPRESS_RECORD"] {
        wrong(&[], name, &format!("{text}/in"), &format!("{text}/in: Not a directory"));
    }
    for name in ["MPRESS_REPORT_FILE", "MPRESS_GUIDE", "MPRESS_LINKS"] {
        let line = |file: &str, why: &str| format!("mpress: {file} cannot be written: {why}");
        let (new, inside) = (format!("{none}/r.json"), format!("{text}/r.json"));
        wrong(&[], name, &new, &line(&new, &format!("No such file or directory (os error 2): {none}")));
        if name != "MPRESS_LINKS" {
            wrong(&[], name, &inside, &line(&inside, "Not a directory"));
        }
    }
    wrong(&["--strategy", "off"], "MPRESS_REPORT_FILE", &folder, &format!("{folder} cannot be written"));
    file("memory.toml", "Dear diary\n");
    wrong(&[], "MPRESS_HEURISTICS", &folder, &format!("{folder}/memory.toml: line 1: "));
}

#[test]
fn a_report_file_comes_with_a_summary() {
    let place = Place::new("report-file");
    let by = |report: &str, options: &[&str], variable_of: &str| {
        let mut command = place.run(options);
        command.current_dir(&place.0).env("MPRESS_REPORT", report).args(["--", "env"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        variable(&output, variable_of).filter(|value| !value.is_empty())
    };
    let given = |options: &[&str], variable_of: &str| by("", options, variable_of);
    let options = ["--report-file", "r.json"];
    assert_eq!(by("none", &options, "MPRESS_REPORT").as_deref(), Some("none"), "what is set is meant");
    assert_eq!(by("full", &options, "MPRESS_REPORT").as_deref(), Some("full"));
    let file = place.0.join("r.json").display().to_string();
    assert_eq!(given(&options, "MPRESS_REPORT_FILE"), Some(file));
    assert_eq!(given(&options, "MPRESS_REPORT").as_deref(), Some("summary"));
    let full = [&options[..], &["--report", "full"]].concat();
    assert_eq!(given(&full, "MPRESS_REPORT").as_deref(), Some("full"));
    assert_eq!(given(&[], "MPRESS_REPORT"), None);
    let mut missing = place.run(&["--report-file", "/no/such/r.json", "--", "env"]);
    fails(&mut missing, 2, &["/no/such/r.json cannot be written", ": /no/such"]);
    assert_eq!(place.run(&["--report-file", "", "--", "env"]).status().unwrap().code(), Some(2), "no name");
}

#[test]
fn what_is_no_wrong_setting_is_left_to_the_shim() {
    let place = Place::new("left");
    let records = place.0.join("a/b");
    let config = place.file("config.toml", "record_limit = \"8MB\"\nthreads = 2\n", 0o644);
    let mut command = place.run(&["--report", "full", "--", "env"]);
    // An option takes precedence over a variable; links and records may be new; modules of clusters set such names.
    command.env("MPRESS_REPORT", "loud").env("MPRESS_RECORD_LIMIT", "8M").env("MPRESS_ROOT", "/opt");
    command.env("MPRESS_LINKS", place.0.join("links.toml")).env("MPRESS_RECORD", &records);
    let output = command.env("MPRESS_CONFIG", config).output().unwrap();
    assert_eq!(variable(&output, "MPRESS_REPORT"), Some("full".to_owned()));
    assert!(!text(&output.stderr).contains("mpress: "), "{}", text(&output.stderr));
    assert_eq!(fs::metadata(records).unwrap().permissions().mode() & 0o777, 0o700);
    let mut disabled = place.run(&["--", "true"]);
    disabled
        .env("MPRESS_DISABLE", "1")
        .env("MPRESS_HEURISTICS", "/none")
        .env("MPRESS_RECORD", "/dev/null/in");
    assert!(disabled.status().unwrap().success());
}

/// The program may go to another folder before it starts its MPI.
#[test]
fn paths_of_settings_count_from_the_folder_of_the_start() {
    let place = Place::new("folder");
    place.file("mpress.toml", "guide = \"guide.toml\"\nreport_file = \"/tmp/r.json\"\n", 0o644);
    let mut command = place.run(&["--record", "rec", "--", "sh", "-c", "cd / && exec env"]);
    command.current_dir(&place.0).env("MPRESS_CONFIG", "mpress.toml").env("MPRESS_LINKS", "a/../links.toml");
    fs::create_dir(place.0.join("a")).unwrap();
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let given = |name: &str| variable(&output, name).map(PathBuf::from);
    for (name, file) in [
        ("MPRESS_CONFIG", "mpress.toml"),
        ("MPRESS_LINKS", "a/../links.toml"),
        ("MPRESS_GUIDE", "guide.toml"),
        ("MPRESS_REPORT_FILE", "/tmp/r.json"),
        ("MPRESS_TRACE", "rec"),
        ("MPRESS_RECORD", "rec"),
    ] {
        assert_eq!(given(name), Some(place.0.join(file)), "{name}");
    }
    assert_eq!(given("MPRESS_HEURISTICS"), None);
    assert!(place.0.join("rec").is_dir());
}

#[test]
fn a_folder_whose_name_is_not_utf_8_is_the_one_that_is_made() {
    let place = Place::new("bytes");
    let records = place.0.join(OsStr::from_bytes(b"r\xe9"));
    let status = place.run(&["--record"]).arg(&records).args(["--", "true"]).status().unwrap();
    assert!(status.success() && records.is_dir());
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 2, "that and `lib`");
}

#[test]
fn only_the_first_rank_complains() {
    let place = Place::new("ranks");
    for rank in ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"] {
        let stderr = |value: &str| {
            let output = place.run(&["--", "no-such-program"]).env(rank, value).output().unwrap();
            assert_eq!(output.status.code(), Some(127));
            text(&output.stderr)
        };
        assert_eq!(stderr("0").lines().count(), 1);
        assert_eq!(stderr("1"), "");
        let start = Instant::now();
        let wrong = place.run(&["--no-such-flag", "x"]).env(rank, "3").output().unwrap();
        assert!(start.elapsed() > Duration::from_millis(250), "the first rank has no time to print");
        assert_eq!((wrong.status.code(), text(&wrong.stderr)), (Some(2), String::new()));
    }
    // Rank 0 may be on a node that has the file, or another one of that name.
    let stderr = |name: &str, value: &str, rank: &str| {
        let mut command = place.run(&["--", "true"]);
        command.env(name, value).env("SLURM_PROCID", "4").env("SLURM_LOCALID", rank);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    let none = "/none/mpress.toml".to_owned();
    let key = place.file("key.toml", "root = 1\n", 0o644);
    let value = place.file("value.toml", "threads = 0\n", 0o644);
    for (file, why) in
        [(none, "No such file"), (key, "root: unknown setting"), (value, "threads=0: expected a number")]
    {
        let line = stderr("MPRESS_CONFIG", &file, "0");
        assert!(line.starts_with(&format!("mpress: {file}: {why}")), "{line}");
        assert_eq!(stderr("MPRESS_CONFIG", &file, "1"), "");
    }
    assert_eq!(stderr("MPRESS_STRATEGY", "/none/mpress.toml", "0"), "");
}

#[test]
fn help_and_version() {
    let short = format!("mpress {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(text(&bare().arg("-V").output().unwrap().stdout), short);
    let long = text(&bare().arg("--version").output().unwrap().stdout);
    assert!(
        long.starts_with(&format!("{short}commit: ")) && long.contains("\ncodecs: diffpack-fast "),
        "{long}"
    );
    let help = text(&bare().args(["run", "--help"]).output().unwrap().stdout);
    for word in ["mpirun -n 4 mpress run -- ./app", "--same-node", "MPRESS_DISABLE", "MPRESS_LIBDIR", "127"] {
        assert!(help.contains(word), "`{word}` is not in:\n{help}");
    }
    assert_eq!(bare().output().unwrap().status.code(), Some(2));
    assert_eq!(bare().arg("run").output().unwrap().status.code(), Some(2));
}

#[test]
fn man_pages_and_completions_are_written_below_a_prefix() {
    let place = Place::new("manual");
    let prefix = place.0.join("usr");
    let output = bare().args(["manual", "--prefix"]).arg(&prefix).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let file = |name: &str| fs::read_to_string(prefix.join("share").join(name)).unwrap();
    assert!(file("man/man1/mpress.1").contains("mpress\\-run(1)"));
    assert!(file("man/man1/mpress-run.1").contains("same\\-node"));
    assert!(file("bash-completion/completions/mpress").contains("--same-node"));
    assert!(file("zsh/site-functions/_mpress").starts_with("#compdef mpress"));
    assert!(file("fish/vendor_completions.d/mpress.fish").contains("same-node"));
    // The command that writes them is only for packagers.
    assert!(!prefix.join("share/man/man1/mpress-manual.1").exists());
    assert!(!text(&bare().arg("--help").output().unwrap().stdout).contains("manual"));
}

#[test]
fn a_library_in_a_folder_with_a_blank_is_found_by_the_loader() {
    let place = Place::new("with a blank");
    let lib = place.0.join("lib");
    let output = place.run(&["--", "env"]).env("LD_LIBRARY_PATH", "/before").output().unwrap();
    assert_eq!(variable(&output, "LD_PRELOAD").as_deref(), Some("libmpress.so"));
    let folders = variable(&output, "LD_LIBRARY_PATH");
    assert_eq!(folders, Some(format!("{}:/before", lib.display())));
}

/// Builds with the system's compiler; prints a message if there is none.
fn compile(compiler: &str, args: &[&str], dir: &Path) -> bool {
    match Command::new(compiler).args(args).current_dir(dir).output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => panic!("{compiler}: {}", text(&output.stderr)),
        Err(error) => {
            // Not by `eprintln!`: the harness hides the output of a passing test.
            let _shown = writeln!(std::io::stderr(), "SKIPPED: {compiler}: {error}");
            false
        }
    }
}

#[test]
fn there_must_be_a_shim_for_what_a_program_is_linked_to() {
    let place = Place::new("linked");
    place.file("main.c", "int f(void);\nint main(void) { return f(); }\n", 0o644);
    place.file("f.c", "int f(void) { return 0; }\n", 0o644);
    let shim = |abi: &str| place.0.join(format!("lib/libmpress_shim_{abi}.so"));
    for (name, abi) in [
        ("libmpi.so.40", "openmpi"),
        ("libmpich.so.12", "mpich"),
        ("libmpi.so.12", "mpich"),
        ("libmpi_abi.so.1", "standard"),
    ] {
        // A library with only the name, a library that needs it, and programs that need one or the other.
        let dir = place.0.join(name);
        fs::create_dir(&dir).unwrap();
        let soname = format!("-Wl,-soname,{name}");
        let physics = [
            "-shared",
            "-fPIC",
            "-Wl,-soname,libphysics.so.1",
            "-Wl,--no-as-needed",
            "-o",
            "libphysics.so.1",
            "../f.c",
            name,
            "-Wl,-rpath,$ORIGIN",
        ];
        let steps: [&[&str]; 4] = [
            &["-shared", "-fPIC", &soname, "-o", name, "../f.c"],
            &physics,
            &["-o", "direct", "../main.c", name, "-Wl,-rpath,$ORIGIN"],
            &["-o", "indirect", "../main.c", "libphysics.so.1", "-Wl,-rpath,$ORIGIN", "-Wl,-rpath-link,."],
        ];
        if !steps.iter().all(|args| compile("cc", args, &dir)) {
            return;
        }
        for program in ["direct", "indirect"] {
            let path = dir.join(program).display().to_string();
            let _from_before: std::io::Result<()> = fs::remove_file(shim(abi));
            fails(&mut place.run(&["--", &path]), 125, &[&format!("libmpress_shim_{abi}.so")]);
            // Only the file name, found in the path.
            fails(place.run(&["--", program]).env("PATH", &dir), 125, &[&format!("libmpress_shim_{abi}.so")]);
            fs::write(shim(abi), "").unwrap();
            assert!(place.run(&["--", &path]).status().unwrap().success(), "{program} with {name}");
        }
    }
}

#[test]
fn a_program_into_which_nothing_can_be_preloaded_is_named() {
    let place = Place::new("static");
    let (source, program) =
        (place.file("main.c", "int main(void) { return 7; }", 0o644), place.0.join("program"));
    let built = Command::new("cc").args(["-static", "-o"]).arg(&program).arg(source).output();
    if !built.is_ok_and(|output| output.status.success()) {
        // Not by `eprintln!`: the harness hides the output of a passing test.
        let _shown = writeln!(std::io::stderr(), "SKIPPED: no static C library");
        return;
    }
    let output = place.run(&["--"]).arg(&program).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{stderr}");
    assert!(stderr.contains("is linked statically") && stderr.lines().count() == 1, "{stderr}");
    let copy = place.file("tool", "", 0o755);
    fs::copy("/bin/true", &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
    let output = place.run(&["--", &copy]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("setuid"), "{output:?}");
}
