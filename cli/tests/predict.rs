//! `mpress predict` as a user runs it: the figures of the paper from real traces, CSV, pictures, and files that are not traces.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const COLUMNS: &str = "seq,callsite,source,tag,count,datatype,buf,comm,kind\n";

/// The traces stored with the tests.
fn few() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces")
}

/// All traces, if they are stored next to the repository; otherwise the test is skipped.
fn all() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces");
    if folder.exists() {
        return Some(folder);
    }
    // Not by `eprintln!`: the harness hides the output of a passing test.
    let _shown =
        io::stderr().write_all(b"SKIPPED: the traces of all runs, which are not next to the repository\n");
    None
}

fn predict(args: &[&str], paths: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mpress")).arg("predict").args(args).args(paths).output().unwrap()
}

/// The predictors with an initialisation phase.
const WITH_PHASE: [&str; 3] = ["single-cycle", "tag-cycle", "tag-bettercycle"];

/// Minimum, mean and maximum hit ratio, and the memory.
type Row = [f64; 4];

/// Rows by run and predictor.
fn rows(output: &Output) -> BTreeMap<(String, String), Row> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut reader = csv::Reader::from_reader(&*output.stdout);
    assert_eq!(
        reader.headers().unwrap(),
        ["app", "ranks", "predictor", "min", "mean", "max", "memory"].as_slice()
    );
    let row = |record: csv::StringRecord| {
        let numbers = [3, 4, 5, 6].map(|column| record[column].parse().unwrap());
        ((format!("{}.{}", &record[0], &record[1]), record[2].to_owned()), numbers)
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

fn row(rows: &BTreeMap<(String, String), Row>, run: &str, predictor: &str) -> Row {
    rows[&(run.to_owned(), predictor.to_owned())]
}

#[test]
fn few_traces_as_csv() {
    let rows = rows(&predict(&["--format", "csv"], &[&few()]));
    let mut runs: Vec<_> = rows.keys().map(|(run, _)| run.as_str()).collect();
    runs.dedup();
    assert_eq!(runs, ["bt.W.4", "cg.S.4"]);
    for ((run, predictor), [min, mean, max, _]) in &rows {
        assert!(0.0 <= *min && min <= mean && mean <= max && *max <= 1.0, "{run} {predictor}");
    }
    // A cycle of 12 calls in 2418: the misses are the first 12 and the one that closes it. Its head is stored twice.
    assert_eq!(row(&rows, "bt.W.4", "single-cycle"), [0.994_624, 0.994_624, 0.994_624, 13.0]);
    assert_eq!(row(&rows, "bt.W.4", "tagging")[3], 12.0);
    // 12 different messages in turn fit only into a set of 12.
    assert_eq!(row(&rows, "bt.W.4", "lru-10")[1], 0.0);
    assert_eq!(row(&rows, "bt.W.4", "fifo-12")[1], 0.995_037);
    assert!(row(&rows, "bt.W.4", "lfu-10")[1] > 0.7);
    for predictor in WITH_PHASE {
        assert!(row(&rows, "bt.W.4", predictor)[0] >= 0.9 && row(&rows, "cg.S.4", predictor)[0] >= 0.9);
    }
}

#[test]
fn few_traces_as_tables_and_pictures() {
    let plots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("predict-plots");
    let _from_an_earlier_run: io::Result<()> = fs::remove_dir_all(&plots);
    let output = predict(&["--plot", plots.to_str().unwrap()], &[&few()]);
    let text = String::from_utf8(output.stdout).unwrap();
    for title in
        ["figures 2 and 3", "figure 4", "figure 5", "figures 8 to 11", "figure 12", "Table 1", "figure 13"]
    {
        assert!(text.contains(title), "{title} in\n{text}");
    }
    for name in ["calls", "messages", "distribution", "windows", "hits-single-cycle", "comparison", "starts"]
    {
        let svg = fs::read_to_string(plots.join(format!("{name}.svg"))).unwrap();
        roxmltree::Document::parse(&svg).unwrap();
    }
}

#[test]
fn the_paper_holds_on_all_traces() {
    let Some(traces) = all() else { return };
    let rows = rows(&predict(&["--format", "csv"], &[&traces]));
    for ((run, predictor), ratios) in &rows {
        let program = run.split('.').next().unwrap();
        if ["single-cycle", "tagging", "tag-cycle", "tag-bettercycle"].contains(&predictor.as_str()) {
            assert!(
                program == "sp" || predictor == "tagging" || ratios[0] >= 0.9,
                "{run}: {predictor} {ratios:?}"
            );
            // The project's predictor is better, and not only on average.
            let ours = row(&rows, run, "tournament");
            assert!(ours[0] >= ratios[0] && ours[1] >= ratios[1] && ours[2] >= ratios[2], "{run}: {ours:?}");
        }
        if predictor.starts_with("tournament") {
            assert!(ratios[0] >= 0.97 && ratios[3] <= 65_536.0, "{run}: {predictor} {ratios:?}");
        }
    }
    // Table 1.
    for (run, predictor, memory) in [
        ("bt.W.49", "tagging", 12.0),
        ("sp.W.49", "tagging", 12.0),
        ("cg.W.64", "tagging", 10.0),
        ("bt.W.49", "single-cycle", 43.0),
        ("sp.W.49", "single-cycle", 43.0),
        ("cg.W.64", "tag-cycle", 40.0),
        ("cg.W.64", "tag-bettercycle", 40.0),
    ] {
        assert_eq!(row(&rows, run, predictor)[3], memory, "{run}: {predictor}");
    }
}

/// Figure 13: minimum, mean and maximum of a predictor for a run, with the initialisation phase and without.
fn figure_13(output: &Output, run: &str, predictor: &str) -> [[String; 3]; 2] {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let figure = text.split("(figure 13)").nth(1).unwrap();
    let row = figure.lines().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let row = row.into_iter().find(|row| row.starts_with(&[run.to_owned(), predictor.to_owned()])).unwrap();
    [2, 5].map(|first| [0, 1, 2].map(|column| row[first + column].clone()))
}

/// Figure 13 shares work between its starts; `--starts` does not.
#[test]
fn figure_13_is_the_mean_over_runs_from_each_start() {
    let tables = predict(&[], &[&few()]);
    for (at, phase) in ["on", "off"].into_iter().enumerate() {
        let options = ["--format", "csv", "--starts", "100", "--initialisation", phase];
        let rows = rows(&predict(&options, &[&few()]));
        for (run, predictor) in
            ["bt.W.4", "cg.S.4"].into_iter().flat_map(|run| WITH_PHASE.map(|name| (run, name)))
        {
            let [min, mean, max, _] = row(&rows, run, predictor);
            let expected = [min, mean, max].map(|ratio| format!("{ratio:.4}"));
            assert_eq!(figure_13(&tables, run, predictor)[at], expected, "{run} {predictor} {phase}");
        }
    }
}

/// Section 6.6: more than 95 % on BT and CG, more than 75 % on SP. Single-cycle misses a round of sixteen on CG, by its definition.
#[test]
fn averages_over_starting_calls_are_those_of_the_paper() {
    let Some(traces) = all() else { return };
    let largest = ["bt.W.49.", "cg.W.64.", "sp.W.49."];
    let files = fs::read_dir(traces).unwrap().map(|file| file.unwrap().path());
    let is_largest = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_str().unwrap();
        largest.iter().any(|run| name.starts_with(run))
    };
    let files: Vec<_> = files.filter(is_largest).collect();
    let output = predict(&[], &files.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    for run in largest.map(|run| run.trim_end_matches('.')) {
        for predictor in WITH_PHASE {
            let mean: f64 = figure_13(&output, run, predictor)[0][1].parse().unwrap();
            let (least, most) = match (&run[..2], predictor) {
                ("cg", "single-cycle") => (0.93, 15.0 / 16.0),
                ("sp", _) => (0.75, 1.0),
                _ => (0.95, 1.0),
            };
            assert!(least <= mean && mean <= most, "{run} {predictor}: {mean}");
        }
    }
}

/// A trace of this number of messages, all different.
fn different(messages: usize) -> Vec<u8> {
    let line = |seq| format!("{seq},0x10,1,{seq},3,MPI_INT,0x20,0,recv\n");
    [COLUMNS.to_owned(), (0..messages).map(line).collect()].concat().into_bytes()
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _from_an_earlier_run: io::Result<()> = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn ranks_that_were_read_take_no_memory() {
    let folder = folder("predict-ranks");
    let trace = gzip(&different(50_000));
    for rank in 0..30 {
        fs::write(folder.join(format!("x.30.r{rank}.csv.gz")), &trace).unwrap();
    }
    // Kilobytes of address space: one rank takes 16 MB, and a list of its messages would take 0.4 MB.
    let mut limited = Command::new("sh");
    limited.args([
        "-c",
        "ulimit -v 20000; exec \"$0\" predict --format csv \"$1\"",
        env!("CARGO_BIN_EXE_mpress"),
    ]);
    assert_eq!(rows(&limited.arg(&folder).output().unwrap()).len(), 72);
}

#[test]
fn a_picture_of_many_messages_is_small() {
    let plots = folder("predict-many");
    let trace = file("many", &different(20_000), true);
    let output = predict(&["--plot", plots.to_str().unwrap()], &[&trace]);
    assert!(output.status.success());
    let svg = fs::read_to_string(plots.join("distribution.svg")).unwrap();
    assert!(svg.len() < 50_000, "{} bytes", svg.len());
    assert!(svg.contains("means of 157 messages"), "the caption says what a bar is");
}

#[test]
fn a_distribution_of_many_numbers_is_a_short_line() {
    let calls = (0..300).flat_map(|tag| std::iter::repeat_n(tag, tag + 1)).enumerate();
    let lines: String =
        calls.map(|(seq, tag)| format!("{seq},0x10,1,{tag},3,MPI_INT,0x20,0,recv\n")).collect();
    let output = predict(&[], &[&file("numbers", [COLUMNS, &lines].concat().as_bytes(), true)]);
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.contains("300 x 1, 299 x 1")).unwrap();
    assert!(line.len() < 300 && line.ends_with("1 to 280 x 280"), "{line}");
}

#[test]
fn it_says_whether_looking_ahead_can_pay() {
    let says = |name: &str, line: &dyn Fn(usize) -> String, words: &str| {
        let lines: String = (0..400).map(line).collect();
        let output = predict(&[], &[&file(name, [COLUMNS, &lines].concat().as_bytes(), true)]);
        let text = String::from_utf8(output.stdout).unwrap();
        let answer = text.split("MPRESS_PREDICT").nth(1).and_then(|rest| rest.lines().nth(1)).unwrap();
        assert!(answer.contains(words), "`{words}` is not in: {answer}");
    };
    let call = |seq: usize, source: i32, tag: usize, count: usize| {
        format!("{seq},0x10,{source},{tag},{count},MPI_DOUBLE,0x20,0,recv\n")
    };
    let long = (32 << 10) / 8;
    says(
        "ahead-long",
        &|seq| call(seq, 1, seq % 2, if seq % 4 < 2 { long } else { 3 }),
        "perhaps: 50.0 % of",
    );
    says("ahead-short", &|seq| call(seq, 1, seq % 2, long - 1), "no: no receive call");
    says("ahead-any", &|seq| call(seq, -1, seq % 2, long), "no: no receive call");
    // No tag follows from those before it.
    let random =
        |seq: usize| (seq as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).swap_bytes() as usize % 30_000;
    says("ahead-random", &|seq| call(seq, 1, random(seq), long), "no: only");
}

#[test]
fn names_of_programs_are_quoted_in_csv() {
    let folder = folder("predict-names");
    let name = "a,\"b\".2";
    fs::copy(few().join("bt.W.4.r0.csv.gz"), folder.join(format!("{name}.r0.csv.gz"))).unwrap();
    let rows = rows(&predict(&["--format", "csv"], &[&folder]));
    assert_eq!(row(&rows, name, "tagging")[3], 12.0);
}

#[test]
fn what_is_no_regular_file_is_passed_over() {
    let folder = folder("predict-fifo");
    fs::copy(few().join("bt.W.4.r0.csv.gz"), folder.join("x.4.r0.csv.gz")).unwrap();
    let pipe = folder.join("x.4.r1.csv.gz");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Opening the pipe would wait for a writer.
    let predict = |path: &Path| {
        let mut command = Command::new("timeout");
        command.args(["300", env!("CARGO_BIN_EXE_mpress"), "predict", "--format", "csv"]).arg(path);
        command.output().unwrap()
    };
    let output = predict(&folder);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, format!("mpress: {}: passed over, as it is not a regular file\n", pipe.display()));
    assert_eq!(row(&rows(&output), "x.4", "tagging")[3], 12.0);
    let output = predict(&pipe);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, format!("mpress: {}: not a regular file\n", pipe.display()));
    assert_eq!(output.status.code(), Some(1));
}

