//! The predictors over the calls of ranks.

use super::input::{self, Calls, Run};
use super::{Error, Options};
use mpress_predict::{
    Id, Predictor, Replace, SingleCycle, TagBettercycle, TagCycle, Tagging, Tournament, TwoLevel, Window,
    hits,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The sizes of windows that are looked at.
pub(super) const WINDOWS: [usize; 21] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200];

/// The strategies of windows, by their names.
pub(super) const REPLACE: [(&str, Replace); 3] =
    [("lru", Replace::LeastRecentlyUsed), ("fifo", Replace::FirstIn), ("lfu", Replace::LeastFrequentlyUsed)];

/// Least, mean and most over the ranks of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) min: f64,
    pub(super) mean: f64,
    pub(super) max: f64,
}

impl FromIterator<f64> for Spread {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let (mut min, mut sum, mut max, mut ranks) = (f64::INFINITY, 0.0, f64::NEG_INFINITY, 0.0);
        for value in values {
            min = value.min(min);
            max = value.max(max);
            sum += value;
            ranks += 1.0;
        }
        Self { min, mean: sum / ranks, max }
    }
}

/// What came of a predictor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) ratio: f64,
    pub(super) memory: usize,
}

/// A rank.
pub(super) struct Rank {
    pub(super) calls: usize,
    /// How often each message was received, in the order of their first calls.
    pub(super) distribution: Vec<u64>,
    /// For each strategy of `REPLACE`, for each size of `WINDOWS`.
    pub(super) windows: Vec<Vec<Outcome>>,
    /// By the predictors' names.
    pub(super) predictors: Vec<(&'static str, Outcome)>,
}

/// Starting calls of figure 13.
pub(super) const STARTS: u32 = 100;

/// A predictor with an initialisation phase: its mean hit ratios over the starting calls, with the phase and without.
pub(super) struct Sensitivity {
    pub(super) name: &'static str,
    pub(super) with: Spread,
    pub(super) without: Spread,
}

/// A run.
pub(super) struct Evaluated {
    pub(super) run: Run,
    pub(super) ranks: Vec<Rank>,
    /// Of the largest run of a program, if it is to be shown.
    pub(super) sensitivity: Vec<Sensitivity>,
}

impl Evaluated {
    /// A quantity of the ranks.
    pub(super) fn spread(&self, of: impl Fn(&Rank) -> f64) -> Spread {
        self.ranks.iter().map(of).collect()
    }

    /// What came of a predictor: its hit ratios, and the memory of the rank that needs most.
    pub(super) fn predictor(&self, name: &str) -> (Spread, usize) {
        self.outcomes(|rank| {
            rank.predictors.iter().find(|(known, _)| *known == name).map(|(_, outcome)| *outcome)
        })
    }

    /// The same of a window: its place in `REPLACE`, that of its size in `WINDOWS`.
    pub(super) fn window(&self, strategy: usize, size: usize) -> (Spread, usize) {
        self.outcomes(|rank| rank.windows.get(strategy)?.get(size).copied())
    }

    fn outcomes(&self, of: impl Fn(&Rank) -> Option<Outcome>) -> (Spread, usize) {
        let outcomes = || self.ranks.iter().filter_map(&of);
        let memory = outcomes().map(|outcome| outcome.memory).max().unwrap_or(0);
        (outcomes().map(|outcome| outcome.ratio).collect(), memory)
    }
}

/// A predictor of numbers, with or without initialisation phase.
type OfNumbers = fn(bool) -> Box<dyn Predictor<Id>>;

/// The predictors of the paper, and two levels of them.
const OF_NUMBERS: [(&str, OfNumbers); 7] = [
    ("single-cycle", |phase| Box::new(SingleCycle::new(phase))),
    ("tagging", |_| Box::new(Tagging::default())),
    ("tag-cycle", |phase| Box::new(TagCycle::new(phase))),
    ("tag-bettercycle", |phase| Box::new(TagBettercycle::new(phase))),
    ("two-level-tagging", |phase| Box::new(TwoLevel::new(TagBettercycle::new(phase), Tagging::default()))),
    ("two-level-tag-cycle", |phase| {
        Box::new(TwoLevel::new(TagBettercycle::new(phase), TagCycle::new(phase)))
    }),
    ("two-level-tag-bettercycle", |phase| {
        Box::new(TwoLevel::new(TagBettercycle::new(phase), TagBettercycle::new(phase)))
    }),
];

/// Our own: knowing where the next call is made, as the tag-based ones, and not knowing it.
const TOURNAMENT: [(&str, bool); 2] = [("tournament", true), ("tournament-untagged", false)];

/// All of them, in the order of tables.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OF_NUMBERS.iter().map(|(name, _)| *name).chain(TOURNAMENT.iter().map(|(name, _)| *name))
}

