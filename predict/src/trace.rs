//! The text format of traces of receive calls: a header line, and one line per call of a rank.

use crate::Tag;
use core::fmt;
use core::str::FromStr;

/// The column names: the first line of a trace.
pub const COLUMNS: &str = "seq,callsite,source,tag,count,datatype,buf,comm,kind";

/// The maximum number of calls in a trace: `mpress predict` reads no more, and the recorder writes no more.
pub const MOST_CALLS: usize = 1 << 24;

/// The line of a call. `Display` writes the format that [`parse`](Line::parse) reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Number of the call within the rank.
    pub seq: u64,
    /// Return address of the call, relative to the program's load address.
    pub site: Tag,
    /// Rank in the communicator; -1 is `MPI_ANY_SOURCE`, -2 is `MPI_PROC_NULL`.
    pub source: i32,
    /// Tag of the message; -1 is `MPI_ANY_TAG`.
    pub tag: i32,
    /// The maximum number of elements.
    pub count: u64,
    /// MPI's name of the datatype; `derivedN` for an unnamed one of N bytes.
    pub datatype: &'a str,
    /// Address of the receive buffer.
    pub buffer: u64,
    /// A small number for each communicator; 0 is `MPI_COMM_WORLD`.
    pub comm: u32,
    /// The kind of call.
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
    /// The start of a persistent receive
    Start,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Recv, Self::Irecv, Self::Sendrecv, Self::Start];

    /// The name in a trace.
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

/// Why a line is not a valid call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineError {
    /// The line has this number of columns instead of nine.
    Columns(usize),
    /// The value in this column is invalid.
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
    /// Parses a line, without its line end.
    ///
    /// # Errors
    /// If there are not nine columns, or a value is invalid.
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

/// Parses a hexadecimal number after `0x`; C programs print null pointers as `(nil)`.
fn address(text: &str, column: &'static str) -> Result<u64, LineError> {
    if text == "(nil)" {
        return Ok(0);
    }
    // `from_str_radix` would accept a sign.
    let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
    let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.ok_or(LineError::Column(column))
}
