//! The corpus of real messages, if it is next to the repository: files of consecutive payloads, each with a `FILE.idx`, a table of the messages'
//! positions.

use core::ops::Range;
use std::fs;
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec::Vec;

/// A file of messages.
#[derive(Clone, Debug)]
pub struct CorpusFile {
    /// The file name. The extension gives the element type: `f64`, `f32`, `i32`...
    pub name: String,
    bytes: Vec<u8>,
    messages: Vec<Range<usize>>,
}

impl CorpusFile {
    /// The messages in the order in which they were sent.
    pub fn messages(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.messages.iter().map(|range| &self.bytes[range.clone()])
    }

    /// Reads the file for this index.
    fn read(index: &Path) -> Self {
        let path = index.with_extension("");
        let bytes = fs::read(&path).expect("a file beside its index");
        let index = fs::read_to_string(index).expect("an index of text");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name of text").into();
        let messages = ranges(&index, bytes.len());
        Self { messages: messages.unwrap_or_else(|line| panic!("{name}.idx, line {line}")), name, bytes }
    }
}

/// The files of the corpus, read one by one, in order of their names. `None` if there is no corpus; a test is skipped then, and this reports it.
///
/// # Panics
/// If the corpus has no file, or a file does not match its index.
#[must_use]
pub fn corpus() -> Option<impl Iterator<Item = CorpusFile>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    if !folder.exists() {
        super::skipped("the whole corpus, which does not lie beside the repository");
        return None;
    }
    let entries = fs::read_dir(folder).expect("a folder");
    let mut indices: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "idx"))
        .collect();
    assert!(!indices.is_empty(), "a corpus without files");
    indices.sort();
    Some(indices.into_iter().map(|index| CorpusFile::read(&index)))
}

/// The messages of a file of `len` bytes: after a header line, there is one line for each, which begins with its offset and length. They are
/// consecutive and cover the whole file. The error is the number of the invalid line.
fn ranges(index: &str, len: usize) -> Result<Vec<Range<usize>>, usize> {
    let mut ranges = Vec::new();
    let mut end = 0;
    for (i, line) in index.lines().enumerate().skip(1) {
        let mut numbers = line.split(',').map(|number| number.parse::<usize>());
        let (Some(Ok(start)), Some(Ok(bytes))) = (numbers.next(), numbers.next()) else { return Err(i + 1) };
        if start != end || bytes > len - start {
            return Err(i + 1);
        }
        end = start + bytes;
        ranges.push(start..end);
    }
    if end == len { Ok(ranges) } else { Err(ranges.len() + 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_says_where_messages_are() {
        const HEADING: &str = "offset,bytes,src,dst,tag,call\n";
        let read = |lines: &str, len| ranges(&[HEADING, lines].concat(), len);
        assert_eq!(read("", 0), Ok(std::vec![]));
        assert_eq!(read("0,10,1,2,7,send\n10,5\n", 15), Ok(std::vec![0..10, 10..15]));
        for (lines, len, line) in [
            ("0,10\n10,5\n", 14, 3),
            ("0,10\n10,5\n", 16, 4),
            ("0,10\n11,4\n", 15, 3),
            ("5,10\n", 15, 2),
            ("0,18446744073709551615\n", 15, 2),
            ("0\n", 15, 2),
            ("0,ten\n", 15, 2),
        ] {
            assert_eq!(read(lines, len), Err(line), "{lines:?} of {len} bytes");
        }
    }
}
