//! The time in calls by call, by communicator and by peer, counted by each rank and combined for [`InMpi`](super::InMpi).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// The number of lines by communicator; the last is for all communicators without a line of their own.
const LINES: usize = 12;
/// Words of a line's name.
const NAME: usize = 6;
/// The number of words of all lines.
const WORDS_OF_LINES: usize = LINES * (NAME + 2);

/// The calls on the communicators with the same name and size.
#[derive(Clone, Debug)]
struct Line {
    name: String,
    calls: u64,
    nanoseconds: u64,
}

/// The communicator and the peer of a call.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The line of its communicator ([`Tables::line`]).
    pub line: usize,
    /// The rank in `MPI_COMM_WORLD` to which it sends, or from which it receives, if it names one.
    pub peer: Option<usize>,
}

/// The calls of one rank.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    lines: Vec<Line>,
    /// Nanoseconds with each rank.
    peers: Vec<u64>,
    /// The numbers of calls, and the nanoseconds in them.
    calls: [Vec<u64>; 2],
    /// The subjects of the requests that have not completed, by their keys. The map keeps its allocation: requests come and go with each message.
    requests: HashMap<usize, Subject, BuildHasherDefault<DefaultHasher>>,
}

impl Tables {
    /// Empty tables.
    #[must_use]
    pub const fn new() -> Self {
        let calls = [Vec::new(), Vec::new()];
        let requests = HashMap::with_hasher(BuildHasherDefault::new());
        Self { lines: Vec::new(), peers: Vec::new(), calls, requests }
    }

    /// Makes room for this number of different calls, and for peers of a job of this number of ranks; other calls and peers are not counted.
    pub fn prepare(&mut self, calls: usize, ranks: usize) {
        self.calls = [vec![0; calls], vec![0; calls]];
        self.peers = vec![0; ranks];
    }

    /// Counts a call, and its nanoseconds.
    pub fn called(&mut self, call: usize, nanoseconds: u64) {
        for (counts, by) in self.calls.iter_mut().zip([1, nanoseconds]) {
            if let Some(count) = counts.get_mut(call) {
                *count = count.saturating_add(by);
            }
        }
    }

    /// The line for a communicator of this name and number of ranks. The name is shortened. Communicators with the same name and number share a line;
    /// when only one line is left, all further ones share it.
    pub fn line(&mut self, name: &str, ranks: usize) -> usize {
        let name = named(name, ranks);
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

    /// Adds this number of calls, and nanoseconds in them.
    pub fn charge(&mut self, subject: Subject, calls: u64, nanoseconds: u64) {
        if let Some(line) = self.lines.get_mut(subject.line) {
            line.calls += calls;
            line.nanoseconds = line.nanoseconds.saturating_add(nanoseconds);
        }
        if let Some(peer) = subject.peer.and_then(|peer| self.peers.get_mut(peer)) {
            *peer = peer.saturating_add(nanoseconds);
        }
    }

    /// Notes what a new request is about.
    pub fn started(&mut self, subject: Subject, request: usize) {
        self.requests.insert(request, subject);
    }

    /// Divides the nanoseconds of a call that waited for these requests equally among those that are known. Each request comes with whether it has
    /// completed.
    pub fn waited(&mut self, requests: impl Iterator<Item = (usize, bool)>, nanoseconds: u64) {
        let known = requests.filter_map(|(request, is_complete)| match is_complete {
            true => self.requests.remove(&request),
            false => self.requests.get(&request).copied(),
        });
        let known: Vec<_> = known.collect();
        for &subject in &known {
            self.charge(subject, 0, nanoseconds / known.len() as u64);
        }
    }

    /// The numbers of calls, and the nanoseconds in them, to be summed over the ranks.
    #[must_use]
    pub fn calls(&self) -> [Vec<u64>; 2] {
        self.calls.clone()
    }

    /// The nanoseconds with each rank, to be summed over the ranks.
    #[must_use]
    pub fn peers(&self) -> &[u64] {
        &self.peers
    }

    /// The lines as words, the same number on all ranks, to be gathered for [`communicators`].
    #[must_use]
    pub fn words(&self) -> Vec<u64> {
        let mut words = Vec::with_capacity(WORDS_OF_LINES);
        for Line { name, calls, nanoseconds } in &self.lines {
            let mut bytes = [0; NAME * 8];
            bytes.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
            words.extend(bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)));
            words.extend([*calls, *nanoseconds]);
        }
        words.resize(WORDS_OF_LINES, 0);
        words
    }
}

