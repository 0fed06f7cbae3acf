//! A comparison as a table for reading: each line relative to lz4 and memcpy on the same file in the same run.

use super::report::{Figures, Line, Report};

/// The reference rows.
const REFERENCES: [&str; 2] = ["lz4", "memcpy"];

/// The table: lines, then means.
#[must_use]
pub fn table(report: &Report) -> String {
    let has = |name: &&str| report.lines.iter().any(|line| line.subject.name == *name);
    let references: Vec<_> = REFERENCES.into_iter().filter(has).collect();
    let all = || report.lines.iter().chain(&report.means);
    let widest = |len: fn(&Line) -> usize| all().map(len).max().unwrap_or(0);
    let widths = [widest(|line| line.file.len()), widest(|line| line.subject.name.len())];

    let mut text = header(widths, &references);
    let mut file = "";
    for line in all() {
        if !file.is_empty() && line.file != file {
            text.push('\n');
        }
        file = &line.file;
        let reference = |name: &&str| {
            let same = |other: &&Line| other.file == line.file && other.subject.name == *name;
            all().find(same).map(|other| other.figures)
        };
        let references: Vec<_> = references.iter().map(reference).collect();
        text += &row(line, widths, &references);
    }
    text
}

fn header([file, codec]: [usize; 2], references: &[&str]) -> String {
    let mut groups = format!("{:file$}  {:codec$} {:>8} {:>9} {:>8}", "", "", "", "", "");
    let mut columns =
        format!("{:file$}  {:codec$} {:>8} {:>9} {:>8}", "file", "codec", "messages", "bytes", "ratio");
    for group in ["GB/s", "us/message"]
        .map(str::to_owned)
        .into_iter()
        .chain(references.iter().map(|name| format!("x {name}")))
    {
        groups += &format!("  {group:>17}");
        columns += &format!("  {:>8} {:>8}", "encode", "decode");
    }
    format!("{groups}\n{columns}\n")
}

fn row(line: &Line, [file, codec]: [usize; 2], references: &[Option<Figures>]) -> String {
    let Line { messages, bytes, figures: Figures { ratio, encode, decode }, .. } = line;
    let name = line.subject.name;
    let mut text = format!("{:file$}  {name:codec$} {messages:>8} {bytes:>9} {ratio:>8.4}", line.file);
    text += &format!("  {encode:>8.3} {decode:>8.3}");
    let each = *bytes as f64 / *messages as f64 / 1e3;
    text += &format!("  {:>8.3} {:>8.3}", each / encode, each / decode);
    for reference in references {
        text += &match reference {
            Some(other) => format!("  {:>8.3} {:>8.3}", encode / other.encode, decode / other.decode),
            None => format!("  {:>8} {:>8}", "-", "-"),
        };
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::all;
    use crate::element::Element;

    fn line(codec: &str, encode: f64) -> Line {
        let subject = all().find(|subject| subject.name == codec).unwrap();
        let figures = Figures { ratio: 2.0, encode, decode: 4.0 };
        Line { file: "a.f64".into(), element: Element::F64, subject, messages: 2, bytes: 4000, figures }
    }

    #[test]
    fn lines_stand_in_relation_to_those_run() {
        let text = table(&Report::new(vec![line("memcpy", 10.0), line("dfcm", 2.0)]));
        let rows: Vec<Vec<_>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["GB/s", "us/message", "x", "memcpy"]);
        assert_eq!(
            rows[3],
            ["a.f64", "dfcm", "2", "4000", "2.0000", "2.000", "4.000", "1.000", "0.500", "0.200", "1.000"]
        );
        assert!(rows.iter().any(|row| row.first() == Some(&"geomean-f64")));
    }
}
