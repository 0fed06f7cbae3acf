//! The result of a comparison: a line for each codec on each file, geometric means over the files of a kind, and both as CSV.

use crate::Result;
use crate::codecs::Subject;
use crate::element::Element;
use serde::{Deserialize, Serialize};

/// The measured values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Raw bytes divided by wire bytes; a message that does not shrink is sent raw.
    pub ratio: f64,
    /// Encoding speed in GB/s of raw bytes.
    pub encode: f64,
    /// Decoding speed in GB/s of raw bytes.
    pub decode: f64,
}

/// A codec on a file, or on all files of a kind.
#[derive(Clone, Debug)]
pub struct Line {
    /// The file.
    pub file: String,
    /// Its element type.
    pub element: Element,
    /// The codec.
    pub subject: &'static Subject,
    /// The number of messages.
    pub messages: usize,
    /// Their raw bytes.
    pub bytes: usize,
    /// The measured values.
    pub figures: Figures,
}

/// A line of the CSV.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The file, or `geomean-f64` etc.
    pub file: String,
    /// The codec.
    pub codec: String,
    /// The number of messages.
    pub messages: usize,
    /// Their raw bytes.
    pub bytes: usize,
    /// See [`Figures::ratio`].
    pub ratio: f64,
    /// See [`Figures::encode`].
    pub encode_gbps: f64,
    /// See [`Figures::decode`].
    pub decode_gbps: f64,
}

/// A whole comparison.
#[derive(Clone, Debug)]
pub struct Report {
    /// Lines of codecs on files.
    pub lines: Vec<Line>,
    /// Geometric means, kind by kind.
    pub means: Vec<Line>,
}

impl Report {
    /// Adds the means of these lines.
    #[must_use]
    pub fn new(lines: Vec<Line>) -> Self {
        let mut means: Vec<Line> = Vec::new();
        for element in Element::ALL {
            let first = means.len();
            for line in lines.iter().filter(|line| line.element == element) {
                if means[first..].iter().any(|mean| mean.subject.name == line.subject.name) {
                    continue;
                }
                let same =
                    |other: &&Line| other.element == element && other.subject.name == line.subject.name;
                let same: Vec<_> = lines.iter().filter(same).collect();
                means.push(Line {
                    file: format!("geomean-{}", element.name()),
                    messages: same.iter().map(|line| line.messages).sum(),
                    bytes: same.iter().map(|line| line.bytes).sum(),
                    figures: Figures {
                        ratio: geometric_mean(same.iter().map(|line| line.figures.ratio)),
                        encode: geometric_mean(same.iter().map(|line| line.figures.encode)),
                        decode: geometric_mean(same.iter().map(|line| line.figures.decode)),
                    },
                    ..line.clone()
                });
            }
        }
        Self { lines, means }
    }

    /// The comparison as CSV: all lines, then the means.
    ///
    /// # Errors
    /// The cause is unknown.
    pub fn csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for line in self.lines.iter().chain(&self.means) {
            writer.serialize(Record::from(line))?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }
}

impl From<&Line> for Record {
    fn from(line: &Line) -> Self {
        let Figures { ratio, encode, decode } = line.figures;
        Self {
            file: line.file.clone(),
            codec: line.subject.name.to_owned(),
            messages: line.messages,
            bytes: line.bytes,
            ratio: rounded(ratio),
            encode_gbps: rounded(encode),
            decode_gbps: rounded(decode),
        }
    }
}

/// Rounds to four decimals: no measurement is more precise.
fn rounded(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}

/// The geometric mean; NaN for no values.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value.ln(), count + 1));
    (sum / f64::from(count)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::CODECS;

    fn line(file: &str, element: Element, subject: usize, ratio: f64) -> Line {
        let figures = Figures { ratio, encode: 2.0, decode: 1.0 / 3.0 };
        Line { file: file.into(), element, subject: &CODECS[subject], messages: 3, bytes: 30, figures }
    }

    #[test]
    fn means_are_geometric() {
        assert!((geometric_mean([1.0, 4.0].into_iter()) - 2.0).abs() < 1e-12);
        assert!((geometric_mean([5.0].into_iter()) - 5.0).abs() < 1e-12);
        assert!(geometric_mean(std::iter::empty()).is_nan());
    }

    #[test]
    fn csv_has_lines_then_means_by_kind() {
        let lines = vec![
            line("a.f64", Element::F64, 0, 1.0),
            line("b.i32", Element::I32, 0, 3.0),
            line("c.f64", Element::F64, 0, 4.0),
            line("c.f64", Element::F64, 1, 7.0),
        ];
        assert_eq!(
            Report::new(lines).csv().unwrap(),
            "file,codec,messages,bytes,ratio,encode_gbps,decode_gbps\n\
             a.f64,memcpy,3,30,1.0,2.0,0.3333\n\
             b.i32,memcpy,3,30,3.0,2.0,0.3333\n\
             c.f64,memcpy,3,30,4.0,2.0,0.3333\n\
             c.f64,dfcm,3,30,7.0,2.0,0.3333\n\
             geomean-f64,memcpy,6,60,2.0,2.0,0.3333\n\
             geomean-f64,dfcm,3,30,7.0,2.0,0.3333\n\
             geomean-i32,memcpy,3,30,3.0,2.0,0.3333\n"
        );
    }
}