/// A file of this content, as is or compressed by gzip.
fn file(name: &str, content: &[u8], packed: bool) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("predict-bad").join(name);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("x.2.r0.csv.gz");
    let bytes = if packed { gzip(content) } else { content.to_vec() };
    fs::write(&path, bytes).unwrap();
    path
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Checks for failure with one line on standard error that contains this text.
#[track_caller]
fn complains(path: &Path, why: &str) {
    let output = predict(&["--format", "csv"], &[path]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("mpress: ") && said.contains(why), "{said}");
    assert!(output.stdout.is_empty());
}

fn line(seq: usize) -> String {
    format!("{seq},0x10,1,2,3,MPI_INT,0x20,0,recv\n")
}

#[test]
fn traces_that_are_none_are_one_line_each() {
    let good = [COLUMNS.to_owned(), line(0), line(1)].concat();
    assert!(predict(&[], &[&file("good", good.as_bytes(), true)]).status.success());
    complains(&file("text", good.as_bytes(), false), "not gzip");
    complains(&file("nothing", b"", false), "cut off");
    complains(&file("empty", b"", true), "line 1: the names of the columns");
    let packed = gzip(&[COLUMNS.to_owned(), (0..5000).map(line).collect()].concat().into_bytes());
    complains(&file("short", &packed[..packed.len() / 2], false), "cut off");
    complains(&file("end", &packed[..packed.len() - 4], false), "cut off");
    let mut damaged = packed.clone();
    damaged[packed.len() - 6] ^= 1;
    complains(&file("damaged", &damaged, false), "damaged");
    complains(
        &file("half", &good.as_bytes()[..good.len() - 4], true),
        "line 3: not a value of the column kind",
    );
    complains(
        &file("columns", format!("{COLUMNS}1,2,3\n").as_bytes(), true),
        "line 2: 3 columns instead of 9",
    );
    complains(&file("names", good.replace("tag", "kind").as_bytes(), true), "line 1");
    complains(
        &file("value", good.replace("0x20", "20").as_bytes(), true),
        "line 2: not a value of the column buf",
    );
    complains(&file("order", [COLUMNS.to_owned(), line(1), line(1)].concat().as_bytes(), true), "line 3");
    complains(&file("long", &[COLUMNS.as_bytes(), &vec![b'1'; 5000]].concat(), true), "line 2: longer than");
    complains(&file("bytes", &[COLUMNS.as_bytes(), &[0xff; 20], b"\n"].concat(), true), "line 2: not text");
    complains(Path::new("nowhere.2.r0.csv.gz"), "nowhere.2.r0.csv.gz: No such file");
    complains(Path::new("nowhere.csv.gz"), "APP.NPROCS.rRANK.csv.gz");
    complains(Path::new("x.2.r2.csv.gz"), "APP.NPROCS.rRANK.csv.gz");
}

#[test]
fn ranks_of_a_run_are_found_by_name_and_only_once() {
    let one = few().join("bt.W.4.r0.csv.gz");
    let output = predict(&["--format", "csv"], &[&one, &one]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("of the same run and rank as") && said.lines().count() == 1, "{said}");
}
