//! `mpress report` as a user runs it: text, page, errors, exit statuses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A report as the engine wrote it.
const SAMPLE: &str = include_str!("data/report.json");
const PROGRAM: &str = "\"lulesh2.0\"";

/// A separate folder for each test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{name}"));
        let _from_an_earlier_run: io::Result<()> = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn with(self, name: &str, text: &str) -> Self {
        fs::write(self.0.join(name), text).unwrap();
        self
    }

    fn report(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpress"));
        command.current_dir(&self.0).arg("report").args(args);
        command
    }

    fn page(&self, name: &str) -> String {
        let page = fs::read_to_string(self.0.join(name)).unwrap();
        well_formed(&page);
        page
    }
}

/// Every tag is closed, no external file is loaded, and no script runs.
#[track_caller]
fn well_formed(page: &str) {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(page, options).unwrap();
    let elements = document.descendants().filter(roxmltree::Node::is_element);
    for element in elements {
        let name = element.tag_name().name();
        assert!(
            !["script", "link", "img", "a", "iframe", "object", "use", "image"].contains(&name),
            "{name}"
        );
        for attribute in element.attributes() {
            assert!(
                !attribute.name().starts_with("on") && !attribute.name().contains("href"),
                "{attribute:?}"
            );
        }
    }
    for outside in ["http", "url(", "@import", "NaN"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[track_caller]
fn succeeds(output: &Output) -> String {
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    text(&output.stdout)
}

/// Checks that each line on standard error is an error with the expected words; returns standard output.
#[track_caller]
fn fails(output: &Output, errors: &[&str]) -> String {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert_eq!(stderr.lines().count(), errors.len(), "{stderr}");
    for (line, words) in stderr.lines().zip(errors) {
        assert!(line.starts_with("mpress: ") && line.contains(words), "`{words}` is not in: {line}");
    }
    text(&output.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The line that begins with these words, separated by single blanks.
#[track_caller]
fn line(text: &str, start: &str) -> String {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no `{start}` in {text}"))
}

#[test]
fn a_report_is_printed_and_made_a_page() {
    let place = Place::new("one").with("run.json", SAMPLE);
    let text = succeeds(&place.report(&["run.json"]).output().unwrap());
    assert_eq!(line(&text, "@ Program"), "@ Program : lulesh2.0");
    assert_eq!(line(&text, "@ Raw bytes"), "@ Raw bytes : 33,413,416");
    assert_eq!(line(&text, "@ Bytes saved"), "@ Bytes saved : 3,412,081 (10.2 %)");
    assert_eq!(
        line(&text, "@ Verdict"),
        "@ Verdict : lulesh2.0: saved 10.2 % of bytes; estimated 6.3 % less time for messages at 115 MB/s"
    );
    let lines: Vec<_> = text.lines().take(3).collect();
    assert!(lines[1].starts_with("@ Verdict"), "{text}");
    assert!(lines[2].ends_with("# computing 62.1 %, = MPI 34.1 %, * coding 3.7 %"), "{text}");
    assert_eq!(line(&text, "int32 rice"), "int32 rice 7 911,564 268,798 3.391 0.002140 0.001429");
    assert_eq!(line(&text, "total"), "total 3,497 33,413,416 30,001,335 1.114 0.011433 0.003210");
    assert_eq!(line(&text, "96 KiB to 128 KiB 16"), "96 KiB to 128 KiB 16 2,067,300 610,431 3.387 0.004291");
    assert_eq!(line(&text, "2,583"), "2,583 1.5 KiB no limit", "the window");
    assert_eq!(line(&text, "gain, from the results"), "gain, from the results 0.017986 6.3 %");
    assert_eq!(text.lines().last(), Some("page: run.html"));
    assert!(!text.contains("@--- Comparison"));

    let page = place.page("run.html");
    assert!(page.contains(
        "<h1>lulesh2.0: saved 10.2 % of bytes; estimated 6.3 % less time for messages at 115 MB/s</h1>"
    ));
    for number in
        ["33,413,416", "30,001,335", "1.114", "268,798", "1.59 MB", "16 KiB", "lulesh2.0", "run.json"]
    {
        assert!(page.contains(number), "{number}");
    }
    for title in [
        "Bytes by element kind and codec",
        "Shares of codecs",
        "Messages inside the node, by length",
        "Bytes to other nodes, by length",
        "Gain",
        "Time in MPI by peer",
    ] {
        assert!(page.contains(title), "{title}");
    }
    // The ranks' time, kinds and codecs, shares, messages and bytes for each of two destinations, two windows, the gain.
    assert_eq!(page.matches("<svg").count(), 1 + 1 + 1 + 2 * 2 + 2 + 1);
    assert!(page.contains("computing: 62.1 % of ranks&#39; time"));
    assert!(page.contains("prefers-color-scheme: dark"));
}

#[test]
fn no_bar_is_shown_of_parts_that_are_more_than_the_whole() {
    // Two threads of a rank may be in calls at the same time.
    let threads = SAMPLE.replacen("\"ranks_s\": [0.021,", "\"ranks_s\": [1.021,", 1);
    assert_ne!(threads, SAMPLE);
    let place = Place::new("threads").with("run.json", &threads);
    let text = succeeds(&place.report(&["run.json"]).output().unwrap());
    assert!(text.contains("@ In MPI") && !text.contains("Ranks' time"), "{text}");
    assert!(!place.page("run.html").contains("computing: "));
}

#[test]
fn several_reports_are_compared() {
    let fast = SAMPLE.replacen("\"seconds\": 0.0489", "\"seconds\": 0.0979", 1).replace(PROGRAM, "\"slow\"");
    assert_ne!(fast, SAMPLE);
    let place = Place::new("several").with("a.json", SAMPLE).with("b.json", &fast);
    let printed = succeeds(&place.report(&["a.json", "b.json"]).output().unwrap());
    let comparison = &printed[printed.find("@--- Comparison").unwrap()..];
    assert!(line(comparison, "a.json").starts_with("a.json lulesh2.0 adaptive 0.049 1.000 1.114 3,412,081"));
    assert!(line(comparison, "b.json").starts_with("b.json slow adaptive 0.098 0.500 1.114 3,412,081"));
    assert!(line(comparison, "b.json").ends_with("0.017986 6.3 %"));
    assert!(fs::read_dir(&place.0).unwrap().count() == 2, "a page that was not asked for");

    let printed = succeeds(&place.report(&["--html", "both.htm", "a.json", "b.json"]).output().unwrap());
    assert_eq!(printed.lines().last(), Some("page: both.htm"));
    let page = place.page("both.htm");
    assert_eq!(
        page.matches("<h3>lulesh2.0: saved 10.2 %").count() + page.matches("<h3>slow: saved 10.2 %").count(),
        2
    );
    let runs = &printed[printed.find("@--- Runs of the same program").unwrap()..];
    assert_eq!(
        line(runs, "program"),
        "program strategy runs median s least s most s speedup speedup from to"
    );
    assert_eq!(line(runs, "slow adaptive"), "slow adaptive 1 0.098 0.098 0.098 0.500 0.500 0.500");
    assert_eq!(runs.matches("a single run").count(), 2, "{runs}");
    assert_eq!(page.matches("says nothing about mpress").count(), 1);
    for name in ["a.json", "b.json", "2 reports compared", "lulesh2.0", "slow"] {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn files_that_are_no_reports_do_not_keep_others_back() {
    let place = Place::new("wrong")
        .with("good.json", SAMPLE)
        .with("half.json", &SAMPLE[..SAMPLE.len() / 2])
        .with("foreign.json", "{\"format\": \"something else\"}\n")
        .with("later.json", &SAMPLE.replacen("\"version\": 1", "\"version\": 2", 1))
        .with("text.txt", "mpress: 3 of 3 messages compressed\n");
    fs::write(place.0.join("bytes.json"), [0xff; 40]).unwrap();
    let files =
        ["none.json", "half.json", "good.json", "foreign.json", "later.json", "text.txt", "bytes.json", "."];
    let output = place.report(&files).output().unwrap();
    let errors = [
        "none.json: No such file",
        "half.json: not a report",
        "foreign.json: not a report",
        "later.json: not a report of mpress in JSON: not a file of mpress report, version 1",
        "text.txt: not a report",
        "bytes.json: ",
        ".: ",
    ];
    let printed = fails(&output, &errors);
    assert!(printed.contains("33,413,416"));
    assert!(!printed.contains("@--- Comparison"), "with itself");

    let output = place.report(&["none.json"]).output().unwrap();
    assert_eq!(fails(&output, &["none.json"]), "");
    let output = place.report(&["god.json"]).output().unwrap();
    assert_eq!(fails(&output, &["(did you mean good.json?)"]), "");
    assert!(!place.0.join("none.html").exists());
}

#[test]
fn a_page_that_cannot_be_written_takes_nothing_with_it() {
    let place = Place::new("unwritable").with("run.json", SAMPLE).with("run.html.json", SAMPLE);
    let output = place.report(&["run.json", "--html", "nowhere/run.html"]).output().unwrap();
    assert!(fails(&output, &["nowhere/run.html: the page is not written"]).contains("33,413,416"));

    for page in ["run.json", "./run.json"] {
        let output = place.report(&["run.json", "--html", page]).output().unwrap();
        assert!(fails(&output, &["it would replace the report"]).contains("33,413,416"));
    }
    fs::rename(place.0.join("run.json"), place.0.join("run.html")).unwrap();
    fails(&place.report(&["run.html"]).output().unwrap(), &["it would replace the report"]);
    assert_eq!(fs::read_to_string(place.0.join("run.html")).unwrap(), SAMPLE);

    let output = place.report(&["run.html", "--html", "-"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!place.0.join("-").exists());
}

#[test]
fn names_neither_run_nor_steer() {
    let name = r#""</title><script>alert('1')</script>&\u001b[2J\nmpress: \u0000""#;
    let place = Place::new("hostile").with("run.json", &SAMPLE.replace(PROGRAM, name));
    let printed = succeeds(&place.report(&["run.json"]).output().unwrap());
    assert!(printed.contains("<script>alert('1')"), "text is text");
    assert!(!printed.contains(['\u{1b}', '\0']) && !printed.lines().any(|line| line.starts_with("mpress: ")));
    let page = place.page("run.html");
    assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)"));
}

#[test]
fn a_report_of_nothing_says_so() {
    let report = r#"{"format": "mpress report", "version": 1,
        "job": {"program": "idle", "ranks": 0, "nodes": 0, "seconds": 0.0, "strategy": "adaptive",
                "latency_us": 0.0, "bandwidth_mb_s": 0.0},
        "total": {"messages": 0, "raw_bytes": 0, "wire_bytes": 0, "encode_s": 0.0, "decode_s": 0.0},
        "codecs": [], "destinations": [], "windows": [],
        "gain": {"predicted_s": 0.0, "measured_s": 0.0, "raw_s": 0.0},
        "verdict": "no message was long enough to be compressed"}"#;
    let place = Place::new("empty").with("run.json", report).with("sample.json", SAMPLE);
    let printed = succeeds(&place.report(&["run.json"]).output().unwrap());
    assert_eq!(line(&printed, "@ Messages"), "@ Messages : 0");
    assert!(!printed.contains("Raw messages by reason"), "a report without this table: {printed}");
    let page = place.page("run.html");
    assert!(page.contains("There is nothing to draw"));
    assert!(!page.contains("<svg") && !printed.contains("NaN") && !printed.contains("inf"));

    let printed = succeeds(&place.report(&["run.json", "sample.json", "--html", "x.html"]).output().unwrap());
    assert_eq!(
        line(&printed, "sample.json").split(' ').nth(4),
        Some("-"),
        "no speedup over no time: {printed}"
    );
    place.page("x.html");
}

#[test]
fn a_closed_output_is_no_failure_but_a_full_disk_is() {
    let place = Place::new("pipes").with("run.json", SAMPLE);
    let closed = || {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        writer
    };
    let output = place.report(&["run.json"]).stdout(closed()).output().unwrap();
    succeeds(&output);
    place.page("run.html");

    let output = place.report(&["none.json"]).stderr(closed()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "no panic, which would be 101");

    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    fails(&place.report(&["run.json"]).stdout(full).output().unwrap(), &["standard output: "]);
}
