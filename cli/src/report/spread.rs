//! How much the times of several runs of the same job differ, and whether they can be compared.

use super::Named;
use super::tables::{NONE, Table};
use super::units::{count, fixed};

/// The fraction by which runs of the same job may differ in what they send.
const LIKE: f64 = 0.05;

/// The runs of the same program on the same number of ranks and nodes, with the same strategy.
struct Group<'a> {
    first: &'a Named,
    /// Seconds, the fewest first.
    seconds: Vec<f64>,
    /// The least and the most raw bytes, and messages, of a run.
    sent: [[u64; 2]; 2],
}

impl Group<'_> {
    fn is_of(&self, other: &Named) -> bool {
        self.is_like(other) && self.first.report.job.strategy == other.report.job.strategy
    }

    /// Whether it is the same job, perhaps with another strategy.
    fn is_like(&self, other: &Named) -> bool {
        let job = |named: &Named| {
            let job = &named.report.job;
            (job.program.clone(), job.ranks, job.nodes)
        };
        job(self.first) == job(other)
    }

    /// The least, the median and the most seconds.
    fn range(&self) -> [f64; 3] {
        let at = |at: usize| self.seconds.get(at).copied().unwrap_or(0.0);
        let last = self.seconds.len().saturating_sub(1);
        [at(0), at(last / 2) / 2.0 + at(last.div_ceil(2)) / 2.0, at(last)]
    }

    /// What the runs sent, if it is too unlike for the same job: as a few words.
    fn differs(&self) -> Option<String> {
        let [bytes, messages] = self.sent;
        let is_unlike = |[least, most]: [u64; 2]| most as f64 > least as f64 * (1.0 + LIKE);
        let range =
            |[least, most]: [u64; 2], of: &str| format!("from {} to {} {of}", count(least), count(most));
        if is_unlike(bytes) {
            Some(range(bytes, "raw bytes"))
        } else if is_unlike(messages) {
            Some(range(messages, "messages"))
        } else {
            None
        }
    }

    fn name(&self) -> String {
        let job = &self.first.report.job;
        format!("{} with {}", job.program, job.strategy)
    }
}

/// The groups, in the order of their first runs.
fn groups(reports: &[Named]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for named in reports {
        let (seconds, total) = (named.report.job.seconds, &named.report.total);
        let sent = [total.raw_bytes, total.messages];
        match groups.iter_mut().find(|group| group.is_of(named)) {
            Some(group) => {
                group.seconds.push(seconds);
                for ([least, most], sent) in group.sent.iter_mut().zip(sent) {
                    (*least, *most) = ((*least).min(sent), (*most).max(sent));
                }
            }
            None => {
                groups.push(Group { first: named, seconds: vec![seconds], sent: sent.map(|sent| [sent; 2]) })
            }
        }
    }
    groups.iter_mut().for_each(|group| group.seconds.sort_by(f64::total_cmp));
    groups
}

/// A line for each group. A speedup is relative to the first group: that of the medians, and those of the slowest and
/// the fastest run against the fastest and the slowest one there.
pub(super) fn spread(reports: &[Named]) -> Table {
    let groups = groups(reports);
    let base = groups.first().map_or([0.0; 3], Group::range);
    let row = |group: &Group<'_>| {
        let job = &group.first.report.job;
        let [least, median, most] = group.range();
        let speedup = |of: f64, by: f64| if of > 0.0 && by > 0.0 { fixed(of / by) } else { NONE.into() };
        let mut row = vec![job.program.clone(), job.strategy.clone(), group.seconds.len().to_string()];
        row.extend([median, least, most].map(fixed));
        row.extend([speedup(base[1], median), speedup(base[0], most), speedup(base[2], least)]);
        row
    };
    Table {
        title: "Runs of the same program, ranks, nodes and strategy, against those of the first line".into(),
        columns: vec![
            "program",
            "strategy",
            "runs",
            "median s",
            "least s",
            "most s",
            "speedup",
            "speedup from",
            "to",
        ],
        names: 2,
        rows: groups.iter().map(row).collect(),
        has_total: false,
    }
}

/// What keeps the times of the groups from being compared, a line each.
pub(super) fn warnings(reports: &[Named]) -> Vec<String> {
    let groups = groups(reports);
    let Some((first, others)) = groups.split_first() else { return Vec::new() };
    let mut warnings = Vec::new();
    for group in groups.iter().filter(|group| group.seconds.len() == 1) {
        warnings.push(format!("{}: a single run; its time may be chance", group.name()));
    }
    for group in &groups {
        if let Some(sent) = group.differs() {
            warnings.push(format!("{}: its runs sent {sent}; perhaps they had unlike inputs", group.name()));
        }
    }
    for group in others {
        if !first.is_like(group.first) {
            let what = "another program, or other ranks or nodes, than the first";
            warnings.push(format!("{}: {what}; its speedup says nothing about mpress", group.name()));
            continue;
        }
        let ([least, _, most], [other_least, _, other_most]) = (first.range(), group.range());
        if group.seconds.len() > 1 && first.seconds.len() > 1 && least <= other_most && other_least <= most {
            warnings.push(format!(
                "{}: its times overlap with those of the first; the difference may be chance",
                group.name()
            ));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpress::report::JobReport;

    fn run(strategy: &str, seconds: f64) -> Named {
        let mut report = JobReport::from_json(include_str!("../../tests/data/report.json")).unwrap();
        report.job.strategy = strategy.into();
        report.job.seconds = seconds;
        Named { file: "f.json".into(), report }
    }

    #[test]
    fn runs_of_the_same_job_are_a_line() {
        let runs =
            [run("off", 4.0), run("adaptive", 2.0), run("off", 5.0), run("off", 4.2), run("adaptive", 2.4)];
        let table = spread(&runs);
        let rows: Vec<_> = table.rows.iter().map(|row| row.join(" ")).collect();
        assert_eq!(
            rows,
            [
                "lulesh2.0 off 3 4.200 4.000 5.000 1.000 0.800 1.250",
                "lulesh2.0 adaptive 2 2.200 2.000 2.400 1.909 1.667 2.500"
            ]
        );
        assert_eq!(warnings(&runs), Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_compared_is_said() {
        let said = |runs: &[Named]| warnings(runs).join("\n");
        let single = said(&[run("off", 4.0), run("adaptive", 2.0)]);
        assert_eq!(single.matches("a single run").count(), 2, "{single}");
        let overlap = [run("off", 4.0), run("off", 4.4), run("adaptive", 4.1), run("adaptive", 3.0)];
        assert_eq!(said(&overlap).lines().count(), 1);
        assert!(said(&overlap).contains("adaptive: its times overlap"));
        let inputs = |bytes: u64, messages: u64| {
            let mut last = run("off", 4.4);
            let total = &mut last.report.total;
            (total.raw_bytes, total.messages) =
                (total.raw_bytes * bytes / 100, total.messages * messages / 100);
            said(&[run("off", 4.0), last])
        };
        assert_eq!([inputs(100, 100), inputs(104, 97)], ["", ""]);
        assert!(inputs(110, 100).contains("off: its runs sent from 33,413,416 to 36,754,757 raw bytes"));
        assert!(inputs(100, 50).contains("off: its runs sent from 1,748 to 3,497 messages"));
        let mut other = run("adaptive", 2.0);
        other.report.job.ranks = 16;
        let unlike = said(&[run("off", 4.0), run("off", 4.4), other]);
        assert!(unlike.contains("other ranks"), "{unlike}");
        assert_eq!(warnings(&[]), Vec::<String>::new());
    }
}