/// For each line in the words of all ranks, its name, number of calls and nanoseconds; lines with the same name are summed.
#[must_use]
pub fn communicators(words: &[u64]) -> Vec<(String, u64, u64)> {
    let mut sum: Vec<(String, u64, u64)> = Vec::new();
    for line in words.chunks_exact(NAME + 2) {
        let (name, counts) = line.split_at(NAME);
        let bytes: Vec<u8> =
            name.iter().flat_map(|word| word.to_ne_bytes()).filter(|byte| *byte != 0).collect();
        let (name, &[calls, nanoseconds]) = (String::from_utf8_lossy(&bytes), counts) else { continue };
        match sum.iter_mut().find(|line| line.0 == name) {
            Some((_, all, time)) => {
                *all = all.saturating_add(calls);
                *time = time.saturating_add(nanoseconds);
            }
            None if calls > 0 => sum.push((name.into_owned(), calls, nanoseconds)),
            None => {}
        }
    }
    sum
}

/// A communicator's name, as the program or the MPI has set it, and its number of ranks; short enough for a line.
fn named(name: &str, ranks: usize) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Tables {
        let mut tables = Tables::new();
        tables.prepare(2, 4);
        tables
    }

    #[test]
    fn lines_of_all_ranks_are_summed_up_by_name() {
        let (mut here, mut there) = (tables(), tables());
        let world = here.line("MPI_COMM_WORLD", 4);
        here.charge(Subject { line: world, peer: Some(3) }, 1, 500);
        here.charge(Subject { line: world, peer: None }, 0, 70);
        for (name, ranks) in [("row", 2), ("MPI_COMM_WORLD", 4)] {
            let line = there.line(name, ranks);
            there.charge(Subject { line, peer: Some(4) }, 2, 30);
        }
        assert_eq!(here.peers(), [0, 0, 0, 500]);
        assert_eq!(there.peers(), [0; 4]);
        let sum = communicators(&[here.words(), there.words()].concat());
        assert_eq!(sum, [("MPI_COMM_WORLD, 4 ranks".into(), 3, 600), ("row, 2 ranks".into(), 2, 30)]);
    }

    #[test]
    fn the_time_of_a_wait_is_divided_among_its_requests() {
        let mut tables = tables();
        let line = tables.line("row", 4);
        for peer in [1, 2] {
            tables.started(Subject { line, peer: Some(peer) }, 10 * peer);
        }
        for nanoseconds in [90, 30] {
            tables.waited([(10, true), (20, false), (30, true)].into_iter(), nanoseconds);
        }
        // One was never heard of.
        assert_eq!(tables.peers(), [0, 45, 45 + 30, 0]);
        tables.called(1, 90);
        tables.called(2, 5);
        assert_eq!(tables.calls(), [[0, 1], [0, 90]]);
    }

    #[test]
    fn communicators_without_a_line_share_the_last() {
        let mut tables = tables();
        let lines: Vec<_> = (0..LINES + 5).map(|at| tables.line(&format!("number {at}"), 2)).collect();
        assert_eq!(
            lines[LINES - 2..],
            [LINES - 2, LINES - 1, LINES - 1, LINES - 1, LINES - 1, LINES - 1, LINES - 1]
        );
        assert_eq!(tables.lines[LINES - 1].name, "others");
        assert_eq!(tables.words().len(), WORDS_OF_LINES);
    }

    #[test]
    fn a_name_fits_its_words() {
        assert_eq!(named("", 3), "unnamed, 3 ranks");
        assert_eq!(named("a\nb", 1), "a?b, 1 ranks");
        let long = named(&"ä".repeat(100), 12);
        assert!(long.len() <= NAME * 8 && long.starts_with('ä') && long.ends_with("ä, 12 ranks"), "{long}");
    }
}
