//! The content of a report, as facts and tables, shared by text and page.

use super::Named;
use super::units::{count, fixed, length, percent, seconds, time};
use mpress::report::{Counts, Gain, InMpi, JobReport, RawCounts, SizeCounts, Window};
use mpress::selector::SizeClass;

/// A table. Each row has one cell per column.
pub(super) struct Table {
    pub(super) title: String,
    pub(super) columns: Vec<&'static str>,
    /// The number of leading columns that are names; the others are numbers.
    pub(super) names: usize,
    pub(super) rows: Vec<Vec<String>>,
    /// Whether the last row is the sum of the others.
    pub(super) has_total: bool,
}

/// Shown instead of a missing number.
pub(super) const NONE: &str = "-";

/// A part of the ranks' time.
pub(super) struct Part {
    pub(super) name: &'static str,
    /// Summed over the ranks.
    pub(super) seconds: f64,
}

impl Part {
    /// As a fraction of this time.
    pub(super) fn percent(&self, whole: f64) -> String {
        percent(self.seconds, whole).unwrap_or_else(|| NONE.into())
    }
}

/// The ranks' time: outside calls of MPI, in them without coding, and coding. `None` if the calls were not measured, or if threads were in them at the
/// same time, so that the parts are more than the whole.
pub(super) fn parts_of_time(report: &JobReport) -> Option<[Part; 3]> {
    let in_mpi = report.in_mpi.as_ref()?.ranks_s.iter().sum::<f64>();
    let all = report.job.seconds * report.job.ranks as f64;
    if in_mpi > all {
        return None;
    }
    // Coding is done inside the calls.
    let coding = report.total.encode_s + report.total.decode_s;
    let parts = [("computing", all - in_mpi), ("MPI", in_mpi - coding), ("coding", coding)];
    let parts = parts.map(|(name, seconds)| Part { name, seconds: seconds.max(0.0) });
    let whole: f64 = parts.iter().map(|part| part.seconds).sum();
    (whole > 0.0 && whole.is_finite()).then_some(parts)
}

/// The job and its totals.
pub(super) fn facts(report: &JobReport) -> Vec<(&'static str, String)> {
    let (job, total) = (&report.job, &report.total);
    let rank_seconds = job.seconds * job.ranks as f64;
    let of_ranks = |seconds: f64| match percent(seconds, rank_seconds) {
        Some(part) => format!("{} over all ranks, {part} of their time", time(seconds)),
        None => time(seconds),
    };
    let mut facts = vec![
        ("Program", job.program.clone()),
        ("Ranks", count(job.ranks)),
        ("Nodes", count(job.nodes)),
        ("Time", time(job.seconds)),
        ("Strategy", job.strategy.clone()),
        ("Network latency", format!("{} us", fixed(job.latency_us))),
        ("Network bandwidth", format!("{} MB/s for each rank", fixed(job.bandwidth_mb_s))),
        ("Messages", count(total.messages)),
        ("Raw bytes", count(total.raw_bytes)),
        ("Wire bytes", count(total.wire_bytes)),
        ("Ratio", fixed(total.ratio())),
        (if is_measured_only(report) { "Would have saved" } else { "Bytes saved" }, saved(total)),
        ("Encoding", of_ranks(total.encode_s)),
        ("Decoding", of_ranks(total.decode_s)),
    ];
    if !report.passed.is_empty() {
        let passed: Vec<_> =
            report.passed.iter().map(|passed| format!("{} {}", count(passed.count), passed.calls)).collect();
        facts.push(("Not considered", passed.join(", ")));
    }
    if let Some(counts) = &report.referring {
        let all = format!(
            "{} messages of {} bytes, sent as {}",
            count(counts.messages),
            count(counts.raw_bytes),
            count(counts.wire_bytes)
        );
        facts.push(("Referring to earlier messages", all));
    }
    if let Some(prediction) = report.prediction_line() {
        facts.push(("Prediction", prediction));
    }
    if let Some(in_mpi) = &report.in_mpi {
        let [least, mean, most] = in_mpi.range();
        let part = |seconds| match percent(seconds, job.seconds) {
            Some(part) => format!("{} ({part})", time(seconds)),
            None => time(seconds),
        };
        facts.push((
            "In MPI",
            format!("{} on average over the ranks, from {} to {}", part(mean), part(least), part(most)),
        ));
    }
    if is_measured_only(report) {
        facts.push(("Note", "no message was compressed; wire bytes are as they would have been".into()));
    }
    facts
}

