//! Reports as one page of HTML that loads no other files. It is also well-formed XML.

use super::Named;
use super::chart::{Bar, Group, Share, bars, columns, key, shares, window};
use super::spread::{spread, warnings};
use super::tables::{Table, class, comparison, facts, is_estimated, is_measured_only, parts_of_time, tables};
use super::units::{bytes, count, fixed, percent, time};
use super::xml::Xml;
use mpress::report::{CodecCounts, Counts, DestinationCounts, JobReport};

/// Colours of codecs; the codecs that sent the least share one colour.
const COLOURS: [&str; 7] = ["c0", "c1", "c2", "c3", "c4", "c5", "c6"];

/// The maximum number of groups of bars in a chart. The others are combined into one more; the table below lists all of them.
const GROUPS: usize = 12;

/// The page: one report with its verdict as headline, or several after a comparison.
pub(super) fn page(reports: &[Named]) -> String {
    let title = match reports {
        [only] => format!("{}: mpress report", only.report.job.program),
        _ => format!("{} mpress reports", reports.len()),
    };
    let mut xml = Xml::default();
    xml.element("html", &[("lang", &"en")], |xml| {
        xml.element("head", &[], |xml| {
            xml.empty("meta", &[("charset", &"utf-8")]);
            xml.empty("meta", &[("name", &"viewport"), ("content", &"width=device-width")]);
            xml.leaf("title", &[], &title);
            xml.leaf("style", &[], include_str!("page.css"));
        });
        xml.element("body", &[], |xml| {
            if let [only] = reports {
                whole(xml, only, "h1");
            } else {
                compare(xml, reports);
                for named in reports {
                    xml.leaf("h2", &[], &named.file);
                    whole(xml, named, "h3");
                }
            }
            let version = concat!("mpress report, version ", env!("CARGO_PKG_VERSION"));
            let units = "kB, MB, GB: 1000, 1000², 1000³ bytes; KiB, MiB: 1024, 1024² bytes";
            xml.leaf("footer", &[], &format!("{version}. {units}."));
        });
    });
    format!("<!DOCTYPE html>\n{}", xml.finish())
}

fn compare(xml: &mut Xml, reports: &[Named]) {
    xml.leaf("h1", &[], &format!("{} reports compared", reports.len()));
    let groups: Vec<_> = reports
        .iter()
        .map(|Named { file, report }| Group {
            name: file.clone(),
            bars: vec![Bar { class: "wire", value: report.job.seconds, label: time(report.job.seconds) }],
        })
        .collect();
    heading(xml, "Time from the beginning of MPI to its end");
    bars(xml, "Seconds of each job", &groups, time);
    let groups: Vec<_> = reports
        .iter()
        .map(|Named { file, report }| Group { name: file.clone(), bars: both(&report.total) })
        .collect();
    heading(xml, "Bytes of messages");
    key(xml, RAW_AND_WIRE.map(|(class, name)| (class, name.into())));
    bars(xml, "Raw and wire bytes of each job", &groups, bytes);
    table(xml, &comparison(reports));
    table(xml, &spread(reports));
    for warning in warnings(reports) {
        xml.leaf("p", &[("class", &"warning")], &format!("Warning: {warning}."));
    }
}

/// A report, with its verdict as a heading of this rank.
fn whole(xml: &mut Xml, Named { file, report }: &Named, rank: &str) {
    xml.leaf(rank, &[], &report.headline());
    times(xml, report);
    xml.element("table", &[("class", &"facts")], |xml| {
        for (name, value) in [("File", file.clone())].into_iter().chain(facts(report)) {
            xml.element("tr", &[], |xml| {
                xml.leaf("th", &[], name);
                xml.leaf("td", &[], &value);
            });
        }
    });
    if report.total.messages == 0 {
        xml.leaf("p", &[], "There is nothing to draw: no message was considered.");
    } else {
        by_codec(xml, report);
        codec_shares(xml, &report.codecs);
        report.destinations.iter().for_each(|to| by_length(xml, report, to));
    }
    windows(xml, report);
    gains(xml, report);
    tables(report).iter().for_each(|each| table(xml, each));
}

fn heading(xml: &mut Xml, text: &str) {
    xml.leaf("h3", &[], text);
}

