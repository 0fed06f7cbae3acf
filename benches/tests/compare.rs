//! Runs the programs on folders of a few kilobytes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test reports by panicking")]

use mpress_benches::codecs::{CODECS, Role, Subject};
use mpress_benches::compare::Record;
use mpress_benches::corpus::{Entry, File, Piece, write};
use mpress_benches::element::Element;
use mpress_codec::simd::Simd;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Two files: 6 messages of smooth doubles, 3 of integers.
fn corpus() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let doubles: Vec<u8> = (0..3000).flat_map(|i| (f64::from(i) * 0.01).sin().to_le_bytes()).collect();
    fill(folder.path(), "waves.f64", &doubles, 4000);
    let integers: Vec<u8> = (0..3000).flat_map(|i: i32| (i / 3 * 7).to_le_bytes()).collect();
    fill(folder.path(), "ids.i32", &integers, 4000);
    folder
}

fn fill(folder: &Path, name: &str, bytes: &[u8], message: usize) {
    let entry =
        |i| Entry { offset: i * message, bytes: message, src: 0, dst: 1, tag: 7, call: "send".into() };
    let index: Vec<_> = (0..bytes.len() / message).map(entry).collect();
    write(folder, name, bytes, &index).unwrap();
}

fn compare(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_compare")).arg(folder).args(args).output().unwrap()
}

/// Whether a codec supports files of these elements.
fn is_for(codec: &Subject, element: Element) -> bool {
    (codec.make)(element, Simd::detect()).unwrap().is_some()
}

fn records(folder: &Path, args: &[&str]) -> Vec<Record> {
    let output = compare(folder, &[&["--format", "csv"], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut reader = csv::Reader::from_reader(&output.stdout[..]);
    assert_eq!(
        reader.headers().unwrap(),
        vec!["file", "codec", "messages", "bytes", "ratio", "encode_gbps", "decode_gbps"]
    );
    reader.deserialize().collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_codec_has_a_row_for_each_file_and_kind() {
    let folder = corpus();
    let records = records(folder.path(), &["--peers", "--variants"]);
    for record in &records {
        assert!(record.ratio > 0.0 && record.encode_gbps > 0.0 && record.decode_gbps > 0.0, "{record:?}");
        let raw = if record.file.ends_with("f64") { (6, 24_000) } else { (3, 12_000) };
        assert_eq!((record.messages, record.bytes), raw, "{record:?}");
        assert!(
            record.ratio >= 1.0 || record.codec.contains("continuing"),
            "raw where that is shorter: {record:?}"
        );
    }
    for codec in CODECS {
        for (element, files) in
            [(Element::F64, ["waves.f64", "geomean-f64"]), (Element::I32, ["ids.i32", "geomean-i32"])]
        {
            for file in files {
                let found = records.iter().filter(|row| row.file == file && row.codec == codec.name);
                assert_eq!(found.count(), usize::from(is_for(codec, element)), "{} {file}", codec.name);
            }
        }
    }
    let peers: BTreeSet<_> = records.iter().map(|record| &record.codec[..]).collect();
    for peer in ["lz4", "snappy", "zstd-1", "zstd-3", "pco-4", "pco-8"] {
        assert!(peers.contains(peer), "{peer}");
    }
    let ratio = |codec| records.iter().find(|row| row.codec == codec).unwrap().ratio;
    assert_eq!(ratio("memcpy"), 1.0);
    assert!(ratio("diffpack-ratio") > 1.1);
}

#[test]
fn pieces_and_lengths_are_chosen() {
    let folder = corpus();
    let rows = records(folder.path(), &["--codecs", "memcpy", "--piece", "16KiB"]);
    assert_eq!(
        rows.iter().map(|row| row.messages).collect::<Vec<_>>(),
        [1, 2, 2, 1],
        "i32 before f64, then means"
    );
    let rows = records(folder.path(), &["--codecs", "memcpy", "--piece", "16KiB", "--to", "8KiB"]);
    assert_eq!(rows[0].bytes, 24_000 - (16 << 10));
}

#[test]
fn the_table_and_the_plots_are_made() {
    let folder = corpus();
    let plots = folder.path().join("plots");
    let output = compare(folder.path(), &["--peers", "--plot", plots.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("x lz4") && text.contains("x memcpy") && text.contains("geomean-i32"), "{text}");
    for element in [Element::F64, Element::I32] {
        let svg = std::fs::read_to_string(plots.join(format!("pareto-{}.svg", element.name()))).unwrap();
        for codec in CODECS.iter().filter(|codec| codec.role != Role::Variant) {
            let labels = if is_for(codec, element) { 2 + usize::from(codec.name == "memcpy") } else { 0 };
            let found = svg.matches(&format!("\n{}\n", codec.name)).count();
            assert_eq!(found, labels, "{} among {}", codec.name, element.name());
        }
    }
}

#[test]
fn what_is_wrong_is_one_line() {
    let folder = corpus();
    let here = folder.path();
    let damaged = tempfile::tempdir().unwrap();
    fill(damaged.path(), "x.f64", &[0; 64], 32);
    std::fs::write(damaged.path().join("x.f64.idx"), "offset,bytes,src,dst,tag,call\n0,junk,0,1,7,send\n")
        .unwrap();
    let bare = tempfile::tempdir().unwrap();
    std::fs::write(bare.path().join("x.f64"), [0; 64]).unwrap();
    let empty = tempfile::tempdir().unwrap();

    let cases: &[(&Path, &[&str], &str)] = &[
        (here, &["--codecs", "dfcn"], "no codec `dfcn`"),
        (here, &["--passes", "3"], "3 is not in 7.."),
        (here, &["--passes", "many"], "invalid digit"),
        (here, &["--piece", "0"], "not a size"),
        (here, &["--simd", "sse2"], "not scalar, avx2 or avx512"),
        (here, &["--from", "1MiB"], "no message"),
        (here, &["--nonsense"], "--nonsense"),
        (Path::new("/no/such/folder"), &[], "/no/such/folder: No such file"),
        (here, &[here.to_str().unwrap()], "twice"),
        (damaged.path(), &[], "x.f64.idx: "),
        (bare.path(), &[], "x.f64.idx: No such file"),
        (empty.path(), &[], "no file of messages here"),
    ];
    for (folder, args, wanted) in cases {
        let output = compare(folder, args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{args:?}");
        assert!(
            error.starts_with("compare: ") && error.contains(wanted) && error.lines().count() == 1,
            "{error}"
        );
    }
}

#[test]
fn doubles_are_rounded_with_their_index() {
    let (from, to) = (corpus(), tempfile::tempdir().unwrap());
    fill(from.path(), "huge.f64", &1e300_f64.to_le_bytes(), 8);
    let round32 = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_round32"));
        command.args([from.path(), to.path()]).args(args).output().unwrap()
    };
    let output = round32(&[]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && error.starts_with("LEFT OUT: huge.f64"), "{error}");
    let files = File::read_all(to.path()).unwrap();
    assert_eq!((files.len(), &files[0].name[..], files[0].index[1].offset), (1, "waves.f32", 2000));
    let floats = files[0].pieces(Piece::Message).concat();
    let (floats, []) = floats.as_chunks() else { panic!() };
    assert_eq!(f32::from_le_bytes(floats[100]), 1.0_f64.sin() as f32);
    assert!(!round32(&["--only", "huge,nothing"]).status.success());
}
