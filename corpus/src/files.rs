//! Files of messages: consecutive payloads, and for each file an index `FILE.idx`, a CSV with the position of each message.

use crate::Result;
use crate::aligned::Aligned;
use crate::element::Element;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A line of an index: a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its offset in the file, in bytes.
    pub offset: usize,
    /// Its length in bytes.
    pub bytes: usize,
    /// The sender's rank.
    pub src: i32,
    /// The receiver's rank, -1 for collectives without one.
    pub dst: i32,
    /// Its tag, -1 for collectives without one.
    pub tag: i32,
    /// The MPI call.
    pub call: String,
}

/// A file of messages.
#[derive(Clone, Debug)]
pub struct File {
    /// The file's name without its folder.
    pub name: String,
    /// Its element.
    pub element: Element,
    /// Its messages.
    pub index: Vec<Entry>,
    bytes: Aligned,
}

/// How a file is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Into its messages.
    Message,
    /// Into pieces of this size in bytes, across the boundaries of messages.
    Bytes(usize),
}

impl File {
    /// Reads a file of messages; returns `None` if its name is not that of such a file.
    ///
    /// # Errors
    /// If the file or its index cannot be read, or the index does not fit the file.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let Some(element) = Element::of(path) else { return Ok(None) };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs::read(path).map_err(at(path))?;
        let index = index_path(path);
        let text = fs::read(&index).map_err(at(&index))?;
        let index = parse(&text, bytes.len()).map_err(at(&index))?;
        Ok(Some(Self { name, element, index, bytes: Aligned::from(&bytes[..]) }))
    }

    /// Every file of messages in a folder, sorted by name.
    ///
    /// # Errors
    /// If the folder or one of its files cannot be read, or there is none.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(at(folder))? {
            paths.push(entry.map_err(at(folder))?.path());
        }
        paths.sort();
        let files: Vec<_> =
            paths.iter().filter_map(|path| Self::read(path).transpose()).collect::<Result<_>>()?;
        if files.is_empty() {
            let names = Element::ALL.map(|element| format!("*.{}", element.name())).join(", ");
            return Err(format!("{}: no file of messages here ({names})", folder.display()).into());
        }
        Ok(files)
    }

    /// The messages in the order in which they were sent.
    pub fn messages(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.index.iter().map(|at| &self.bytes[at.offset..at.offset + at.bytes])
    }

    /// The file in pieces, in order.
    #[must_use]
    pub fn pieces(&self, piece: Piece) -> Vec<&[u8]> {
        match piece {
            Piece::Message => self.messages().collect(),
            Piece::Bytes(len) => self.bytes.chunks(len.max(1)).collect(),
        }
    }
}

/// Writes a file of messages and its index into a folder.
///
/// # Errors
/// If one of the two cannot be written.
pub fn write(folder: &Path, name: &str, bytes: &[u8], index: &[Entry]) -> Result<()> {
    let path = folder.join(name);
    fs::write(&path, bytes).map_err(at(&path))?;
    let index_path = index_path(&path);
    let mut lines = csv::Writer::from_path(&index_path).map_err(at(&index_path))?;
    for entry in index {
        lines.serialize(entry).map_err(at(&index_path))?;
    }
    lines.flush().map_err(at(&index_path))
}

fn index_path(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.idx", path.display()))
}

/// Adds a path to an error.
pub fn at<E: Display>(path: &Path) -> impl Fn(E) -> Box<dyn std::error::Error> {
    move |error| format!("{}: {error}", path.display()).into()
}

/// Parses the index of a file of this number of bytes. The messages follow each other from the file's beginning to its end.
fn parse(text: &[u8], file_len: usize) -> Result<Vec<Entry>> {
    let mut end = 0_usize;
    let mut entries = Vec::new();
    for (line, entry) in (2..).zip(csv::Reader::from_reader(text).into_deserialize()) {
        let entry: Entry = entry?;
        if entry.offset != end {
            return Err(format!(
                "line {line}: a message at byte {} after one that ends at {end}",
                entry.offset
            )
            .into());
        }
        end = end.saturating_add(entry.bytes);
        if end > file_len {
            return Err(
                format!("line {line}: a message that ends at byte {end} of a file of {file_len}").into()
            );
        }
        entries.push(entry);
    }
    if end != file_len {
        return Err(format!("its messages end at byte {end} of a file of {file_len}").into());
    }
    Ok(entries)
}