fn table(xml: &mut Xml, table: &Table) {
    let class = |at: usize| if at < table.names { "name" } else { "number" };
    heading(xml, &table.title);
    xml.element("div", &[("class", &"wide")], |xml| {
        xml.element("table", &[], |xml| {
            xml.element("thead", &[], |xml| {
                xml.element("tr", &[], |xml| {
                    for (at, name) in table.columns.iter().enumerate() {
                        xml.leaf("th", &[("class", &class(at))], name);
                    }
                });
            });
            xml.element("tbody", &[], |xml| {
                for (at, row) in table.rows.iter().enumerate() {
                    let total = table.has_total && at + 1 == table.rows.len();
                    xml.element("tr", &[("class", &if total { "total" } else { "part" })], |xml| {
                        for (at, cell) in row.iter().enumerate() {
                            xml.leaf("td", &[("class", &class(at))], cell);
                        }
                    });
                }
            });
        });
    });
}

/// The legend of raw and wire bytes.
const RAW_AND_WIRE: [(&str, &str); 2] = [("raw", "raw bytes"), ("wire", "wire bytes")];

/// The same, for this report.
fn raw_and_wire(xml: &mut Xml, report: &JobReport) {
    let more = if is_measured_only(report) { ", as they would have been" } else { "" };
    let [(raw, raw_bytes), (wire, wire_bytes)] = RAW_AND_WIRE;
    key(xml, [(raw, raw_bytes.into()), (wire, format!("{wire_bytes}{more}"))]);
}

/// Raw and wire bytes.
fn both(counts: &Counts) -> Vec<Bar> {
    let (raw, wire) = (counts.raw_bytes as f64, counts.wire_bytes as f64);
    let label = format!("{}, ratio {}", bytes(wire), fixed(counts.ratio()));
    vec![Bar { class: "raw", value: raw, label: bytes(raw) }, Bar { class: "wire", value: wire, label }]
}

fn by_codec(xml: &mut Xml, report: &JobReport) {
    let mut lines: Vec<_> = report.codecs.iter().filter(|line| line.counts.messages > 0).collect();
    let mut others = Counts::default();
    let mut name = String::new();
    if lines.len() > GROUPS + 1 {
        let mut lengths: Vec<_> = lines.iter().map(|line| line.counts.raw_bytes).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let mut rest = Vec::new();
        for line in std::mem::take(&mut lines) {
            let has_room = lines.len() < GROUPS && line.counts.raw_bytes >= lengths[GROUPS - 1];
            if has_room { lines.push(line) } else { rest.push(line) }
        }
        name = format!("{} others", rest.len());
        for line in rest {
            others.raw_bytes = others.raw_bytes.saturating_add(line.counts.raw_bytes);
            others.wire_bytes = others.wire_bytes.saturating_add(line.counts.wire_bytes);
        }
    }
    let mut groups: Vec<_> = lines
        .iter()
        .map(|line| Group { name: format!("{} {}", line.kind, line.codec), bars: both(&line.counts) })
        .collect();
    if !name.is_empty() {
        groups.push(Group { name, bars: both(&others) });
    }
    heading(xml, "Bytes by element kind and codec");
    raw_and_wire(xml, report);
    bars(xml, "Raw and wire bytes by element kind and codec", &groups, bytes);
}

fn codec_shares(xml: &mut Xml, lines: &[CodecCounts]) {
    let mut all: Vec<Share<2>> = Vec::new();
    for line in lines.iter().filter(|line| line.counts.messages > 0) {
        let values = [line.counts.raw_bytes as f64, line.counts.messages as f64];
        match all.iter_mut().find(|share| share.name == line.codec) {
            Some(share) => share.values = [share.values[0] + values[0], share.values[1] + values[1]],
            None => all.push(Share { class: "other", name: line.codec.clone(), values }),
        }
    }
    all.sort_by(|a, b| b.values[0].total_cmp(&a.values[0]));
    let mut colours = COLOURS.into_iter();
    for share in &mut all {
        share.class = if share.name == "raw" { "raw" } else { colours.next().unwrap_or("other") };
    }
    let (mut all, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|share| share.class != "other");
    if !others.is_empty() {
        let sum = |of: usize| others.iter().map(|share| share.values[of]).sum();
        let names: Vec<_> = others.iter().map(|share| &*share.name).collect();
        all.push(Share { class: "other", name: names.join(", "), values: [sum(0), sum(1)] });
    }
    heading(xml, "Shares of codecs");
    shares(xml, "Shares of codecs in raw bytes and messages", ["raw bytes", "messages"], &all);
}

