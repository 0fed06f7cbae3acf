//! Reports as text, in mpiP's layout: facts after `@`, then a table under each banner.

use super::Named;
use super::spread::{spread, warnings};
use super::tables::{Part, Table, comparison, facts, parts_of_time, tables};
use std::fmt::Write as _;

/// The width of a banner in columns.
const WIDTH: usize = 100;

/// All reports, and a comparison if there are several.
pub(super) fn text(reports: &[Named]) -> String {
    let mut text = String::new();
    for Named { file, report } in reports {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "@ mpress report");
        let verdict = [("Verdict", report.headline())].into_iter();
        let times = parts_of_time(report).map(|parts| ("Ranks' time", bar(&parts)));
        for (name, value) in verdict.chain(times).chain([("File", file.clone())]).chain(facts(report)) {
            let _ = writeln!(text, "@ {name:<18} : {}", plain(&value));
        }
        text.push('\n');
        tables(report).iter().for_each(|each| table(&mut text, each));
    }
    if reports.len() > 1 {
        table(&mut text, &comparison(reports));
        table(&mut text, &spread(reports));
        for warning in warnings(reports) {
            let _ = writeln!(text, "@ {:<18} : {}", "Warning", plain(&warning));
        }
    }
    text
}

/// Parts of a whole as a bar of characters, and in percent.
fn bar(parts: &[Part; 3]) -> String {
    const SIGNS: [char; 3] = ['#', '=', '*'];
    const LENGTH: f64 = 40.0;
    let whole: f64 = parts.iter().map(|part| part.seconds).sum();
    let (mut bar, mut sum) = (String::new(), 0.0);
    for (part, sign) in parts.iter().zip(SIGNS) {
        sum += part.seconds;
        // The bar has its whole length whatever is rounded.
        let end = (sum / whole * LENGTH).round() as usize;
        bar.extend(std::iter::repeat_n(sign, end.saturating_sub(bar.len())));
    }
    let named =
        parts.iter().zip(SIGNS).map(|(part, sign)| format!("{sign} {} {}", part.name, part.percent(whole)));
    format!("{bar} {}", named.collect::<Vec<_>>().join(", "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_its_length_and_one_decimal() {
        let parts = |seconds: [f64; 3]| {
            let [computing, mpi, coding] = seconds;
            [("computing", computing), ("MPI", mpi), ("coding", coding)]
                .map(|(name, seconds)| Part { name, seconds })
        };
        let text = bar(&parts([6.0, 3.0, 1.0]));
        let signs = ["#".repeat(24), "=".repeat(12), "*".repeat(4)].concat();
        assert_eq!(text, format!("{signs} # computing 60.0 %, = MPI 30.0 %, * coding 10.0 %"));
        for seconds in [[0.1, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1e-9, 7.0]] {
            assert_eq!(bar(&parts(seconds)).split(' ').next().unwrap().len(), 40, "{seconds:?}");
        }
    }
}
