//! Traces of receive calls: grouping of files by run, and their contents.

use super::Error;
use crate::replay::datatype;
use flate2::bufread::MultiGzDecoder;
use mpress_predict::trace::{COLUMNS, Line, MOST_CALLS};
use mpress_predict::{Envelope, Id, Interner, Tag};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The maximum number of different messages in a file.
const MOST_IDS: Id = 1 << 18;
/// The maximum number of different call sites, and of datatype names, in a file.
const MOST_NAMES: usize = 1 << 16;
/// The maximum length of a line in bytes.
const LONGEST_LINE: u64 = 1 << 10;

/// A run: the program (with its class, if it has one) and the number of ranks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    pub(super) app: String,
    pub(super) ranks: u32,
}

impl Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.app, self.ranks)
    }
}

/// The files of each run, by rank.
pub(super) type Runs = BTreeMap<Run, BTreeMap<u32, PathBuf>>;

/// The calls of a rank.
#[derive(Default)]
pub(super) struct Calls {
    // Six bytes of memory for each of at most `MOST_CALLS`.
    ids: Vec<Id>,
    /// The index of the call site in `sites`.
    sites_of: Vec<u16>,
    sites: Vec<Tag>,
    /// The message of each number.
    pub(super) messages: Vec<Envelope>,
    /// The length in bytes of the receive buffer of each; `None` if the size of its datatype is not known.
    buffers: Vec<Option<u64>>,
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The message of a call.
    pub(super) fn id(&self, call: u32) -> Option<Id> {
        self.ids.get(call as usize).copied()
    }

    /// A number for the site of a call.
    pub(super) fn site(&self, call: u32) -> Option<u16> {
        self.sites_of.get(call as usize).copied()
    }

    /// The number of calls that name their source, with a buffer of at least this length in bytes.
    pub(super) fn long(&self, least: u64) -> usize {
        let is_long: Vec<_> = self
            .messages
            .iter()
            .zip(&self.buffers)
            .map(|(message, buffer)| message.source >= 0 && buffer.is_some_and(|len| len >= least))
            .collect();
        self.ids.iter().filter(|id| is_long.get(**id as usize).copied().unwrap_or(false)).count()
    }

    /// The calls, grouped by site, in their order.
    pub(super) fn by_site(&self) -> Vec<u32> {
        let mut calls: Vec<_> = (0..self.len() as u32).collect();
        calls.sort_unstable_by_key(|call| (self.site(*call), *call));
        calls
    }

    /// Call sites and messages, starting at a call.
    pub(super) fn from(&self, start: usize) -> impl Iterator<Item = (Tag, Id)> {
        let sites = self.sites_of.iter().map(|site| self.sites.get(usize::from(*site)).copied().unwrap_or(0));
        sites.zip(self.ids.iter().copied()).skip(start)
    }
}

/// Sorts files, and those in folders, by run and rank.
pub(super) fn find(paths: &[PathBuf]) -> Result<Runs, Error> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let inside = entries.map_err(|error| wrong(path, error))?;
            for file in inside.iter().map(fs::DirEntry::path).filter(|path| named(path).is_some()) {
                if is_other(&file) {
                    eprintln!("mpress: {}: passed over, as it is not a regular file", file.display());
                } else {
                    files.push(file);
                }
            }
        } else if is_other(path) {
            return Err(wrong(path, "not a regular file"));
        } else {
            files.push(path.clone());
        }
    }
    let mut runs = Runs::new();
    for file in files {
        let (run, rank) = named(&file).ok_or_else(|| {
            wrong(&file, "the name of a trace is APP.CLASS.NPROCS.rRANK.csv.gz or APP.NPROCS.rRANK.csv.gz")
        })?;
        if let Some(other) = runs.entry(run).or_default().insert(rank, file.clone()) {
            return Err(wrong(&file, format_args!("of the same run and rank as {}", other.display())));
        }
    }
    if runs.is_empty() {
        return Err(Error::NoTraces);
    }
    Ok(runs)
}

