//! The text of traces of receive calls: a line of names, and a line for each call of a rank.

use crate::Tag;
use core::fmt;
use core::str::FromStr;

/// The names of the columns: the first line of a trace.
pub const COLUMNS: &str = "seq,callsite,source,tag,count,datatype,buf,comm,kind";

/// Calls in a trace at most: `mpress predict` reads no more, and the recorder writes no more.
pub const MOST_CALLS: usize = 1 << 24;

/// The line of a call. `Display` writes what [`parse`](Line::parse) reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counts the calls of the rank.
    pub seq: u64,
    /// Return address of the call, from where the program was loaded.
    pub site: Tag,
    /// Rank in the communicator; -1 is `MPI_ANY_SOURCE`, -2 is `MPI_PROC_NULL`.
    pub source: i32,
    /// Tag of the message; -1 is `MPI_ANY_TAG`.
    pub tag: i32,
    /// Elements at most.
    pub count: u64,
    /// MPI's name of the datatype; `derivedN` for an unnamed one of N bytes.
    pub datatype: &'a str,
    /// Address of the receive buffer.
    pub buffer: u64,
    /// A small number for each communicator; 0 is `MPI_COMM_WORLD`.
    pub comm: u32,
    /// Which call it was.
    pub kind: Kind,
}

/// The kinds of receive calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `MPI_Recv`
    Recv,
    /// `MPI_Irecv`
    Irecv,
    /// The receiving half of `MPI_Sendrecv`
    Sendrecv,
    /// A persistent receive that is started
    Start,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Recv, Self::Irecv, Self::Sendrecv, Self::Start];

    /// Its name in a trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recv => "recv",
            Self::Irecv => "irecv",
            Self::Sendrecv => "sendrecv",
            Self::Start => "start",
        }
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seq, site, source, tag, count, datatype, buffer, comm, kind } = self;
        let kind = kind.name();
        write!(f, "{seq},{site:#x},{source},{tag},{count},{datatype},{buffer:#x},{comm},{kind}")
    }
}

/// Why a line is not that of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineError {
    /// It has this many columns instead of nine.
    Columns(usize),
    /// What stands in this column cannot stand there.
    Column(&'static str),
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns(found) => write!(f, "{found} columns instead of 9 ({COLUMNS})"),
            Self::Column(name) => write!(f, "not a value of the column {name}"),
        }
    }
}

impl core::error::Error for LineError {}

impl<'a> Line<'a> {
    /// Reads a line, without the end of line.
    ///
    /// # Errors
    /// If it has not nine columns, or not the values that belong there.
    pub fn parse(line: &'a str) -> Result<Self, LineError> {
        let mut columns = [""; 9];
        let mut found = 0;
        for column in line.split(',') {
            if let Some(place) = columns.get_mut(found) {
                *place = column;
            }
            found += 1;
        }
        if found != columns.len() {
            return Err(LineError::Columns(found));
        }
        let [seq, site, source, tag, count, datatype, buffer, comm, kind] = columns;
        if datatype.is_empty() {
            return Err(LineError::Column("datatype"));
        }
        Ok(Self {
            seq: number(seq, "seq")?,
            site: address(site, "callsite")?,
            source: number(source, "source")?,
            tag: number(tag, "tag")?,
            count: number(count, "count")?,
            datatype,
            buffer: address(buffer, "buf")?,
            comm: number(comm, "comm")?,
            kind: Kind::ALL.into_iter().find(|one| one.name() == kind).ok_or(LineError::Column("kind"))?,
        })
    }
}

fn number<T: FromStr>(text: &str, column: &'static str) -> Result<T, LineError> {
    let number = if text.starts_with('+') { None } else { text.parse().ok() };
    number.ok_or(LineError::Column(column))
}

/// A hexadecimal number after `0x`; null pointers are written `(nil)` by C programs.
fn address(text: &str, column: &'static str) -> Result<u64, LineError> {
    if text == "(nil)" {
        return Ok(0);
    }
    // A sign would be taken for a part of the number.
    let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
    let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.ok_or(LineError::Column(column))
}