fn by_length(xml: &mut Xml, report: &JobReport, to: &DestinationCounts) {
    let classes = |bars: &dyn Fn(&Counts) -> Vec<Bar>| {
        to.sizes.iter().map(|size| (class(size.from), bars(&size.counts))).collect::<Vec<_>>()
    };
    let messages = |counts: &Counts| {
        let label = format!("{} messages", count(counts.messages));
        vec![Bar { class: "c0", value: counts.messages as f64, label }]
    };
    let whole = |value: f64| if value < 1e9 { count(value as i64) } else { format!("{value:.0e}") };
    heading(xml, &format!("Messages {}, by length", to.place()));
    columns(xml, "Messages by length", &classes(&messages), whole, 1.0);
    heading(xml, &format!("Bytes {}, by length", to.place()));
    raw_and_wire(xml, report);
    columns(xml, "Raw and wire bytes by length", &classes(&both), bytes, 1.0);
}

fn windows(xml: &mut Xml, report: &JobReport) {
    for each in &report.windows {
        heading(xml, &format!("Compression window of {}", each.kind));
        xml.leaf("p", &[], "Messages of lengths inside are considered for compression.");
        window(xml, &format!("Lengths inside the compression window of {}, over messages", each.kind), each);
    }
}

/// How the ranks have spent their time.
fn times(xml: &mut Xml, report: &JobReport) {
    let Some(parts) = parts_of_time(report) else { return };
    let classes = ["c2", "wire", "c1"];
    let parts = parts.into_iter().zip(classes);
    let parts = parts.map(|(part, class)| Share { class, name: part.name.into(), values: [part.seconds] });
    shares(xml, "Computing, MPI and coding in the ranks' time", ["ranks' time"], &parts.collect::<Vec<_>>());
}

