//! Comparison of all runs: whether the results are the same, the speedup, and the bytes saved.

use super::{Run, Variant};
use crate::median::median;

/// One program over one link: its runs without and with mpress.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) program: String,
    pub(crate) link: String,
    plain: Vec<Run>,
    mpress: Vec<Run>,
}

impl Case {
    pub(crate) fn new(program: &str, link: &str) -> Self {
        Self { program: program.to_owned(), link: link.to_owned(), plain: Vec::new(), mpress: Vec::new() }
    }

    pub(crate) fn add(&mut self, variant: Variant, run: Run) {
        match variant {
            Variant::Plain => self.plain.push(run),
            Variant::Mpress => self.mpress.push(run),
        }
    }

    fn runs(&self, variant: Variant) -> &[Run] {
        match variant {
            Variant::Plain => &self.plain,
            Variant::Mpress => &self.mpress,
        }
    }

    /// The median time in seconds.
    pub(crate) fn seconds(&self, variant: Variant) -> f64 {
        median(self.runs(variant).iter().map(|run| run.seconds).collect())
    }

    /// The median number of bytes on the wire.
    pub(crate) fn bytes(&self, variant: Variant) -> f64 {
        median(self.runs(variant).iter().map(|run| run.bytes as f64).collect())
    }

    pub(crate) fn speedup(&self) -> f64 {
        self.seconds(Variant::Plain) / self.seconds(Variant::Mpress)
    }

    pub(crate) fn ratio(&self) -> f64 {
        self.bytes(Variant::Plain) / self.bytes(Variant::Mpress)
    }

    /// The report of mpress for a run.
    pub(crate) fn report(&self) -> &str {
        self.mpress.first().map_or("", |run| &run.report)
    }

    /// The digest of all runs, `None` if they differ.
    pub(crate) fn digest(&self) -> Option<&str> {
        let first = &self.plain.first()?.digest;
        let same = self.plain.iter().chain(&self.mpress).all(|run| run.digest == *first);
        same.then_some(first)
    }

    fn digests(&self, variant: Variant) -> String {
        let mut digests: Vec<_> = self.runs(variant).iter().map(|run| run.digest.as_str()).collect();
        digests.sort_unstable();
        digests.dedup();
        digests.join(" and ")
    }
}

/// The closing line about `links`, in their order; as an error if results differ.
pub(crate) fn of(cases: &[Case], links: &[String]) -> Result<String, String> {
    of_results(cases)?;
    let speedups: Vec<_> = links
        .iter()
        .map(|link| {
            let of_link = cases.iter().filter(|case| case.link == *link).map(Case::speedup);
            format!("{:.2} at {link}", geometric_mean(of_link.collect()))
        })
        .collect();
    let total = |variant| cases.iter().map(|case| case.bytes(variant)).sum::<f64>();
    let fewer = total(Variant::Plain) / total(Variant::Mpress);
    Ok(format!("identical results; speedup {}; {fewer:.2} times fewer bytes", speedups.join(", ")))
}

/// Checks that all runs of each program, over all links, gave the same digest; the error names the programs for which they did not.
pub(crate) fn of_results(cases: &[Case]) -> Result<(), String> {
    for case in cases {
        let (plain, mpress) = (case.digests(Variant::Plain), case.digests(Variant::Mpress));
        if case.digest().is_none() {
            return Err(format!("{} at {}: plain {plain}, mpress {mpress}", case.program, case.link));
        }
        if let Some(first) = cases.iter().find(|other| other.program == case.program)
            && first.digest() != case.digest()
        {
            let (here, there) = (&case.link, &first.link);
            return Err(format!(
                "{} at {here}: {plain}, at {there}: {}",
                case.program,
                first.digests(Variant::Plain)
            ));
        }
    }
    Ok(())
}

fn geometric_mean(values: Vec<f64>) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn case(program: &str, link: &str, plain: &[(f64, u64)], mpress: &[(f64, u64)]) -> Case {
        let runs = |runs: &[(f64, u64)]| {
            runs.iter()
                .map(|&(seconds, bytes)| Run {
                    seconds,
                    digest: "ab".to_owned(),
                    bytes,
                    report: String::new(),
                })
                .collect()
        };
        Case { plain: runs(plain), mpress: runs(mpress), ..Case::new(program, link) }
    }

    fn cases() -> Vec<Case> {
        vec![
            case("a", "slow", &[(8.0, 100), (9.0, 90), (7.0, 110)], &[(4.0, 50), (4.0, 50), (9.0, 50)]),
            case("b", "slow", &[(2.0, 100)], &[(4.0, 50)]),
            case("a", "fast", &[(3.0, 100), (5.0, 100)], &[(2.0, 100)]),
            case("b", "fast", &[(2.0, 100)], &[(1.0, 50)]),
        ]
    }

    #[test]
    fn the_geometric_mean_is_that_of_products() {
        assert!((geometric_mean(vec![2.0, 8.0]) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn the_closing_line() {
        let line = of(&cases(), &["slow".to_owned(), "fast".to_owned()]);
        // Slow: 8/4 and 2/4; fast: 4/2 and 2/1; bytes 400 to 250.
        let expected = "identical results; speedup 1.00 at slow, 2.00 at fast; 1.60 times fewer bytes";
        assert_eq!(line.as_deref(), Ok(expected));
    }

    #[test]
    fn one_wrong_run_is_enough() {
        let mut wrong = cases();
        wrong[0].mpress[2].digest = "cd".to_owned();
        assert_eq!(of_results(&wrong).unwrap_err(), "a at slow: plain ab, mpress ab and cd");

        let mut wrong = cases();
        wrong[3].plain[0].digest = "cd".to_owned();
        wrong[3].mpress[0].digest = "cd".to_owned();
        assert_eq!(of_results(&wrong).unwrap_err(), "b at fast: cd, at slow: ab");
    }
}
