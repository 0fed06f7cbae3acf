//! Recordings of a program: under every MPI they have all its receive calls and all messages that it sends,
//! and `mpress replay` and `mpress predict` can read them. A recorded program sees the same as without the
//! shim.
//!
//! `cargo xtask test` sets the MPI, the shim and the command (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`,
//! `MPRESS_TEST_COMMAND`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "others need the rest")]
mod support;

use flate2::read::MultiGzDecoder;
use mpress_cluster::Launcher;
use mpress_corpus::files::{File, Piece};
use mpress_predict::trace::{COLUMNS, Kind, Line};
use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::compare::assert_same;
use support::{Plan, Rig, Written, skip, two_nodes};

const ROUNDS: usize = 10;

/// The receives of rank 1 in a round of `recorded.c`: source, tag, count, datatype, communicator, kind.
const RECEIVES: [(i32, i32, u64, &str, u32, Kind); 9] = [
    (0, 1, 512, "MPI_DOUBLE", 0, Kind::Recv),
    (-1, 2, 1024, "MPI_FLOAT", 0, Kind::Irecv),
    (0, -1, 300, "MPI_INT", 0, Kind::Start),
    (0, 4, 256, "MPI_DOUBLE", 0, Kind::Sendrecv),
    (0, -1, 1500, "MPI_BYTE", 0, Kind::Recv),
    (-1, 6, 2, "derived512", 0, Kind::Irecv),
    (0, 7, 1, "MPI_INT", 0, Kind::Recv),
    (0, 8, 1000, "MPI_SHORT", 1, Kind::Recv),
    (-2, 9, 1000, "MPI_SHORT", 1, Kind::Recv),
];

/// Bytes, tag, call.
type Sent = (usize, i32, &'static str);

/// The messages of a round of rank 0, by file.
const SENDS: [(&str, &[Sent]); 5] = [
    ("bin", &[(1500, 5, "ssend")]),
    ("f32", &[(4096, 2, "isend")]),
    ("f64", &[(4096, 1, "send"), (2048, 4, "sendrecv"), (1024, 6, "send")]),
    ("i16", &[(2000, 8, "send")]),
    ("i32", &[(1200, 3, "start")]),
];

fn recording(job: &Plan<'_>, folder: &Path) -> Written {
    let folder = folder.to_str().unwrap();
    job.env("MPRESS_TRACE", folder).env("MPRESS_RECORD", folder).run("recorded")
}

/// The text of a trace.
fn unpacked(path: &Path) -> String {
    assert_private(path, 0o600);
    let packed = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text
}

fn assert_private(path: &Path, mode: u32) {
    assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
}

/// Checks the trace of the receiving rank.
fn assert_traced(path: &Path) {
    let text = unpacked(path);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(COLUMNS));
    let lines: Vec<_> = lines.map(|line| Line::parse(line).unwrap()).collect();
    assert_eq!(lines.len(), ROUNDS * RECEIVES.len(), "{text}");
    let mut sites = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let expected = RECEIVES[at % RECEIVES.len()];
        let found = (line.source, line.tag, line.count, line.datatype, line.comm, line.kind);
        assert_eq!((line.seq, found), (at as u64, expected));
        assert_eq!(line.site, lines[at % RECEIVES.len()].site, "the same place in every round");
        assert_eq!(line.buffer, lines[at % RECEIVES.len()].buffer);
        assert!(line.site > 0 && line.site < 1 << 24, "{:#x} is not in the executable", line.site);
        sites.insert(line.site);
    }
    assert_eq!(sites.len(), RECEIVES.len(), "a site for each call");
}

