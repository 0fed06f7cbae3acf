//! The report at the end of a job, as text.

use crate::settings::Report;
pub use crate::stats::Line;
use crate::stats::Stats;
use std::fmt::Write as _;

/// The report over `ranks` processes; empty for [`Report::None`].
#[must_use]
pub fn text(stats: &Stats, ranks: usize, report: Report) -> String {
    let mut text = String::new();
    if report == Report::None {
        return text;
    }
    let total = stats.total();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "mpress: {} messages in frames over {ranks} ranks: {} raw, {} on the wire, ratio {:.3}; encoding {:.3} s, decoding {:.3} s",
        total.messages,
        bytes(total.raw_bytes),
        bytes(total.wire_bytes),
        total.ratio(),
        seconds(total.encode_ns),
        seconds(total.decode_ns),
    );
    if report == Report::Full {
        let _ = writeln!(
            text,
            "mpress: {:<6} {:<8} {:>10} {:>15} {:>15} {:>7} {:>10} {:>10}",
            "kind", "codec", "messages", "raw bytes", "wire bytes", "ratio", "encode s", "decode s"
        );
        for (kind, codec, line) in stats.lines() {
            let _ = writeln!(
                text,
                "mpress: {:<6} {:<8} {:>10} {:>15} {:>15} {:>7.3} {:>10.3} {:>10.3}",
                kind.name(),
                codec,
                line.messages,
                line.raw_bytes,
                line.wire_bytes,
                line.ratio(),
                seconds(line.encode_ns),
                seconds(line.decode_ns),
            );
        }
    }
    text
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

/// A byte count with a decimal unit and three digits or more.
fn bytes(n: u64) -> String {
    match n {
        0..10_000 => format!("{n} B"),
        10_000..10_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}
