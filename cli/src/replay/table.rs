//! The result as text: a table for each link.

use super::simulate::Times;
use super::{LINKS, Row, TRANSFERS};
use std::fmt::Write as _;

/// All tables.
pub(super) fn of(rows: &[Row]) -> String {
    let mut text = String::new();
    for (transfer, _) in TRANSFERS {
        for (link, _) in LINKS {
            let here: Vec<_> =
                rows.iter().filter(|row| row.transfer == transfer && row.link == link).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{transfer}, {link}\n{:<20} {:>10} {:>10} {:<18} {:>11} {:>10} {:>9} {:>8} {:>10}",
                "file",
                "raw ms",
                "fixed ms",
                "by",
                "selector ms",
                "oracle ms",
                "sel/raw",
                "regret",
                "compressed"
            );
            for row in &here {
                text += &line(&row.file, &row.times, &format!("{}/{}", row.times.compressed, row.messages));
            }
            text += &line("total", &Times::total(here.iter().map(|row| &row.times)), "");
            text.push('\n');
        }
    }
    let all = || rows.iter().map(|row| &row.times);
    let _ = writeln!(
        text,
        "a decision takes {:.0} ns outside the compression window, {:.0} ns inside, {:.0} ns with a sample (medians)",
        median(all().flat_map(|times| &times.deciding[0])),
        median(all().flat_map(|times| &times.deciding[1])),
        median(all().flat_map(|times| &times.deciding[2]))
    );
    text
}

fn line(name: &str, times: &Times, compressed: &str) -> String {
    let ms = |ns: f64| format!("{:.3}", ns * 1e-6);
    format!(
        "{name:<20} {:>10} {:>10} {:<18} {:>11} {:>10} {:>9.3} {:>6.2} % {compressed:>10}\n",
        ms(times.raw),
        ms(times.fixed),
        times.fixed_name,
        ms(times.selector),
        ms(times.oracle),
        times.selector / times.raw,
        times.regret() * 100.0,
    )
}

fn median<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    let mut values: Vec<_> = values.copied().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