/// Whether it exists and is not a regular file: opening a pipe would wait for a writer, and a device may have no end.
fn is_other(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// Run and rank, from the name of the file.
fn named(path: &Path) -> Option<(Run, u32)> {
    let name = path.file_name().and_then(OsStr::to_str)?.strip_suffix(".csv.gz")?;
    let (run, rank) = name.rsplit_once(".r")?;
    let (app, ranks) = run.rsplit_once('.')?;
    let (rank, ranks) = (rank.parse().ok()?, ranks.parse().ok()?);
    (!app.is_empty() && rank < ranks).then(|| (Run { app: app.to_owned(), ranks }, rank))
}

/// Reads the calls of a rank.
pub(super) fn read(path: &Path) -> Result<Calls, Error> {
    let file = File::open(path).map_err(|error| wrong(path, error))?;
    let mut lines =
        Lines { source: BufReader::new(MultiGzDecoder::new(BufReader::new(file))), line: Vec::new() };
    let mut number = 1;
    parse(&mut lines, &mut number).map_err(|why| match why {
        Why::Line(why) => wrong(path, format_args!("line {number}: {why}")),
        Why::Source(error) => wrong(path, unpacking(&error)),
    })
}

/// Why a file cannot be read: an invalid line, or an I/O error.
enum Why {
    Line(String),
    Source(std::io::Error),
}

fn unpacking(error: &std::io::Error) -> String {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        UnexpectedEof => "cut off: the gzip stream has no end".to_owned(),
        InvalidData | InvalidInput => format!("not gzip, or damaged ({error})"),
        _ => error.to_string(),
    }
}

fn parse<R: BufRead>(lines: &mut Lines<R>, number: &mut u64) -> Result<Calls, Why> {
    let bad = |why: &dyn Display| Why::Line(why.to_string());
    if lines.next()? != Some(COLUMNS) {
        return Err(bad(&format_args!("the names of the columns are expected here: {COLUMNS}")));
    }
    let mut calls = Calls::default();
    let mut ids = Interner::new(MOST_IDS);
    let mut sites: BTreeMap<Tag, u16> = BTreeMap::new();
    let mut datatypes: BTreeMap<String, u32> = BTreeMap::new();
    let mut last = None;
    loop {
        *number += 1;
        let Some(text) = lines.next()? else { return Ok(calls) };
        let line = Line::parse(text).map_err(|why| bad(&why))?;
        if last.is_some_and(|last| last >= line.seq) {
            return Err(bad(&"the calls are out of order (column seq)"));
        }
        last = Some(line.seq);
        if calls.len() == MOST_CALLS {
            return Err(bad(&format_args!("more than {MOST_CALLS} calls are not read")));
        }
        let of_datatype = match datatypes.get(line.datatype) {
            Some(number) => *number,
            None => {
                let next = u32::try_from(datatypes.len()).ok().filter(|_| datatypes.len() < MOST_NAMES);
                let next = next.ok_or_else(|| bad(&format_args!("more than {MOST_NAMES} datatypes")))?;
                datatypes.insert(line.datatype.to_owned(), next);
                next
            }
        };
        let message = Envelope {
            buffer: line.buffer,
            count: line.count,
            source: line.source,
            tag: line.tag,
            datatype: of_datatype,
            comm: line.comm,
        };
        let id = ids
            .intern(message)
            .ok_or_else(|| bad(&format_args!("more than {MOST_IDS} different messages")))?;
        if calls.messages.len() < ids.len() {
            calls.messages.push(message);
            let size = datatype(line.datatype).map(|(_, bytes)| bytes as u64);
            calls.buffers.push(size.map(|bytes| line.count.saturating_mul(bytes)));
        }
        let site = match sites.get(&line.site) {
            Some(site) => *site,
            None => {
                let site = u16::try_from(sites.len());
                let site = site.map_err(|_| bad(&format_args!("more than {MOST_NAMES} call sites")))?;
                sites.insert(line.site, site);
                calls.sites.push(line.site);
                site
            }
        };
        calls.ids.push(id);
        calls.sites_of.push(site);
    }
}

/// Lines of bounded length.
struct Lines<R> {
    source: R,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// The next line without its end; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<&str>, Why> {
        self.line.clear();
        let mut bounded = self.source.by_ref().take(LONGEST_LINE);
        let len = bounded.read_until(b'\n', &mut self.line).map_err(Why::Source)?;
        if len == 0 {
            return Ok(None);
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if len as u64 == LONGEST_LINE {
            return Err(Why::Line(format!("longer than {LONGEST_LINE} bytes")));
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        let text = std::str::from_utf8(&self.line).map_err(|_| Why::Line("not text".to_owned()))?;
        Ok(Some(text))
    }
}

fn wrong(path: &Path, why: impl Display) -> Error {
    Error::Input(format!("{}: {why}", path.display()))
}
