//! Reports as text, in mpiP's layout: facts after `@`, then a table under each banner.

use super::Named;
use super::tables::{Table, comparison, facts, tables};
use std::fmt::Write as _;

/// The width of a banner in columns.
const WIDTH: usize = 100;

/// All reports, and a comparison if there are several.
pub(super) fn text(reports: &[Named]) -> String {
    let mut text = String::new();
    for Named { file, report } in reports {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "@ mpress report");
        let head = [("File", file.clone())].into_iter();
        let tail = [("Verdict", report.verdict.clone())].into_iter();
        for (name, value) in head.chain(facts(report)).chain(tail) {
            let _ = writeln!(text, "@ {name:<18} : {}", plain(&value));
        }
        text.push('\n');
        tables(report).iter().for_each(|each| table(&mut text, each));
    }
    if reports.len() > 1 {
        table(&mut text, &comparison(reports));
    }
    text
}

fn table(text: &mut String, table: &Table) {
    let rule = "-".repeat(WIDTH);
    let _ = writeln!(text, "{rule}\n{:-<WIDTH$}\n{rule}", format!("@--- {} ", plain(&table.title)));
    let head = table.columns.iter().map(|&name| name.to_owned()).collect();
    let rows: Vec<Vec<String>> = [&head]
        .into_iter()
        .chain(&table.rows)
        .map(|row: &Vec<String>| row.iter().map(|cell| plain(cell)).collect())
        .collect();
    let widths: Vec<_> = (0..table.columns.len())
        .map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0))
        .collect();
    for row in rows {
        let cell = |(at, (cell, width)): (usize, (&String, &usize))| {
            if at < table.names { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        };
        let line: Vec<_> = row.iter().zip(&widths).enumerate().map(cell).collect();
        let _ = writeln!(text, "{}", line.join("  ").trim_end());
    }
    text.push('\n');
}

/// The text without characters that would control a terminal or begin a new line.
pub(super) fn plain(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}
