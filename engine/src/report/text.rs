//! The report as text.

use super::{Counts, JobReport, Threshold};
use crate::codecs::RAW;
use crate::settings::{Report, Settings};
use crate::strategy::Strategy;
use std::fmt::Write as _;

impl JobReport {
    /// The report as lines for a terminal; empty for [`Report::None`]. The first line has the totals, the last the verdict.
    #[must_use]
    pub fn text(&self, how: Report) -> String {
        let mut text = String::new();
        if how == Report::None {
            return text;
        }
        let total = &self.total;
        let would = if self.job.strategy == Strategy::Measure.to_string() { "would be " } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{} of {} messages {would}compressed over {}: {} raw, {} {would}sent, ratio {:.3}; encoding {:.3} s, decoding {:.3} s",
            self.compressed(),
            total.messages,
            number(self.job.ranks, "rank"),
            bytes(total.raw_bytes),
            bytes(total.wire_bytes),
            total.ratio(),
            total.encode_s,
            total.decode_s,
        );
        if how == Report::Full {
            self.details(&mut text);
        }
        let _ = writeln!(text, "{}", self.headline());
        text.lines().fold(String::new(), |text, line| text + "mpress: " + line + "\n")
    }

    /// Prints the report with `print`, or writes all of it to the file in the settings: as JSON if the name ends in `.json`, otherwise as text. Then
    /// `print` gets at most the summary. If the file cannot be written, prints why, and the report.
    pub fn deliver(&self, settings: &Settings, print: impl Fn(&str)) {
        let Some(file) = &settings.report_file else { return print(self.text(settings.report).trim_end()) };
        let how = if settings.report == Report::None { Report::Full } else { settings.report };
        let is_json = file.extension().is_some_and(|extension| extension == "json");
        let text = if is_json { self.to_json() } else { Ok(self.text(Report::Full)) };
        match text.and_then(|text| std::fs::write(file, text).map_err(|error| error.to_string())) {
            Ok(()) if settings.report == Report::None => {}
            Ok(()) => print(self.text(Report::Summary).trim_end()),
            Err(why) => {
                print(&format!("mpress: {}: {why}; here is the report:", file.display()));
                print(self.text(how).trim_end());
            }
        }
    }

    /// The number of messages that were sent compressed or, with the strategy `measure`, would have been.
    fn compressed(&self) -> u64 {
        self.codecs.iter().filter(|line| line.codec != RAW).map(|line| line.counts.messages).sum()
    }

    fn details(&self, text: &mut String) {
        let job = &self.job;
        let _ = writeln!(
            text,
            "{}: {} on {}, {:.3} s; strategy {}; network {:.1} us, {:.1} MB/s",
            job.program,
            number(job.ranks, "rank"),
            number(job.nodes, "node"),
            job.seconds,
            job.strategy,
            job.latency_us,
            job.bandwidth_mb_s
        );
        heading(text, "kind   codec");
        for line in &self.codecs {
            row(text, &format!("{:<6} {}", line.kind, line.codec), &line.counts);
        }
        if !self.raw.is_empty() {
            let each =
                self.raw.iter().map(|raw| format!("{} ({}) {}", raw.messages, bytes(raw.bytes), raw.reason));
            let _ = writeln!(text, "raw messages: {}", each.collect::<Vec<_>>().join(", "));
        }
        if let Some(counts) = &self.referring {
            let (messages, [raw, wire]) = (counts.messages, [counts.raw_bytes, counts.wire_bytes].map(bytes));
            let _ =
                writeln!(text, "referring to earlier messages: {messages} messages, {raw} raw, {wire} sent");
        }
        for to in &self.destinations {
            heading(text, &to.place());
            for size in &to.sizes {
                row(text, &format!("from {}", bytes(size.from)), &size.counts);
            }
        }
        for window in &self.windows {
            let steps: Vec<_> = window.thresholds.iter().map(step).collect();
            let _ = writeln!(text, "window of {}: {}", window.kind, steps.join(", "));
        }
        if let Some(passed) = self.passed_line() {
            let _ = writeln!(text, "not considered: {passed}");
        }
        if let Some(prediction) = self.prediction_line() {
            let _ = writeln!(text, "predicted: {prediction}");
        }
        if let (Some(in_mpi), Some(line)) = (&self.in_mpi, self.in_mpi_line()) {
            let _ = writeln!(text, "in MPI: {line}");
            let mut table = |heading: &str, rows: &[(&str, u64, f64)]| {
                if !rows.is_empty() {
                    let _ = writeln!(text, "{heading:<48} {:>10} {:>10}", "calls", "seconds");
                }
                for (name, count, seconds) in rows {
                    let _ = writeln!(text, "{name:<48} {count:>10} {seconds:>10.3}");
                }
            };
            let calls = in_mpi.calls.iter().map(|line| (&*line.call, line.count, line.seconds));
            table("call", &calls.collect::<Vec<_>>());
            let communicators = &in_mpi.communicators;
            let communicators =
                communicators.iter().map(|line| (&*line.communicator, line.count, line.seconds));
            table("communicator", &communicators.collect::<Vec<_>>());
            let peers =
                in_mpi.peers(8).into_iter().map(|(rank, seconds)| format!("rank {rank} {seconds:.3} s"));
            let peers: Vec<_> = peers.collect();
            if !peers.is_empty() {
                let _ = writeln!(text, "most seconds with: {}", peers.join(", "));
            }
        }
        let gain = &self.gain;
        let _ = writeln!(
            text,
            "gain over {:.3} s of sending raw: predicted {:.3} s, estimated from the results {:.3} s",
            gain.raw_s, gain.predicted_s, gain.measured_s
        );
        if let Some(clock) = &gain.clock {
            let _ = writeln!(text, "{}, as {} ranks see it", clock.text(), clock.ranks);
        }
    }
}

/// A count with its noun.
fn number(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn heading(text: &mut String, name: &str) {
    let _ = writeln!(
        text,
        "{name:<24} {:>10} {:>15} {:>15} {:>7} {:>10} {:>10}",
        "messages", "raw bytes", "wire bytes", "ratio", "encode s", "decode s"
    );
}

fn row(text: &mut String, name: &str, counts: &Counts) {
    let _ = writeln!(
        text,
        "{name:<24} {:>10} {:>15} {:>15} {:>7.3} {:>10.3} {:>10.3}",
        counts.messages,
        counts.raw_bytes,
        counts.wire_bytes,
        counts.ratio(),
        counts.encode_s,
        counts.decode_s
    );
}

/// The thresholds at some time.
fn step(threshold: &Threshold) -> String {
    let at = format!("after {}", threshold.messages);
    match (threshold.smallest, threshold.end) {
        (None, _) => format!("{at} closed"),
        (Some(smallest), None) => format!("{at} from {}", bytes(smallest)),
        (Some(smallest), Some(end)) => format!("{at} from {} below {}", bytes(smallest), bytes(end)),
    }
}

/// A byte count with a decimal unit and three digits or more.
pub(super) fn bytes(n: u64) -> String {
    match n {
        0..10_000 => format!("{n} B"),
        10_000..10_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}
