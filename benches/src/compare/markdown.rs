//! The comparison as a Markdown table: a row per codec, a column per file.

use crate::compare::report::{Figures, Line, Report};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Ratio, then the speeds of encoding and decoding in GB/s; the last columns are the means.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut files: Vec<&str> = Vec::new();
    let mut codecs: Vec<&str> = Vec::new();
    for line in report.lines.iter().chain(&report.means) {
        if !files.contains(&&*line.file) {
            files.push(&line.file);
        }
        if !codecs.contains(&line.subject.name) {
            codecs.push(line.subject.name);
        }
    }
    // The mean of a single file equals that file.
    files.retain(|file| {
        let of_mean = report.means.iter().find(|mean| mean.file == *file).map(|mean| mean.element);
        of_mean.is_none_or(|element| {
            let of_element = report.lines.iter().filter(|line| line.element == element);
            of_element.map(|line| &line.file).collect::<BTreeSet<_>>().len() > 1
        })
    });
    let mut text = format!("| codec | {} |\n| --- |", files.join(" | "));
    text += &" --- |".repeat(files.len());
    text.push('\n');
    for codec in codecs {
        let _ = write!(text, "| {codec} |");
        for file in &files {
            let at = |line: &&Line| line.file == *file && line.subject.name == codec;
            let line = report.lines.iter().chain(&report.means).find(at);
            text += &line.map_or_else(|| " |".to_owned(), |line| cell(&line.figures));
        }
        text.push('\n');
    }
    text
}

fn cell(figures: &Figures) -> String {
    format!(" {:.3} · {:.2}/{:.2} |", figures.ratio, figures.encode, figures.decode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::CODECS;
    use crate::element::Element;

    #[test]
    fn rows_are_codecs_and_columns_files() {
        let line = |file: &str, element, subject: usize, ratio| {
            let figures = Figures { ratio, encode: 2.0, decode: 10.0 };
            Line { file: file.into(), element, subject: &CODECS[subject], messages: 3, bytes: 30, figures }
        };
        let lines = vec![
            line("a.f64", Element::F64, 0, 1.0),
            line("b.f64", Element::F64, 0, 4.0),
            line("b.f64", Element::F64, 1, 7.0),
            line("c.i32", Element::I32, 0, 3.0),
        ];
        assert_eq!(
            markdown(&Report::new(lines)),
            "| codec | a.f64 | b.f64 | c.i32 | geomean-f64 |\n\
             | --- | --- | --- | --- | --- |\n\
             | memcpy | 1.000 · 2.00/10.00 | 4.000 · 2.00/10.00 | 3.000 · 2.00/10.00 | 2.000 · 2.00/10.00 |\n\
             | dfcm | | 7.000 · 2.00/10.00 | | 7.000 · 2.00/10.00 |\n"
        );
    }
}
