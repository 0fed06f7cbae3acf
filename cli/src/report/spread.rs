//! How much the times of several runs of the same job differ, and whether they can be compared.

use super::Named;
use super::tables::{NONE, Table};
use super::units::fixed;

/// The runs of the same program on the same number of ranks and nodes, with the same strategy.
struct Group<'a> {
    first: &'a Named,
    /// Seconds, the fewest first.
    seconds: Vec<f64>,
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

    fn name(&self) -> String {
        let job = &self.first.report.job;
        format!("{} with {}", job.program, job.strategy)
    }
}

/// The groups, in the order of their first runs.
fn groups(reports: &[Named]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for named in reports {
        let seconds = named.report.job.seconds;
        match groups.iter_mut().find(|group| group.is_of(named)) {
            Some(group) => group.seconds.push(seconds),
            None => groups.push(Group { first: named, seconds: vec![seconds] }),
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
        title: "Runs of the same job: median, least and most seconds, and speedups".into(),
        columns: vec!["program", "strategy", "runs", "seconds", "least", "most", "speedup", "least", "most"],
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
        let mut other = run("adaptive", 2.0);
        other.report.job.ranks = 16;
        let unlike = said(&[run("off", 4.0), run("off", 4.4), other]);
        assert!(unlike.contains("other ranks"), "{unlike}");
        assert_eq!(warnings(&[]), Vec::<String>::new());
    }
}
