//! The time in calls by communicator and by peer.
//!
//! A call that names a communicator counts for it, one that names a peer as well (a send its destination, a receive its source) for the peer.
//! The time of a call that waits for requests is divided equally among those that it is given, and each part counts for what that request
//! was started for.

use crate::mpi::handle::{Handle, HandleMap, KEYS};
use crate::mpi::sys::*;
use crate::operations::state::shared;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of lines by communicator, the last for all that have no line of their own.
const LINES: usize = 12;
/// Words of a line's name.
const NAME: usize = 6;
/// The number of words of all lines.
const WORDS_OF_LINES: usize = LINES * (NAME + 2);

/// The calls on the communicators of a name and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Name and number of ranks.
    pub(crate) name: String,
    pub(crate) calls: u64,
    pub(crate) nanoseconds: u64,
}

/// What a message or collective is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    line: usize,
    /// Rank in `MPI_COMM_WORLD`.
    peer: Option<usize>,
}

pub(super) struct Tables {
    lines: Vec<Line>,
    /// Nanoseconds with each rank.
    peers: Vec<u64>,
    /// Requests that have not completed.
    requests: HandleMap<Subject>,
}

pub(super) static TABLES: Mutex<Tables> =
    Mutex::new(Tables { lines: Vec::new(), peers: Vec::new(), requests: HandleMap::with_hasher(KEYS) });

fn tables() -> MutexGuard<'static, Tables> {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn prepare(ranks: c_int) {
    tables().peers = vec![0; usize::try_from(ranks).unwrap_or(0)];
}

impl Tables {
    pub(super) fn peers(&self) -> &[u64] {
        &self.peers
    }

    /// The line of this name, a new one if there is none yet.
    fn line(&mut self, name: String) -> usize {
        if let Some(at) = self.lines.iter().position(|line| line.name == name) {
            return at;
        }
        let name = match self.lines.len() {
            LINES.. => return LINES - 1,
            len if len == LINES - 1 => "others".to_owned(),
            _ => name,
        };
        self.lines.push(Line { name, calls: 0, nanoseconds: 0 });
        self.lines.len() - 1
    }

    fn charge(&mut self, subject: Subject, calls: u64, nanoseconds: u64) {
        if let Some(line) = self.lines.get_mut(subject.line) {
            line.calls += calls;
            line.nanoseconds = line.nanoseconds.saturating_add(nanoseconds);
        }
        if let Some(peer) = subject.peer.and_then(|peer| self.peers.get_mut(peer)) {
            *peer = peer.saturating_add(nanoseconds);
        }
    }

    pub(super) fn words(&self) -> Vec<u64> {
        let mut words = Vec::with_capacity(WORDS_OF_LINES);
        for Line { name, calls, nanoseconds } in &self.lines {
            let mut bytes = [0; NAME * 8];
            bytes.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
            words.extend(
                bytes.chunks_exact(8).filter_map(|word| word.try_into().ok().map(u64::from_ne_bytes)),
            );
            words.extend([*calls, *nanoseconds]);
        }
        words.resize(WORDS_OF_LINES, 0);
        words
    }
}

/// The lines in the words of all ranks; those of the same name are summed up.
pub(crate) fn lines(words: &[u64]) -> Vec<Line> {
    let mut sum: Vec<Line> = Vec::new();
    for line in words.chunks_exact(NAME + 2) {
        let (name, counts) = line.split_at(NAME);
        let bytes: Vec<u8> =
            name.iter().flat_map(|word| word.to_ne_bytes()).filter(|byte| *byte != 0).collect();
        let (name, &[calls, nanoseconds]) = (String::from_utf8_lossy(&bytes), counts) else { continue };
        match sum.iter_mut().find(|line| line.name == name) {
            Some(line) => {
                line.calls = line.calls.saturating_add(calls);
                line.nanoseconds = line.nanoseconds.saturating_add(nanoseconds);
            }
            None if calls > 0 => sum.push(Line { name: name.into_owned(), calls, nanoseconds }),
            None => {}
        }
    }
    sum
}

/// A communicator's name, as the program or the MPI has set it, and its number of ranks; short enough for a line.
fn name(comm: MPI_Comm, ranks: c_int) -> String {
    // SAFETY: the caller's communicator, and room for the longest name.
    let name = written(|name, len| unsafe { PMPI_Comm_get_name(comm, name, len) }).unwrap_or_default();
    let printable = |char: char| if char.is_control() { '?' } else { char };
    let mut text: String = name.chars().map(printable).collect();
    let ranks = format!(", {ranks} ranks");
    while text.len() + ranks.len() > NAME * 8 {
        text.pop();
    }
    if text.is_empty() {
        text.push_str("unnamed");
    }
    text + &ranks
}

