//! The paper's results, for comparison.

use super::input::Run;

/// Table 1: the predictors' memory in messages, for BT and SP with 49 ranks and CG with 64.
const MEMORY: [(&str, [usize; 3]); 4] = [
    ("tagging", [12, 12, 10]),
    ("single-cycle", [43, 43, 138]),
    ("tag-cycle", [60, 72, 40]),
    ("tag-bettercycle", [60, 108, 40]),
];

/// The programs of Table 1, by which their traces are recognised.
const PROGRAMS: [(&str, u32); 3] = [("bt", 49), ("sp", 49), ("cg", 64)];

/// The memory of a predictor for a run in the paper, if it is listed.
pub(super) fn memory(run: &Run, predictor: &str) -> Option<usize> {
    let program = run.app.split('.').next()?.to_lowercase();
    let column = PROGRAMS.iter().position(|known| *known == (program.as_str(), run.ranks))?;
    let (_, row) = MEMORY.iter().find(|(name, _)| *name == predictor)?;
    row.get(column).copied()
}
