//! Files of messages: payloads one behind the other, and beside each file `FILE.idx`, a CSV whose lines start with
//! `offset,bytes`.

use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A file of messages.
#[derive(Clone, Debug)]
pub struct File {
    /// The file's name without its folder.
    pub name: String,
    /// Bytes of an element, as the name's extension says it: `f64`, `i64` and `bin` (of no known element) 8, `f32`
    /// and `i32` 4.
    pub width: usize,
    bytes: Vec<u8>,
    ranges: Vec<Range<usize>>,
}

impl File {
    /// Reads a file of messages, or gives `None` where the name is not that of one.
    ///
    /// # Errors
    /// If the file or its index cannot be read, or the index does not fit the file.
    pub fn read(path: &Path) -> Result<Option<Self>, Box<dyn Error>> {
        let width = match path.extension().and_then(|extension| extension.to_str()) {
            Some("f64" | "i64" | "bin") => 8,
            Some("f32" | "i32") => 4,
            _ => return Ok(None),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let index = PathBuf::from(format!("{}.idx", path.display()));
        let index = fs::read_to_string(&index).map_err(|error| format!("{}: {error}", index.display()))?;
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let ranges = index
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("offset"))
            .map(|line| {
                let mut fields = line.split(',').map(str::parse::<usize>);
                match (fields.next(), fields.next()) {
                    (Some(Ok(offset)), Some(Ok(len))) => Some(offset..offset.checked_add(len)?),
                    _ => None,
                }
                .filter(|range| range.end <= bytes.len())
            })
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| format!("{name}.idx: a line does not say where in {name} a message is"))?;
        Ok(Some(Self { name, width, bytes, ranges }))
    }

    /// Every file of messages in a folder, by name.
    ///
    /// # Errors
    /// If the folder or one of its files cannot be read.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>, Box<dyn Error>> {
        let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, Box<dyn Error>>>()?;
        paths.sort();
        paths.iter().filter_map(|path| Self::read(path).transpose()).collect()
    }

    /// The messages, in their order.
    pub fn messages(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges.iter().map(|range| &self.bytes[range.clone()])
    }
}
