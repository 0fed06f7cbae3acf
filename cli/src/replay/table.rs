//! The result as text: a table of the codecs, and two for each link.

use super::Table;
use super::measure::{Caches, Measured};
use super::simulate::{Decisions, Times, median};
use mpress::Codec;
use std::fmt::Write as _;

/// The result of each codec for all messages. Messages that it does not support or does not make shorter are sent raw.
pub(super) fn by_codec(files: &[Measured<'_>], caches: &[Caches]) -> String {
    let mut text = String::new();
    for caches in caches {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "all messages by one codec, {}\n{:<20} {:>10} {:>10} {:>15} {:>15} {:>7} {:>10} {:>10}",
            caches.name(),
            "codec",
            "messages",
            "compressed",
            "raw bytes",
            "wire bytes",
            "ratio",
            "encode s",
            "decode s"
        );
        for codec in Codec::all() {
            text += &codec_line(files, *caches, codec);
        }
        text.push('\n');
    }
    text
}

fn codec_line(files: &[Measured<'_>], caches: Caches, codec: Codec) -> String {
    let (mut messages, mut compressed, mut raw, mut wire) = (0, 0, 0, 0);
    let (mut encode, mut decode) = (0.0, 0.0);
    for file in files {
        let outcomes = file.codecs.iter().find(|(other, _)| *other == codec).map(|(_, all)| all);
        for (at, message) in file.messages.iter().enumerate() {
            let outcome = outcomes.and_then(|all| all.get(at));
            messages += 1;
            raw += message.len();
            wire += outcome.and_then(|outcome| outcome.wire_len).unwrap_or(message.len());
            if let Some(outcome) = outcome {
                compressed += usize::from(outcome.wire_len.is_some());
                encode += outcome.coding(caches).encode_ns * 1e-9;
                decode += outcome.coding(caches).decode_ns * 1e-9;
            }
        }
    }
    let (name, ratio) = (codec.name(), ratio(raw, wire));
    format!(
        "{name:<20} {messages:>10} {compressed:>10} {raw:>15} {wire:>15} {ratio:>7.3} {encode:>10.3} {decode:>10.3}\n"
    )
}

fn ratio(raw: usize, wire: usize) -> f64 {
    if wire == 0 { 1.0 } else { raw as f64 / wire as f64 }
}

/// The maximum number of files side by side in a table of strategies.
const COLUMNS: usize = 8;

/// Two tables for each link: the strategies that matter, with a line for each file, and all strategies.
pub(super) fn of(tables: &[Table], cold_decisions: &Decisions<f64>) -> String {
    let mut text = String::new();
    for table in tables {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{}, {}, {}\n{:<20} {:>10} {:>10} {:<18} {:>11} {:>10} {:>9} {:>8} {:>13} {:>7}",
            table.transfer,
            table.link,
            table.caches.name(),
            "file",
            "raw ms",
            "fixed ms",
            "by",
            "adaptive ms",
            "oracle ms",
            "ad/raw",
            "regret",
            "compressed",
            "ratio"
        );
        for (file, times) in &table.files {
            text += &line(file, times, times.best_name());
        }
        let total = Times::total(table.files.iter().map(|(_, times)| times));
        text += &line("total", &total, "");
        text.push('\n');
        for files in table.files.chunks(COLUMNS) {
            text += &by_strategy(files, &total);
        }
    }
    let sent = || tables.iter().flat_map(|table| &table.files).flat_map(|(_, times)| &times.deciding);
    let sorts = ["without a sample", "with a sample"].into_iter().zip(cold_decisions);
    let sorts = sorts.enumerate().filter_map(|(at, (name, cold))| {
        let median = median(sent().flat_map(|sent| &sent.deciding[0][at]).copied().collect())?;
        Some(format!("{median:.0} ns {name} (cold {:.0} ns)", median + cold))
    });
    let sorts: Vec<_> = sorts.collect();
    if !sorts.is_empty() {
        let _ = writeln!(text, "a decision takes {} (medians)", sorts.join(", "));
    }
    text
}

fn line(name: &str, times: &Times, best: &str) -> String {
    let Some(adaptive) = times.adaptive() else { return String::new() };
    let compressed = format!("{}/{}", adaptive.compressed, times.messages);
    let ms = |ns: f64| format!("{:.3}", ns * 1e-6);
    format!(
        "{name:<20} {:>10} {:>10} {best:<18} {:>11} {:>10} {:>9.3} {:>6.2} % {compressed:>13} {:>7.3}\n",
        ms(times.raw.ns),
        ms(times.best_fixed),
        ms(adaptive.ns),
        ms(times.oracle.ns),
        adaptive.ns / times.raw.ns,
        (adaptive.ns / times.oracle.ns - 1.0) * 100.0,
        ratio(times.raw_bytes, adaptive.wire_bytes),
    )
}

/// The time of each strategy relative to raw messages, for some files and in total.
fn by_strategy(files: &[(String, Times)], total: &Times) -> String {
    let mut text = format!("{:<20}", "time over all raw");
    let name = |file: &str| file.chars().take(14).collect::<String>();
    let names = files.iter().map(|(file, _)| name(file)).chain(["total".to_owned()]);
    text.extend(names.map(|name| format!(" {name:>14}")));
    text.push('\n');
    for (at, sent) in total.all().enumerate().skip(1) {
        text += &format!("{:<20}", sent.strategy);
        for times in files.iter().map(|(_, times)| times).chain([total]) {
            let ns = times.all().nth(at).map_or(f64::NAN, |sent| sent.ns);
            text += &format!(" {:>14.3}", ns / times.raw.ns);
        }
        text.push('\n');
    }
    text.push('\n');
    text
}