fn gains(xml: &mut Xml, report: &JobReport) {
    let gain = &report.gain;
    if !is_estimated(gain) {
        return;
    }
    let group = |name: &str, class, value| {
        let part = percent(value, gain.raw_s).map(|part| format!(", {part}")).unwrap_or_default();
        Group { name: name.into(), bars: vec![Bar { class, value, label: format!("{}{part}", time(value)) }] }
    };
    heading(xml, "Gain: predicted, and from the results");
    let would = if is_measured_only(report) { "that would have been " } else { "" };
    let whole = format!(
        "Seconds {would}saved in messages, summed over ranks. Percent are of the {} that sending all raw would have taken.",
        time(gain.raw_s)
    );
    xml.leaf("p", &[], &whole);
    if let Some(clock) = &gain.clock {
        xml.leaf("p", &[], &format!("Compared in trials: {}.", clock.text()));
    }
    let groups =
        [group("predicted", "raw", gain.predicted_s), group("from the results", "wire", gain.measured_s)];
    bars(xml, "Seconds gained, as predicted and from the results", &groups, time);
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpress::report::{Gain, SizeCounts};

    fn sample() -> JobReport {
        JobReport::from_json(include_str!("../../tests/data/report.json")).unwrap()
    }

    /// Checks that a page is well-formed, and returns its charts.
    #[track_caller]
    fn checked(reports: Vec<JobReport>) -> (String, usize) {
        let named = |report| Named { file: "f.json".into(), report };
        let page = page(&reports.into_iter().map(named).collect::<Vec<_>>());
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(&page, options).unwrap();
        for node in document.descendants() {
            for name in ["x", "y", "x1", "x2", "y1", "y2", "width", "height"] {
                let Some(value) = node.attribute(name) else { continue };
                let pixels: f64 = value.parse().unwrap();
                assert!((0.0..10_000.0).contains(&pixels), "{name}={value}");
            }
        }
        let charts = page.matches("<svg").count();
        (page, charts)
    }

    #[test]
    fn the_style_sheet_needs_no_escapes() {
        assert!(!include_str!("page.css").contains(['<', '>', '&', '"', '\'']));
    }

    #[test]
    fn what_is_missing_is_not_drawn() {
        let (_, all) = checked(vec![sample()]);
        let mut report = sample();
        report.windows.clear();
        report.gain = Gain { predicted_s: 0.0, measured_s: 0.0, ..report.gain };
        let (page, charts) = checked(vec![report.clone()]);
        assert_eq!(charts, all - 3, "two windows, the gain");
        assert!(!page.contains("predicted"));
        report.total = Counts::default();
        report.codecs.clear();
        report.destinations.clear();
        let (_, charts) = checked(vec![report.clone()]);
        assert_eq!(charts, 1, "the ranks' time");
        report.in_mpi = None;
        let (page, charts) = checked(vec![report]);
        assert_eq!(charts, 0);
        assert!(page.contains("nothing to draw"));
    }

    #[test]
    fn several_reports_are_one_page() {
        let (_, one) = checked(vec![sample()]);
        let (page, three) = checked(vec![sample(), sample(), sample()]);
        assert_eq!(three, 3 * one + 2, "and the comparison");
        assert_eq!((page.matches("<h1>").count(), page.matches("<h2>").count()), (1, 3));
    }

    #[test]
    fn numbers_of_any_size_stay_on_the_page() {
        for (seconds, number) in
            [(f64::MAX, u64::MAX), (f64::MIN, 1), (f64::MIN_POSITIVE, 0), (-0.0, 1 << 60)]
        {
            let mut report = sample();
            let counts = Counts {
                messages: number,
                raw_bytes: number,
                wire_bytes: u64::MAX - number,
                encode_s: seconds,
                decode_s: seconds,
            };
            report.total = counts;
            report.job.seconds = seconds;
            report.job.ranks = number;
            report.gain = Gain { predicted_s: seconds, measured_s: -seconds, raw_s: seconds, clock: None };
            report.codecs.iter_mut().for_each(|line| line.counts = counts);
            for to in &mut report.destinations {
                to.sizes = [0, 1023, 1 << 20, u64::MAX].map(|from| SizeCounts { from, counts }).into();
            }
            for threshold in report.windows.iter_mut().flat_map(|window| &mut window.thresholds) {
                threshold.messages = threshold.messages.saturating_mul(number);
                (threshold.smallest, threshold.end) = (Some(number), Some(0));
            }
            let (page, _) = checked(vec![report.clone(), report]);
            assert!(!page.contains("NaN"));
        }
    }

    #[test]
    fn a_measured_run_does_not_claim_to_have_compressed() {
        let mut report = sample();
        report.job.strategy = "measure".into();
        let (page, _) = checked(vec![report]);
        assert_eq!(page.matches("wire bytes, as they would have been").count(), 3);
        assert!(page.contains("Would have saved") && page.contains("Seconds that would have been saved"));
        let (page, _) = checked(vec![sample()]);
        assert!(!page.contains("would have been") && !page.contains("Would have saved"));
    }

    #[test]
    fn a_chart_of_many_codecs_stays_short() {
        let mut report = sample();
        let line = report.codecs[1].clone();
        report.codecs = (0..100)
            .map(|at| {
                let mut line = CodecCounts { codec: format!("codec {at}"), ..line.clone() };
                line.counts.raw_bytes = 1000 * (at / 2);
                line
            })
            .collect();
        let bars = |page: &str, name: &str| page.matches(&format!("<title>{name}: ")).count();
        let (page, _) = checked(vec![report.clone()]);
        for (name, count) in
            [("int32 codec 99", 2), ("int32 codec 88", 2), ("int32 codec 87", 0), ("88 others", 2)]
        {
            assert_eq!(bars(&page, name), count, "{name}");
        }
        report.codecs.truncate(GROUPS + 1);
        let (page, _) = checked(vec![report]);
        assert_eq!(
            (bars(&page, "int32 codec 0"), page.contains("others")),
            (2, false),
            "one more is no more"
        );
    }

    #[test]
    fn codecs_share_a_colour_only_if_there_are_many() {
        let mut report = sample();
        let line = report.codecs[1].clone();
        report.codecs =
            (0..10).map(|at| CodecCounts { codec: format!("codec {at}"), ..line.clone() }).collect();
        let (page, _) = checked(vec![report]);
        assert_eq!(page.matches("swatch other").count(), 1);
        assert_eq!(page.matches("swatch c6").count(), 1);
        assert!(page.contains("codec 7, codec 8, codec 9: "), "those without a colour of their own");
    }
}
