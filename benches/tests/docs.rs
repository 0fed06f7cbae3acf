//! The table of figures in `docs/codecs.md`, and the plot in `README.md`, match the record from which they are generated.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

use mpress_benches::codecs::{Role, Subject, all};
use mpress_benches::compare::{Figures, Line, Report, markdown, plot};
use mpress_benches::element::Element;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The output of `compare --peers`.
const RECORD: &str = "benches/record/codecs.txt";
const PAGE: &str = "docs/codecs.md";
/// The folder of the plot.
const PLOTS: &str = "benches/record";
const PLOT: &str = "pareto-f64.svg";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// A row of the record: file, codec, messages, bytes, ratio, GB/s of encoding and of decoding, and more. `None` for others.
fn line(row: &str) -> Option<Line> {
    let columns: Vec<&str> = row.split_whitespace().collect();
    let [file, codec, messages, bytes, ratio, encode, decode, ..] = columns[..] else { return None };
    let element = file.rsplit(['.', '-']).next()?;
    Some(Line {
        file: file.to_owned(),
        element: Element::ALL.into_iter().find(|known| known.name() == element)?,
        // This build may lack some peers of the record.
        subject: Box::leak(Box::new(Subject {
            name: codec.to_owned().leak(),
            role: all().find(|known| known.name == codec).map_or(Role::Peer, |known| known.role),
            make: |_, _| Ok(None),
        })),
        messages: messages.parse().ok()?,
        bytes: bytes.parse().ok()?,
        figures: Figures {
            ratio: ratio.parse().ok()?,
            encode: encode.parse().ok()?,
            decode: decode.parse().ok()?,
        },
    })
}

fn report(record: &str) -> Report {
    let (means, lines) =
        record.lines().filter_map(line).partition(|line: &Line| line.file.starts_with("geomean-"));
    Report { lines, means }
}

/// The position of the table of figures in the page.
fn place(page: &str) -> Range<usize> {
    let heading = page.find("## Figures").expect("a heading");
    let start = heading + page[heading..].find("\n| ").expect("a table") + 1;
    let end = page[start..].find("\n\n").map_or(page.len(), |len| start + len + 1);
    start..end
}

#[test]
fn the_table_is_made_from_its_record() {
    let mut page = std::fs::read_to_string(file(PAGE)).unwrap();
    assert!(page.contains(&format!("`{RECORD}`")), "{PAGE} does not name its record");
    let report = report(&std::fs::read_to_string(file(RECORD)).unwrap());
    assert_eq!((report.lines.len(), report.means.len()), (193, 49), "rows of {RECORD}");
    let table = markdown(&report);
    if std::env::var_os("WRITE_DOCS").is_some() {
        page.replace_range(place(&page), &table);
        std::fs::write(file(PAGE), &page).unwrap();
    }
    let differing = page[place(&page)].lines().zip(table.lines()).find(|(is, wanted)| is != wanted);
    assert_eq!(differing, None, "WRITE_DOCS=1 cargo test -p mpress-benches --test docs writes {PAGE}");
    assert_eq!(page[place(&page)].len(), table.len());
}

#[test]
fn the_plot_is_made_from_its_record() {
    let record = std::fs::read_to_string(file(RECORD)).unwrap();
    let conditions = record.lines().find_map(|line| line.strip_prefix("measured: ")).expect("conditions");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plots");
    plot(&report(&record), &folder, conditions).unwrap();
    let made = std::fs::read_to_string(folder.join(PLOT)).unwrap();
    let kept = file(PLOTS).join(PLOT);
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&kept, &made).unwrap();
    }
    let is = std::fs::read_to_string(kept).unwrap();
    assert!(is == made, "WRITE_DOCS=1 cargo test -p mpress-benches --test docs writes {PLOTS}/{PLOT}");
}

#[test]
fn rows_are_read() {
    let row = "bt.f64  dfcm  176  7960160  1.2724  2.214  1.680  20.425  26.916  0.525  0.146";
    let read = line(row).unwrap();
    assert_eq!((&*read.file, read.element, read.subject.name), ("bt.f64", Element::F64, "dfcm"));
    assert_eq!((read.messages, read.bytes), (176, 7_960_160));
    assert_eq!(read.figures, Figures { ratio: 1.2724, encode: 2.214, decode: 1.680 });
    let others =
        ["", "machine:  Intel(R) Xeon(R) Processor, x86_64", "file codec messages bytes ratio encode decode"];
    assert!(others.into_iter().all(|row| line(row).is_none()));
}