/// Whether wire bytes are only an estimate of what would have been sent.
pub(super) fn is_measured_only(report: &JobReport) -> bool {
    report.job.strategy == mpress::Strategy::Measure.to_string()
}

/// Raw bytes minus wire bytes, and the share of the raw bytes.
fn saved(counts: &Counts) -> String {
    let saved = i128::from(counts.raw_bytes) - i128::from(counts.wire_bytes);
    match percent(saved as f64, counts.raw_bytes as f64) {
        Some(part) => format!("{} ({part})", count(saved)),
        None => count(saved),
    }
}

/// Everything that was counted.
pub(super) fn tables(report: &JobReport) -> Vec<Table> {
    let mut tables = vec![by_codec(report), by_reason(report)];
    for to in &report.destinations {
        tables.push(by_length(&format!("Messages {}, by length", to.place()), &to.sizes, &to.total));
    }
    tables.extend(report.windows.iter().map(window));
    tables.push(gain(&report.gain));
    tables.extend(report.in_mpi.iter().flat_map(in_mpi));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn by_codec(report: &JobReport) -> Table {
    let row = |kind: &str, codec: &str, counts: &Counts| {
        let mut row = vec![kind.to_owned(), codec.to_owned()];
        row.extend(sent(counts));
        row.push(seconds(counts.decode_s));
        row
    };
    let mut rows: Vec<_> =
        report.codecs.iter().map(|line| row(&line.kind, &line.codec, &line.counts)).collect();
    if !rows.is_empty() {
        rows.push(row("total", "", &report.total));
    }
    Table {
        title: "Messages by element kind and codec".into(),
        columns: vec![
            "kind",
            "codec",
            "messages",
            "raw bytes",
            "wire bytes",
            "ratio",
            "encode s",
            "decode s",
        ],
        names: 2,
        rows,
        has_total: true,
    }
}

fn by_reason(report: &JobReport) -> Table {
    let all: u64 = report.raw.iter().fold(0, |sum, raw| sum.saturating_add(raw.bytes));
    let row = |raw: &RawCounts| {
        let part = percent(raw.bytes as f64, all as f64).unwrap_or_else(|| NONE.into());
        vec![raw.reason.clone(), count(raw.messages), count(raw.bytes), part]
    };
    Table {
        title: "Raw messages by reason".into(),
        columns: vec!["reason", "messages", "bytes", "of all raw"],
        names: 1,
        rows: report.raw.iter().map(row).collect(),
        has_total: false,
    }
}

fn by_length(title: &str, sizes: &[SizeCounts], total: &Counts) -> Table {
    let row = |name: String, counts: &Counts| [vec![name], sent(counts)].concat();
    let mut rows: Vec<_> = sizes.iter().map(|size| row(class_name(class(size.from)), &size.counts)).collect();
    if !rows.is_empty() {
        rows.push(row("total".into(), total));
    }
    Table {
        title: title.into(),
        columns: vec!["length", "messages", "raw bytes", "wire bytes", "ratio", "encode s"],
        names: 1,
        rows,
        has_total: true,
    }
}

/// The columns about sent messages.
fn sent(counts: &Counts) -> Vec<String> {
    let ratio = if counts.messages == 0 { NONE.into() } else { fixed(counts.ratio()) };
    vec![
        count(counts.messages),
        count(counts.raw_bytes),
        count(counts.wire_bytes),
        ratio,
        seconds(counts.encode_s),
    ]
}

/// The size class of messages of this length.
pub(super) fn class(length: u64) -> SizeClass {
    SizeClass::of(usize::try_from(length).unwrap_or(usize::MAX))
}

/// From the shortest length of a class to just below the next class.
pub(super) fn class_name(class: SizeClass) -> String {
    let start = length(class.start() as u64);
    if class.end() == usize::MAX {
        format!("{start} and more")
    } else {
        format!("{start} to {}", length(class.end() as u64))
    }
}

fn window(window: &Window) -> Table {
    let row = |threshold: &mpress::report::Threshold| {
        let (from, below) = match (threshold.smallest, threshold.end) {
            (None, _) => ("none".into(), "none".into()),
            (Some(smallest), end) => (length(smallest), end.map_or("no limit".into(), length)),
        };
        vec![count(threshold.messages), from, below]
    };
    Table {
        title: format!("Compression window of {} on rank 0", window.kind),
        columns: vec!["messages until then", "from", "below"],
        names: 0,
        rows: window.thresholds.iter().map(row).collect(),
        has_total: false,
    }
}

/// Whether the gain was estimated. Only the strategies `adaptive` and `measure` estimate it.
pub(super) fn is_estimated(gain: &Gain) -> bool {
    gain.predicted_s != 0.0 || gain.measured_s != 0.0
}

fn gain(gain: &Gain) -> Table {
    let row = |name: &str, s: f64| vec![name.to_owned(), seconds(s), part(s, gain)];
    let mut rows = vec![row("all raw", gain.raw_s)];
    if is_estimated(gain) {
        rows.extend([
            row("gain, predicted", gain.predicted_s),
            row("gain, from the results", gain.measured_s),
        ]);
    }
    if let Some(clock) = &gain.clock {
        rows.push(vec![clock.text(), NONE.into(), NONE.into()]);
    }
    Table {
        title: "Estimated time of messages, over all ranks".into(),
        columns: vec!["", "seconds", "of all raw"],
        names: 1,
        rows,
        has_total: false,
    }
}

/// The time in MPI: by call, by communicator, and by peer. Of peers, the page has those with the most
/// time.
fn in_mpi(in_mpi: &InMpi) -> [Table; 3] {
    const PEERS: usize = 32;
    let whole = in_mpi.ranks_s.iter().sum();
    let row = |name: &str, calls: Option<u64>, s: f64| {
        let part = percent(s, whole).unwrap_or_else(|| NONE.into());
        [name.to_owned()].into_iter().chain(calls.map(count)).chain([seconds(s), part]).collect::<Vec<_>>()
    };
    let table = |title: &str, columns: &[&'static str], rows| Table {
        title: title.into(),
        columns: columns.to_vec(),
        names: 1,
        rows,
        has_total: false,
    };
    let calls = in_mpi.calls.iter().map(|line| row(&line.call, Some(line.count), line.seconds));
    let communicators = in_mpi.communicators.iter();
    let communicators = communicators.map(|line| row(&line.communicator, Some(line.count), line.seconds));
    let peers = in_mpi.peers(PEERS).into_iter();
    let peers = peers.map(|(rank, seconds)| row(&format!("rank {rank}"), None, seconds));
    [
        table(
            "Time in calls of MPI, over all ranks",
            &["call", "calls", "seconds", "of all"],
            calls.collect(),
        ),
        table(
            "Time in MPI by communicator",
            &["communicator", "calls", "seconds", "of all"],
            communicators.collect(),
        ),
        table("Time in MPI by peer, the ones with the most", &["peer", "seconds", "of all"], peers.collect()),
    ]
}

/// As a fraction of the time that sending all messages raw would have taken.
fn part(seconds: f64, gain: &Gain) -> String {
    percent(seconds, gain.raw_s).unwrap_or_else(|| NONE.into())
}

/// A line for each report; the speeds are relative to the first.
pub(super) fn comparison(reports: &[Named]) -> Table {
    let first = reports.first().map_or(0.0, |named| named.report.job.seconds);
    let row = |Named { file, report }: &Named| {
        let (job, gain) = (&report.job, &report.gain);
        let comparable = first > 0.0 && job.seconds > 0.0;
        let (gain_s, of_raw) = if is_estimated(gain) {
            (seconds(gain.measured_s), part(gain.measured_s, gain))
        } else {
            (NONE.into(), NONE.into())
        };
        vec![
            file.clone(),
            job.program.clone(),
            job.strategy.clone(),
            fixed(job.seconds),
            if comparable { fixed(first / job.seconds) } else { NONE.into() },
            fixed(report.total.ratio()),
            saved(&report.total),
            gain_s,
            of_raw,
        ]
    };
    Table {
        title: "Comparison".into(),
        columns: vec![
            "file",
            "program",
            "strategy",
            "seconds",
            "speedup",
            "ratio",
            "bytes saved",
            "estimated gain s",
            "of all raw",
        ],
        names: 3,
        rows: reports.iter().map(row).collect(),
        has_total: false,
    }
}
