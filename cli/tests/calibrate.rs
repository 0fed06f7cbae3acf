//! `mpress calibrate` on one machine: the files it writes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use mpress::Knowledge;
use mpress::knowledge::Memory;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A separate folder for each test.
fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("calibrate-{name}"));
    let _from_an_earlier_run: std::io::Result<()> = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn calibrate(out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpress"));
    command.arg("calibrate").arg("--out").arg(out);
    command
}

/// Runs it: exit status and lines on standard error.
fn run(command: &mut Command) -> (Option<i32>, Vec<String>) {
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stderr.lines().map(str::to_owned).collect())
}

fn names(dir: &Path) -> Vec<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_files_are_some_that_the_engine_takes() {
    let dir = folder("codecs").join("made/here");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("compression.toml"), "of another make").unwrap();
    let (status, lines) = run(&mut calibrate(&dir));
    assert_eq!(status, Some(0), "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with("mpress: ")), "{lines:?}");
    let hint = format!("set MPRESS_HEURISTICS={}", dir.display());
    assert!(lines.len() == 4 && lines[3].ends_with(&hint), "{lines:?}");
    let mut written = names(&dir);
    written.sort();
    assert_eq!(written, ["compression.toml", "memory.toml"]);

    let (knowledge, errors) = Knowledge::read(&dir);
    assert!(errors.is_empty(), "{errors:?}");
    assert_ne!(knowledge.codecs, Knowledge::default().codecs);
    for kind in mpress::Kind::ALL {
        let levels = mpress::selector::Level::ALL.map(|level| {
            knowledge.codecs.iter().filter(|b| b.kind == kind.name() && b.level == level.name()).count()
        });
        assert!(levels.iter().all(|rows| *rows > 0 && *rows == levels[0]), "{kind:?}: {levels:?}");
    }
    let codecs = || knowledge.codecs.iter().flat_map(|b| [b.encode, b.decode]);
    assert!(
        codecs().all(|speed| speed.is_sane()) && codecs().any(|speed| speed.cold_us > 0.0),
        "{knowledge:?}"
    );
    for file in ["compression.toml", "memory.toml"] {
        let text = fs::read_to_string(dir.join(file)).unwrap();
        let made = text.lines().find(|line| line.starts_with("made = ")).unwrap();
        for word in ["20", " UTC on ", "mpress calibrate --out", env!("CARGO_PKG_VERSION")] {
            assert!(made.contains(word), "`{word}` is not in {made}");
        }
    }

    // Measured values are in the file and in the first part of the line. All others are the processor's own, and the line says so.
    let memory = Memory::read(&dir).unwrap();
    let line = lines.iter().find_map(|line| line.strip_prefix("mpress: memory: ")).unwrap();
    let (measured, own) = line.split_once("; ").unwrap_or((line, ""));
    for (name, figure) in [
        ("page ", memory.page_bytes),
        ("T_p ", memory.tlb_entries),
        ("L1 ", memory.l1_bytes),
        ("L2 ", memory.l2_bytes),
        ("L3 ", memory.l3_bytes),
    ] {
        let (here, there) = if figure.is_some() { (measured, own) } else { (own, measured) };
        assert!(here.contains(name) && !there.contains(name), "{name}: {lines:?}, {memory:?}");
    }
    assert!(memory.page_bytes.is_some(), "from the system: {memory:?}");
}

#[test]
fn ranks_that_have_nothing_to_do_leave() {
    let dir = folder("ranks");
    let (status, lines) = run(calibrate(&dir).env("PMI_RANK", "1"));
    assert_eq!((status, lines.len()), (Some(0), 0), "{lines:?}");
    assert!(names(&dir).is_empty());
}

#[test]
fn what_goes_wrong_is_said_in_one_line() {
    let dir = folder("wrong");
    let file = dir.join("file");
    fs::write(&file, "").unwrap();
    let fails = |command: &mut Command, words: &[&str]| {
        let (status, lines) = run(command);
        assert_eq!((status, lines.len()), (Some(1), 1), "{lines:?}");
        assert!(words.iter().all(|word| lines[0].contains(word)), "{words:?}: {lines:?}");
    };
    fails(&mut calibrate(&file), &["mpress: ", "wrong/file: "]);
    fails(&mut calibrate(&file.join("under")), &["mpress: ", "wrong/file/under: "]);
    assert_eq!(names(&dir), ["file"]);
}