/// What a call is about.
pub(super) enum About {
    Nothing,
    Message(Subject),
    /// The request is stored here.
    Start(Subject, *mut MPI_Request),
    /// For each request its key at the beginning of the call, and where the call stores the handle.
    Requests(Vec<(usize, *mut MPI_Request)>),
}

impl About {
    pub(super) fn with(comm: MPI_Comm, peer: c_int) -> Self {
        let Some(peers) = shared().and_then(|shim| shim.all_peers(comm)) else { return Self::Nothing };
        let line = *peers.line.get_or_init(|| {
            let name = name(comm, peers.size());
            tables().line(name)
        });
        Self::Message(Subject { line, peer: usize::try_from(peers.world_rank(peer)).ok() })
    }

    pub(super) fn start(&mut self, request: *mut MPI_Request) {
        if let Self::Message(subject) = *self
            && !request.is_null()
        {
            *self = Self::Start(subject, request);
        }
    }

    /// # Safety
    /// There must be `count` requests there, now and when [`charge`](Self::charge) is called.
    pub(super) unsafe fn requests(count: c_int, requests: *mut MPI_Request) -> Self {
        let count = if requests.is_null() { 0 } else { usize::try_from(count).unwrap_or(0) };
        // SAFETY: the caller vouches for the requests.
        let each = (0..count).map(|at| unsafe { requests.add(at) });
        // SAFETY: as above.
        let given = each.map(|place| (unsafe { place.read() }.key(), place));
        Self::Requests(given.filter(|(key, _)| *key != REQUEST_NULL.key()).collect())
    }

    /// Adds the time of the call.
    pub(super) fn charge(self, nanoseconds: u64) {
        match self {
            Self::Nothing => {}
            Self::Message(subject) => tables().charge(subject, 1, nanoseconds),
            Self::Start(subject, request) => {
                let mut tables = tables();
                tables.charge(subject, 1, nanoseconds);
                // SAFETY: the call has stored the handle of a request there.
                tables.requests.insert(unsafe { request.read() }.key(), subject);
            }
            Self::Requests(given) => {
                let mut tables = tables();
                let part = nanoseconds / (given.len() as u64).max(1);
                for (key, place) in given {
                    // SAFETY: the caller of `requests` vouches for them.
                    let is_complete = unsafe { place.read() }.key() == REQUEST_NULL.key();
                    let known = if is_complete {
                        tables.requests.remove(&key)
                    } else {
                        tables.requests.get(&key).copied()
                    };
                    if let Some(subject) = known {
                        tables.charge(subject, 0, part);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Tables {
        Tables { lines: Vec::new(), peers: vec![0; 4], requests: HandleMap::default() }
    }

    #[test]
    fn lines_of_all_ranks_are_summed_up_by_name() {
        let (mut here, mut there) = (tables(), tables());
        let world = here.line("MPI_COMM_WORLD, 4 ranks".into());
        here.charge(Subject { line: world, peer: Some(3) }, 1, 500);
        here.charge(Subject { line: world, peer: None }, 0, 70);
        for name in ["row, 2 ranks", "MPI_COMM_WORLD, 4 ranks"] {
            let line = there.line(name.into());
            there.charge(Subject { line, peer: Some(4) }, 2, 30);
        }
        assert_eq!(here.peers(), [0, 0, 0, 500]);
        assert_eq!(there.peers(), [0; 4]);
        let line = |name: &str, calls, nanoseconds| Line { name: name.into(), calls, nanoseconds };
        let sum = lines(&[here.words(), there.words()].concat());
        assert_eq!(sum, [line("MPI_COMM_WORLD, 4 ranks", 3, 600), line("row, 2 ranks", 2, 30)]);
    }

    #[test]
    fn communicators_without_a_line_share_the_last() {
        let mut tables = tables();
        let lines: Vec<_> = (0..LINES + 5).map(|at| tables.line(format!("number {at}"))).collect();
        assert_eq!(
            lines[LINES - 2..],
            [LINES - 2, LINES - 1, LINES - 1, LINES - 1, LINES - 1, LINES - 1, LINES - 1]
        );
        assert_eq!(tables.lines[LINES - 1].name, "others");
        assert_eq!(tables.words().len(), WORDS_OF_LINES);
    }
}