impl FromStr for Piece {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "message" { Ok(Self::Message) } else { size(text).map(Self::Bytes) }
    }
}

/// Parses a number of bytes above zero, such as `4096`, `16KiB` or `1MiB`.
///
/// # Errors
/// If the text is not such a number.
pub fn size(text: &str) -> std::result::Result<usize, String> {
    let (number, shift) = match text {
        _ if text.ends_with("KiB") => (&text[..text.len() - 3], 10),
        _ if text.ends_with("MiB") => (&text[..text.len() - 3], 20),
        _ => (text, 0),
    };
    let bytes = number.parse().ok().and_then(|number: usize| number.checked_mul(1 << shift));
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| "not a size such as 4096, 16KiB or 1MiB".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "offset,bytes,src,dst,tag,call\n";

    fn error(lines: &str, file_len: usize) -> String {
        parse(format!("{HEADER}{lines}").as_bytes(), file_len).unwrap_err().to_string()
    }

    #[test]
    fn an_index_is_read() {
        let text = format!("{HEADER}0,16,0,1,7,send\n16,8,1,-1,-1,alltoall\n");
        let entries = parse(text.as_bytes(), 24).unwrap();
        let second = Entry { offset: 16, bytes: 8, src: 1, dst: -1, tag: -1, call: "alltoall".into() };
        assert_eq!((entries.len(), &entries[1]), (2, &second));
    }

    #[test]
    fn damage_is_told_in_one_line() {
        assert_eq!(
            error("0,16,0,1,7,send\n8,8,0,1,7,send\n", 24),
            "line 3: a message at byte 8 after one that ends at 16"
        );
        assert_eq!(error("0,32,0,1,7,send\n", 24), "line 2: a message that ends at byte 32 of a file of 24");
        assert_eq!(error("0,16,0,1,7,send\n", 24), "its messages end at byte 16 of a file of 24");
        assert_eq!(error("", 24), "its messages end at byte 0 of a file of 24");
        let not_a_number = error("0,16,0,1,7,send\nx,8,0,1,7,send\n", 24);
        assert!(not_a_number.contains("line: 3") && not_a_number.contains("invalid digit"), "{not_a_number}");
        assert!(error("0,16,0\n", 16).contains("fields"));
        assert!(error(&format!("0,{},0,1,7,send\n", u128::MAX), 24).contains("number too large"));
        assert!(parse(b"0,16\n", 16).unwrap_err().to_string().contains("its messages end"));
        assert!(parse(b"\xff\xfe\n\xff,\xff\n", 16).is_err());
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!("message".parse(), Ok(Piece::Message));
        assert_eq!("1MiB".parse(), Ok(Piece::Bytes(1 << 20)));
        assert_eq!((size("4096"), size("16KiB")), (Ok(4096), Ok(16 << 10)));
        for bad in
            ["", "0", "KiB", "-1", "1GiB", "99999999999999999999", "99999999999999999MiB", "1.5MiB", "é"]
        {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_written_is_read_and_cut() {
        let folder = tempfile::tempdir().unwrap();
        let entry = |offset, bytes| Entry { offset, bytes, src: 0, dst: 1, tag: 0, call: "send".into() };
        let index = vec![entry(0, 4), entry(4, 6)];
        write(folder.path(), "x.bin", b"0123456789", &index).unwrap();
        let files = File::read_all(folder.path()).unwrap();
        assert_eq!((files.len(), files[0].element, &files[0].index), (1, Element::Bin, &index));
        assert_eq!(files[0].pieces(Piece::Message), [&b"0123"[..], b"456789"]);
        assert_eq!(files[0].pieces(Piece::Bytes(8)), [&b"01234567"[..], b"89"]);
    }
}
