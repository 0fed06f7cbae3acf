//! The result as text: a table of the codecs, and one for each link.

use super::measure::Measured;
use super::simulate::Times;
use super::{Row, TRANSFERS};
use mpress::Codec;
use mpress::selector::Link;
use std::fmt::Write as _;

/// The result of each codec for all messages; messages that it does not support or does not make shorter are sent raw.
pub(super) fn by_codec(files: &[Measured<'_>]) -> String {
    // Writing to a String cannot fail.
    let mut text = String::new();
    let _ = writeln!(
        text,
        "all messages by one codec\n{:<20} {:>10} {:>10} {:>15} {:>15} {:>7} {:>10} {:>10}",
        "codec", "messages", "compressed", "raw bytes", "wire bytes", "ratio", "encode s", "decode s"
    );
    for codec in Codec::all() {
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
                    encode += outcome.encode_ns * 1e-9;
                    decode += outcome.decode_ns * 1e-9;
                }
            }
        }
        let ratio = ratio(raw, wire);
        let name = codec.name();
        let _ = writeln!(
            text,
            "{name:<20} {messages:>10} {compressed:>10} {raw:>15} {wire:>15} {ratio:>7.3} {encode:>10.3} {decode:>10.3}"
        );
    }
    text + "\n"
}

fn ratio(raw: usize, wire: usize) -> f64 {
    if wire == 0 { 1.0 } else { raw as f64 / wire as f64 }
}

/// A table for each link.
pub(super) fn of(rows: &[Row], links: &[(String, Link)]) -> String {
    let mut text = String::new();
    for (transfer, _) in TRANSFERS {
        for (link, _) in links {
            let here: Vec<_> =
                rows.iter().filter(|row| row.transfer == transfer && row.link == *link).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{transfer}, {link}\n{:<20} {:>10} {:>10} {:<18} {:>11} {:>10} {:>9} {:>8} {:>13} {:>7}",
                "file",
                "raw ms",
                "fixed ms",
                "by",
                "selector ms",
                "oracle ms",
                "sel/raw",
                "regret",
                "compressed",
                "ratio"
            );
            for row in &here {
                text += &line(&row.file, &row.times);
            }
            text += &line("total", &Times::total(here.iter().map(|row| &row.times)));
            text.push('\n');
        }
    }
    let all = || rows.iter().map(|row| &row.times);
    let decisions = ["outside the compression window", "inside", "with a sample"].into_iter().enumerate();
    let decisions: Vec<_> = decisions
        .filter_map(|(at, name)| {
            let median = median(all().flat_map(|times| &times.deciding[at]))?;
            Some(format!("{median:.0} ns {name}"))
        })
        .collect();
    if !decisions.is_empty() {
        let _ = writeln!(text, "a decision takes {} (medians)", decisions.join(", "));
    }
    text
}

fn line(name: &str, times: &Times) -> String {
    let compressed = format!("{}/{}", times.compressed, times.messages);
    let ms = |ns: f64| format!("{:.3}", ns * 1e-6);
    format!(
        "{name:<20} {:>10} {:>10} {:<18} {:>11} {:>10} {:>9.3} {:>6.2} % {compressed:>13} {:>7.3}\n",
        ms(times.raw),
        ms(times.fixed),
        times.fixed_name,
        ms(times.selector),
        ms(times.oracle),
        times.selector / times.raw,
        times.regret() * 100.0,
        ratio(times.raw_bytes, times.wire_bytes),
    )
}

fn median<'a>(values: impl Iterator<Item = &'a f64>) -> Option<f64> {
    let mut values: Vec<_> = values.copied().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
