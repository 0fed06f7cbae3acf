//! Browser: checks the pages of `mpress report` in a Chromium without windows: light and dark, wide and narrow.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mpress_cluster::{Outcome, run_with_timeout};
use serde_json::{Value, json};

use crate::error::Error;
use crate::paths::Paths;
use crate::setup;
use crate::step::{Done, Step};

/// Chromium without windows, sound and a desktop; that one starts faster and has less that can fail.
const BROWSER: &str = "chromium-headless-shell";

/// The time limit of the browser; one that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// The script that inspects a page from inside.
const LOOK: &str = include_str!("browser/look.js");

/// The widths in pixels, and whether the page is dark.
const VIEWS: [(u32, bool); 2] = [(1000, false), (360, true)];

/// The step that checks the pages of this command.
pub(crate) fn step(command: PathBuf, paths: &Paths) -> Step<'_> {
    Step::in_a_folder("report page in a browser", "mpress-browser-", move |dir| {
        if setup::offer(BROWSER) {
            run(&command, paths, dir)
        } else {
            Ok(Done::Skipped(format!("there is no {BROWSER}")))
        }
    })
}

fn run(command: &Path, paths: &Paths, dir: &Path) -> Result<Done, Error> {
    let sample = paths.root().join("cli/tests/data/report.json");
    let text = fs::read_to_string(&sample).map_err(Error::file(&sample))?;
    let short: Value = serde_json::from_str(&text)
        .map_err(|error| failed(&sample.display().to_string(), error.to_string()))?;
    let mut off = short.clone();
    off["job"]["strategy"] = json!("off");
    off["job"]["seconds"] = json!(0.061);
    for (name, report) in [("short", &short), ("long", &long(&short)), ("off", &off)] {
        let file = dir.join(format!("{name}.json"));
        fs::write(&file, report.to_string()).map_err(Error::file(&file))?;
    }
    let (mut charts, mut marks) = (0, 0);
    for reports in [&["short"][..], &["long"], &["short", "off", "long"]] {
        let name = reports.join("-");
        let page = dir.join(format!("{name}.html"));
        let mut mpress = Command::new(command);
        mpress.arg("report").args(reports.iter().map(|name| format!("{name}.json")));
        let output = mpress.arg("--html").arg(&page).current_dir(dir).output();
        let output = output.map_err(Error::file(command))?;
        if !output.status.success() {
            return Err(failed("mpress report", String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let text = fs::read_to_string(&page).map_err(Error::file(&page))?;
        for (width, dark) in VIEWS {
            let found = look(dir, &name, &text, width, dark)?;
            let view = format!("{name}.html, {width} pixels, {}", if dark { "dark" } else { "light" });
            check(&found, &text, width, dark).map_err(|why| failed(&view, why))?;
            charts += found["charts"].as_u64().unwrap_or(0);
            marks += found["marks"].as_u64().unwrap_or(0);
        }
    }
    Ok(Done::Ran(format!("{charts} charts with {marks} marks, light and wide and dark and narrow")))
}

/// The report of a long job of 64 ranks: every kind and codec, every length, windows that changed often, large numbers.
fn long(short: &Value) -> Value {
    let counts = |messages: u64, length: u64| {
        let raw = messages * length;
        json!({"messages": messages, "raw_bytes": raw, "wire_bytes": raw * 3 / 4,
            "encode_s": messages as f64 * 1e-5, "decode_s": messages as f64 * 5e-6})
    };
    let with = |mut fields: Value, more: Value| {
        if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
            fields.extend(more);
        }
        fields
    };
    let mut report = short.clone();
    let job = json!({"program": "a_program_with_a_very_long_name_v4.2.1-rc3", "ranks": 64, "nodes": 16, "seconds": 86_123.4});
    report["job"] = with(report["job"].take(), job);
    let kinds = ["other", "int8", "int16", "int32", "int64", "f32", "f64"];
    let pairs = kinds.iter().flat_map(|kind| names().map(move |codec| (kind, codec)));
    let lines = pairs.enumerate().map(|(at, (kind, codec))| {
        let messages = 10_u64.pow(3 + at as u32 % 7);
        with(counts(messages, 4096), json!({"kind": kind, "codec": codec}))
    });
    report["codecs"] = lines.collect();
    report["total"] = counts(15_555_631_840, 42_000);
    for to in report["destinations"].as_array_mut().into_iter().flatten() {
        let classes = (10..=26).flat_map(|octave| [2_u64 << (octave - 1), 3 << (octave - 1)]).take(33);
        let sizes = classes.map(|from| with(counts(from % 977 * 1000 + 1, from), json!({"from": from})));
        to["sizes"] = sizes.collect();
    }
    let threshold = |at: u64| {
        let smallest = if at.is_multiple_of(7) { Value::Null } else { json!(1024 << (at % 5)) };
        let end = if at.is_multiple_of(3) { Value::Null } else { json!((1 << 20) << (at % 4)) };
        json!({"messages": at * 100_000, "smallest": smallest, "end": end})
    };
    let window =
        |kind: &str| json!({"kind": kind, "thresholds": (1..=60).map(threshold).collect::<Vec<_>>()});
    report["windows"] = ["f64", "f32", "int32"].into_iter().map(window).collect();
    report["gain"] = json!({"predicted_s": 1234.5, "measured_s": -55.2, "raw_s": 9999.0});
    report["passed"] = json!([{"calls": "reductions", "count": 12_345_678}]);
    report
}

/// Codec names, more than a page has colours.
fn names() -> impl Iterator<Item = String> {
    (0..16).map(|at| if at == 0 { "raw".to_owned() } else { format!("some-codec-{at}") })
}

/// Returns what [`LOOK`] finds on a page in this view.
fn look(dir: &Path, name: &str, page: &str, width: u32, dark: bool) -> Result<Value, Error> {
    let inside = page.replace("</body>", &format!("<script>{LOOK}</script></body>"));
    let inside = inside.replace('&', "&amp;").replace('"', "&quot;");
    // In a frame, because a window cannot be as narrow as a phone's screen.
    let frame = format!(
        "<!DOCTYPE html><html><head><title>{name}</title></head><body><iframe srcdoc=\"{inside}\" \
         style=\"border: 0; width: {width}px; height: 900px\"></iframe></body></html>"
    );
    let file = dir.join(format!("{name}-{width}.html"));
    fs::write(&file, frame).map_err(Error::file(&file))?;
    let profile = dir.join(format!("profile-{name}-{width}"));

    let mut browser = Command::new(BROWSER);
    // Works as root and without a network.
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    browser.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    browser.arg(format!("--user-data-dir={}", profile.display()));
    browser.arg(format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 }));
    browser.args(["--enable-logging=stderr", "--window-size=1200,1000", "--dump-dom"]);
    browser.arg(format!("file://{}", file.display()));
    let run = format!("{BROWSER} {}", file.display());
    let mut open = || match run_with_timeout(&mut browser, LIMIT)? {
        Outcome::Finished(output) => Ok(output),
        Outcome::TimedOut(_) => Err(failed(&run, format!("not ended after {} s", LIMIT.as_secs()))),
    };
    let mut output = open()?;
    // Browsers crash now and then; a page that makes one crash does it again. Debian's starts in a shell, which tells a signal by its status.
    if output.status.signal().is_some() || output.status.code().is_some_and(|code| code > 128) {
        eprintln!("xtask: {run}: {}; once more", output.status);
        output = open()?;
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    // One line must come from `look.js`, to distinguish an empty console from one that was not read.
    let console: Vec<_> = stderr.lines().filter(|line| line.contains(":CONSOLE")).collect();
    if !output.status.success() || console.len() != 1 || !console[0].contains("\"looked\"") {
        return Err(failed(&run, format!("{}\n{}\n{stderr}", output.status, console.join("\n"))));
    }
    let dom = String::from_utf8_lossy(&output.stdout);
    let found = dom.split("<pre id=\"found\">").nth(1).and_then(|rest| rest.split('<').next());
    let found = found.map(decoded).unwrap_or_default();
    serde_json::from_str(&found).map_err(|error| failed(&run, format!("{error}: {found}")))
}

/// Decodes the `%xx` of JavaScript's `encodeURIComponent`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match code.filter(|_| byte == b'%') {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Checks that the page has the requested view and all its charts, and that `look.js` found nothing wrong.
fn check(found: &Value, page: &str, width: u32, dark: bool) -> Result<(), String> {
    let wrong: Vec<_> = found["wrong"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    let expected = json!([width, dark, page.matches("<svg").count()]);
    let seen = json!([found["width"], found["dark"], found["charts"]]);
    if seen == expected { Ok(()) } else { Err(format!("width, dark, charts: {seen} instead of {expected}")) }
}

fn failed(run: &str, message: String) -> Error {
    Error::Program { run: run.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_page_says_is_read() {
        assert_eq!(decoded("%7B%22a%22%3A%5B%C2%B5%2C%5D%7D"), "{\"a\":[µ,]}");
        assert_eq!(decoded("100%"), "100%");
    }

    #[test]
    fn a_page_with_something_wrong_fails() {
        let found =
            |wrong: Value| json!({"width": 360, "dark": true, "charts": 1, "marks": 2, "wrong": wrong});
        assert_eq!(check(&found(json!([])), "<svg", 360, true), Ok(()));
        assert!(check(&found(json!(["x: there are no marks"])), "<svg", 360, true).is_err());
        for (page, width, dark) in [("<svg", 360, false), ("<svg", 1000, true), ("<svg><svg", 360, true)] {
            assert!(check(&found(json!([])), page, width, dark).is_err());
        }
        assert!(check(&json!({}), "", 360, true).is_err());
    }
}