/// Checks the messages of the sending rank.
fn assert_sampled(folder: &Path) {
    let files: Vec<_> = File::read_all(folder).unwrap();
    let names: Vec<_> = files.iter().map(|file| &*file.name).collect();
    let mut expected: Vec<_> =
        SENDS.iter().map(|(extension, _)| format!("recorded.2.r0.{extension}")).collect();
    expected.push("recorded.2.r1.f64".to_owned());
    assert_eq!(names, expected);
    for (file, (_, messages)) in files.iter().zip(SENDS) {
        assert_private(&folder.join(&file.name), 0o600);
        assert_private(&folder.join(format!("{}.idx", file.name)), 0o600);
        assert_eq!(file.index.len(), ROUNDS * messages.len(), "{}", file.name);
        for (at, (entry, bytes)) in file.index.iter().zip(file.pieces(Piece::Message)).enumerate() {
            let (len, tag, call) = messages[at % messages.len()];
            let found = (entry.bytes, entry.src, entry.dst, entry.tag, &*entry.call);
            assert_eq!(found, (len, 0, 1, tag, call), "{} {at}", file.name);
            let number = 100 * tag + i32::try_from(at / messages.len()).unwrap();
            let first = match &file.name[file.name.len() - 3..] {
                // Every other double, packed.
                "f64" if tag == 6 => f64::from_le_bytes(bytes[8..16].try_into().unwrap()) as i32 - 2,
                "f64" => f64::from_le_bytes(bytes[..8].try_into().unwrap()) as i32,
                "f32" => f32::from_le_bytes(bytes[..4].try_into().unwrap()) as i32,
                "i32" => i32::from_le_bytes(bytes[..4].try_into().unwrap()),
                "i16" => i16::from_le_bytes(bytes[..2].try_into().unwrap()).into(),
                _ => i32::from(bytes[0]) + 500,
            };
            assert_eq!(first, number, "{} {at}", file.name);
        }
    }
    assert_eq!(files.last().unwrap().index.len(), ROUNDS, "what rank 1 sends");
}

fn command() -> Option<PathBuf> {
    let Some(command) = std::env::var_os("MPRESS_TEST_COMMAND") else {
        return skip("MPRESS_TEST_COMMAND is not set (`cargo xtask test` sets it)");
    };
    Some(PathBuf::from(command).canonicalize().expect("MPRESS_TEST_COMMAND is a file"))
}