/// The predictors that have an initialisation phase, by their names.
const WITH_PHASE: [&str; 3] = ["single-cycle", "tag-cycle", "tag-bettercycle"];

/// Reads and evaluates a run; `starting`, figure 13 as well.
pub(super) fn run(
    run: &Run,
    files: &BTreeMap<u32, PathBuf>,
    options: &Options,
    starting: bool,
) -> Result<Evaluated, Error> {
    let mut ranks = Vec::new();
    let mut by_rank = WITH_PHASE.map(|_| Vec::new());
    for file in files.values() {
        let calls = input::read(file)?;
        ranks.push(rank(&calls, options));
        if starting {
            for (name, means) in WITH_PHASE.into_iter().zip(&mut by_rank) {
                means.push([true, false].map(|phase| averaged(&calls, name, phase, STARTS).ratio));
            }
        }
    }
    let mut sensitivity = Vec::new();
    if starting {
        for (name, means) in WITH_PHASE.into_iter().zip(by_rank) {
            let with = means.iter().map(|[with, _]| *with).collect();
            let without = means.iter().map(|[_, without]| *without).collect();
            sensitivity.push(Sensitivity { name, with, without });
        }
    }
    Ok(Evaluated { run: run.clone(), ranks, sensitivity })
}

fn rank(calls: &Calls, options: &Options) -> Rank {
    let mut distribution = vec![0; calls.messages.len()];
    for (_, id) in calls.from(0) {
        if let Some(count) = distribution.get_mut(id as usize) {
            *count += 1;
        }
    }
    let predictors =
        names().map(|name| (name, averaged(calls, name, options.initialisation.on(), options.starts)));
    Rank { calls: calls.len(), distribution, windows: windows(calls), predictors: predictors.collect() }
}

/// Hit ratios of all windows.
fn windows(calls: &Calls) -> Vec<Vec<Outcome>> {
    let of = |replace, size| {
        let mut window = Window::new(replace, size);
        let hits = calls.from(0).filter(|(_, id)| window.observe(*id)).count();
        Outcome { ratio: ratio(hits as u64, calls.len()), memory: size }
    };
    REPLACE.map(|(_, replace)| WINDOWS.map(|size| of(replace, size)).to_vec()).to_vec()
}

/// The hit ratio of a predictor: the mean over the first `starts` calls that it starts with.
fn averaged(calls: &Calls, name: &str, initialisation: bool, starts: u32) -> Outcome {
    // A rank with fewer calls starts with each of them.
    let starts = (starts as usize).min(calls.len()).max(1);
    let mut sum = Outcome { ratio: 0.0, memory: 0 };
    for start in 0..starts {
        let one = from(calls, name, initialisation, start);
        sum = Outcome { ratio: sum.ratio + one.ratio, memory: sum.memory.max(one.memory) };
    }
    Outcome { ratio: sum.ratio / starts as f64, ..sum }
}

fn from(calls: &Calls, name: &str, initialisation: bool, start: usize) -> Outcome {
    let count = calls.len() - start;
    if let Some((_, new)) = OF_NUMBERS.iter().find(|(known, _)| *known == name) {
        let mut predictor = new(initialisation);
        let hits = hits(&mut *predictor, true, calls.from(start));
        return Outcome { ratio: ratio(hits, count), memory: predictor.memory() };
    }
    let tagged = TOURNAMENT.iter().any(|(known, tagged)| *known == name && *tagged);
    let mut predictor = Tournament::new();
    let message = |id: Id| calls.messages.get(id as usize).copied().unwrap_or_default();
    let hits = hits(&mut predictor, tagged, calls.from(start).map(|(site, id)| (site, message(id))));
    Outcome { ratio: ratio(hits, count), memory: predictor.memory() }
}

/// A rank that receives nothing misses nothing.
fn ratio(hits: u64, calls: usize) -> f64 {
    if calls == 0 { 1.0 } else { hits as f64 / calls as f64 }
}
