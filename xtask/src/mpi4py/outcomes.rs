//! The outcome of each test on each rank, and the differences between two runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The maximum number of differences that are listed.
const NAMED: usize = 8;

/// The outcome of every test, by rank. A test that was not started has none.
#[derive(Debug)]
pub(super) struct Outcomes(Vec<BTreeMap<String, String>>);

impl Outcomes {
    /// Parses the lines that `record.py` wrote, rank by rank. `Err` lists the ranks that did not finish, with their last action.
    pub(super) fn read(ranks: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut all, mut stuck) = (Vec::new(), Vec::new());
        for (rank, lines) in ranks.enumerate() {
            let mut outcomes = BTreeMap::<String, String>::new();
            let mut last = "nothing";
            for (outcome, test) in lines.lines().filter_map(|line| line.split_once('\t')) {
                last = test;
                if outcome == "start" {
                    continue;
                }
                // Several parts of a test may fail, and its cleanup.
                outcomes
                    .entry(test.to_owned())
                    .and_modify(|before| *before = format!("{before}, {outcome}"))
                    .or_insert_with(|| outcome.to_owned());
            }
            if lines.lines().next_back() != Some("end") {
                stuck.push(format!("rank {rank} came to {last}"));
            }
            all.push(outcomes);
        }
        if stuck.is_empty() {
            Ok(Self(all))
        } else {
            Err(format!("the suite did not end: {}", stuck.join("; ")))
        }
    }

    /// The number of outcomes.
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(BTreeMap::len).sum()
    }
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds = BTreeMap::<&str, usize>::new();
        for outcome in self.0.iter().flat_map(BTreeMap::values) {
            let kind = outcome.split(':').next().unwrap_or(outcome);
            *kinds.entry(kind).or_default() += 1;
        }
        let kinds = kinds.iter().map(|(kind, count)| format!("{count} {kind}"));
        f.write_str(&kinds.collect::<Vec<_>>().join(", "))
    }
}

/// `Err` lists the tests whose outcome differs under mpress.
pub(super) fn compare(without: &Outcomes, with: &Outcomes) -> Result<(), String> {
    if without.count() == 0 {
        return Err("there are no tests".to_owned());
    }
    let mut different = Vec::new();
    for (rank, (without, with)) in without.0.iter().zip(&with.0).enumerate() {
        let tests: BTreeSet<_> = without.keys().chain(with.keys()).collect();
        for test in tests {
            let of = |run: &BTreeMap<String, String>| run.get(test).cloned().unwrap_or("not run".to_owned());
            let (without, with) = (of(without), of(with));
            if without != with {
                different.push(format!("rank {rank}: {test}: {without} without mpress, {with} with it"));
            }
        }
    }
    if different.is_empty() {
        return Ok(());
    }
    let named = different.iter().take(NAMED).cloned().collect::<Vec<_>>().join("\n");
    Err(format!("{} tests end in another way\n{named}", different.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ranks: &[&str]) -> Result<Outcomes, String> {
        Outcomes::read(ranks.iter().map(ToString::to_string))
    }

    #[test]
    fn a_difference_is_named() {
        let run = "start\ta\npassed\ta\nstart\tb\nskipped: mpich\tb\nend\n";
        let plain = read(&[run, run]).unwrap();
        assert_eq!(plain.to_string(), "2 passed, 2 skipped");
        assert_eq!(compare(&plain, &read(&[run, run]).unwrap()), Ok(()));
        let other = read(&[run, "start\ta\nfailed\ta\nend\n"]).unwrap();
        assert_eq!(
            compare(&plain, &other).unwrap_err(),
            "2 tests end in another way\nrank 1: a: passed without mpress, failed with it\n\
             rank 1: b: skipped: mpich without mpress, not run with it"
        );
        assert!(compare(&read(&["end\n"]).unwrap(), &read(&["end\n"]).unwrap()).is_err());
    }

    #[test]
    fn every_part_of_a_test_counts() {
        let twice = read(&["start\ta\nfailed\ta\nerror\ta\nend\n"]).unwrap();
        let once = read(&["start\ta\nfailed\ta\nend\n"]).unwrap();
        assert!(compare(&once, &twice).is_err());
    }

    #[test]
    fn a_rank_that_does_not_come_to_the_end_is_named() {
        let error = read(&["start\ta\npassed\ta\nend\n", "start\ta\npassed\ta\nstart\tb\n", ""]).unwrap_err();
        assert_eq!(error, "the suite did not end: rank 1 came to b; rank 2 came to nothing");
    }
}