/// The output of the command for a recording.
fn said(command: &Path, args: &[&str], folder: &Path) -> String {
    let output = Command::new(command).args(args).arg(folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn assert_read_by_the_command(folder: &Path) {
    let Some(command) = command() else { return };
    let replayed = said(&command, &["replay", "--caches", "hot"], folder);
    for (extension, messages) in SENDS {
        let row = replayed.lines().find(|line| line.starts_with(&format!("recorded.2.r0.{extension} ")));
        let row = row.unwrap_or_else(|| panic!("{replayed}"));
        assert!(row.contains(&format!("/{} ", ROUNDS * messages.len())), "{row}");
    }
    let predicted = said(&command, &["predict", "--format", "csv"], folder);
    assert!(predicted.lines().any(|line| line.starts_with("recorded,2,tournament")), "{predicted}");
    let calls = said(&command, &["predict"], folder);
    let row = calls.lines().find(|line| line.starts_with("recorded.2 ")).unwrap_or_else(|| panic!("{calls}"));
    // Minimum, mean and maximum number of calls of a rank: rank 0 receives only through its half of the
    // exchange.
    for number in [ROUNDS, ROUNDS * (RECEIVES.len() + 1) / 2, ROUNDS * RECEIVES.len()] {
        assert!(row.split_whitespace().any(|word| word == number.to_string()), "{number} in {row}");
    }
}

fn assert_recorded(job: &Plan<'_>, name: &str, rig: &Rig) {
    let folder = rig.folder().join(format!("{name}/new"));
    let with = recording(job, &folder);
    with.assert_well();
    assert_private(&folder, 0o700);
    assert_traced(&folder.join("recorded.2.r1.csv.gz"));
    assert_sampled(&folder);
    assert_read_by_the_command(&folder);
    // If MPICH hung in MPI_Finalize, its output is lost.
    if let Some(lines) = with.shim_lines() {
        let calls = format!("mpress: {} receive calls are recorded in", ROUNDS * (RECEIVES.len() + 1));
        assert!(lines.iter().any(|line| line.starts_with(&calls)), "{lines:?}");
        let messages = ROUNDS * 8;
        let messages = format!("mpress: {messages} of {messages} messages (0.2 of 0.2 MiB) are recorded in");
        assert!(lines.iter().any(|line| line.starts_with(&messages)), "{lines:?}");
    }
}

#[test]
fn all_calls_and_messages_are_recorded() {
    let Some(rig) = Rig::new("recording") else { return };
    let job = rig.job(Launcher::Local, 2, "recorded", &[]);
    // First without compression, as on one node; then with all messages in frames.
    assert_recorded(&job.shimmed(), "passed", &rig);
    assert_recorded(&job.compressing(), "compressed", &rig);
    assert_recorded(&job.compressing().env("MPRESS_STRATEGY", "off"), "off", &rig);
    let Some(cluster) = two_nodes() else { return };
    let job = rig.job(Launcher::Cluster(&cluster), 1, "recorded", &[]);
    assert_recorded(&job.compressing(), "cluster", &rig);
}

#[test]
fn the_command_records() {
    let Some(rig) = Rig::new("recording_command") else { return };
    let Some(command) = command() else { return };
    let folder = rig.folder().join("by-option");
    let script = r#"exec "$COMMAND" run --preload "$SHIM" --record "$FOLDER" -- "$0" "$@""#;
    // The libraries as they are installed.
    let libraries = rig.folder().join("lib");
    std::fs::create_dir(&libraries).unwrap();
    std::os::unix::fs::symlink(&rig.shim, libraries.join("libmpress.so")).unwrap();
    let shim = format!("libmpress_shim_{}.so", rig.mpi.abi().name());
    std::os::unix::fs::symlink(rig.shim.with_file_name(&shim), libraries.join(&shim)).unwrap();
    let job = rig
        .job(Launcher::Local, 2, "recorded", &[])
        .env("COMMAND", command.to_str().unwrap())
        .env("SHIM", libraries.join("libmpress.so").to_str().unwrap())
        .env("FOLDER", folder.to_str().unwrap());
    job.wrapped(script).run("by-option").assert_well();
    assert_traced(&folder.join("recorded.2.r1.csv.gz"));
    assert_sampled(&folder);
}

/// A program sees the same, even if all calls take paths that they would not take without a recorder.
#[test]
fn a_recorded_program_sees_the_same() {
    let Some(rig) = Rig::new("recording_transparent") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["all"]);
    let without = job.run("without");
    for (name, job) in [("passed", job.shimmed()), ("compressed", job.compressing())] {
        let folder = rig.folder().join(format!("{name}-files"));
        let folder = folder.to_str().unwrap();
        let job = job.env("MPRESS_TRACE", folder).env("MPRESS_RECORD", folder);
        assert_same(&without, &job.env("MPRESS_RECORD_LIMIT", "1MiB").run(name));
    }
    let bytes: u64 = std::fs::read_dir(rig.folder().join("passed-files"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| File::read(&entry.path()).is_ok_and(|file| file.is_some()))
        .map(|entry| entry.metadata().unwrap().len())
        .sum();
    assert!((1 << 19..=2 << 20).contains(&bytes), "{bytes} bytes of two ranks");
}

#[test]
fn what_an_aborted_job_has_recorded_can_be_read() {
    let Some(rig) = Rig::new("recording_aborted") else { return };
    let folder = rig.folder().join("files");
    let written = recording(&rig.job(Launcher::Local, 2, "recorded", &["aborts"]).shimmed(), &folder);
    written.assert_ended_badly();
    assert_traced(&folder.join("recorded.2.r1.csv.gz"));
}

#[test]
fn what_cannot_be_recorded_is_said_in_one_line() {
    let Some(rig) = Rig::new("recording_nowhere") else { return };
    let job = rig.job(Launcher::Local, 2, "recorded", &[]);
    let without = job.run("without");
    for variable in ["MPRESS_TRACE", "MPRESS_RECORD"] {
        let with = job.shimmed().env(variable, "/proc/nowhere").run(variable);
        assert_same(&without, &with);
        if let Some(lines) = with.shim_lines() {
            let said = lines.iter().filter(|line| line.contains("nothing is recorded there")).count();
            assert_eq!(said, 1, "{lines:?}");
            assert!(lines.contains(&"mpress: 2 of 2 ranks could not record all"), "{lines:?}");
            // No line says that anything is recorded.
            assert_eq!(lines.len(), 2, "{lines:?}");
        }
    }
}
