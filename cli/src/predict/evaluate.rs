//! Runs the predictors over the calls of ranks.

use super::distribution::Distribution;
use super::input::{self, Calls, Run};
use super::starts::{self, Sensitivity};
use super::{Error, Options};
use mpress_predict::{
    Id, Predictor, Replace, SingleCycle, TagBettercycle, TagCycle, Tagging, Tournament, TwoLevel, Window,
    hits,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The window sizes that are evaluated.
pub(super) const WINDOWS: [usize; 21] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200];

/// The length in bytes of a receive buffer from which `MPRESS_PREDICT=on` looks for its message ahead.
const AHEAD_FROM: u64 = 32 << 10;

/// The replacement strategies of windows, by name.
pub(super) const REPLACE: [(&str, Replace); 3] =
    [("lru", Replace::LeastRecentlyUsed), ("fifo", Replace::FirstIn), ("lfu", Replace::LeastFrequentlyUsed)];

/// Minimum, mean and maximum over the ranks of a run. The values themselves are not kept, because there may be many ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) min: f64,
    pub(super) max: f64,
    sum: f64,
    ranks: u32,
}

impl Default for Spread {
    fn default() -> Self {
        Self { min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0, ranks: 0 }
    }
}

impl Spread {
    pub(super) fn add(&mut self, value: f64) {
        self.min = value.min(self.min);
        self.max = value.max(self.max);
        self.sum += value;
        self.ranks += 1;
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / f64::from(self.ranks)
    }
}

/// The result of a predictor on a rank.
struct Outcome {
    ratio: f64,
    memory: usize,
}

/// The result of a predictor: its hit ratios, and the memory of the rank that needs the most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcomes {
    pub(super) ratios: Spread,
    pub(super) memory: usize,
}

impl Outcomes {
    fn add(&mut self, Outcome { ratio, memory }: Outcome) {
        self.ratios.add(ratio);
        self.memory = self.memory.max(memory);
    }
}

/// A run. Its size in memory does not depend on the number of its ranks.
pub(super) struct Evaluated {
    pub(super) run: Run,
    /// Receive calls, and different messages.
    pub(super) calls: Spread,
    pub(super) messages: Spread,
    /// The fraction of the calls for which the shim would look ahead.
    pub(super) long: Spread,
    /// The distribution of the first rank.
    pub(super) distribution: Distribution,
    /// For each strategy of `REPLACE` and each size in `WINDOWS`.
    windows: [[Outcomes; WINDOWS.len()]; REPLACE.len()],
    /// By the predictors' names.
    predictors: Vec<(&'static str, Outcomes)>,
    /// Only for the largest run of a program, if requested.
    pub(super) sensitivity: Vec<Sensitivity>,
}

impl Evaluated {
    fn new(run: &Run) -> Self {
        Self {
            run: run.clone(),
            calls: Spread::default(),
            messages: Spread::default(),
            long: Spread::default(),
            distribution: Distribution::default(),
            windows: [[Outcomes::default(); WINDOWS.len()]; REPLACE.len()],
            predictors: names().map(|name| (name, Outcomes::default())).collect(),
            sensitivity: Vec::new(),
        }
    }

    /// The result of a predictor.
    pub(super) fn predictor(&self, name: &str) -> Outcomes {
        let found = self.predictors.iter().find(|(known, _)| *known == name);
        found.map_or_else(Outcomes::default, |(_, outcomes)| *outcomes)
    }

    /// The result of a window: the indices of its strategy in `REPLACE` and of its size in `WINDOWS`.
    pub(super) fn window(&self, strategy: usize, size: usize) -> Outcomes {
        self.windows.get(strategy).and_then(|sizes| sizes.get(size)).copied().unwrap_or_default()
    }

    fn add(&mut self, calls: &Calls, options: &Options) {
        self.calls.add(calls.len() as f64);
        self.messages.add(calls.messages.len() as f64);
        self.long.add(calls.long(AHEAD_FROM) as f64 / calls.len().max(1) as f64);
        for ((_, replace), sizes) in REPLACE.into_iter().zip(&mut self.windows) {
            for (size, outcomes) in WINDOWS.into_iter().zip(sizes) {
                let mut window = Window::new(replace, size);
                let hits = calls.from(0).filter(|(_, id)| window.observe(*id)).count();
                outcomes.add(Outcome { ratio: ratio(hits as u64, calls.len()), memory: size });
            }
        }
        for (name, outcomes) in &mut self.predictors {
            outcomes.add(averaged(calls, name, options.initialisation.on(), options.starts));
        }
    }
}

/// A predictor of message numbers, with or without initialisation phase.
type OfNumbers = fn(bool) -> Box<dyn Predictor<Id>>;

/// The predictors of the paper, and combinations of two levels.
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

/// The project's own predictor: with and without knowledge of the site of the next call.
const TOURNAMENT: [(&str, bool); 2] = [("tournament", true), ("tournament-untagged", false)];

/// All of them, in the order of the tables.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OF_NUMBERS.iter().map(|(name, _)| *name).chain(TOURNAMENT.iter().map(|(name, _)| *name))
}

/// Reads and evaluates a run; with `shown`, also computes the figures of the largest run of a program.
pub(super) fn run(
    run: &Run,
    files: &BTreeMap<u32, PathBuf>,
    options: &Options,
    shown: bool,
) -> Result<Evaluated, Error> {
    let mut evaluated = Evaluated::new(run);
    let mut sensitivity = starts::sensitive();
    for (at, file) in files.values().enumerate() {
        let calls = input::read(file)?;
        evaluated.add(&calls, options);
        if shown {
            if at == 0 {
                evaluated.distribution = Distribution::new(&calls);
            }
            sensitivity.iter_mut().for_each(|predictor| predictor.add(&calls));
        }
    }
    if shown {
        evaluated.sensitivity = sensitivity.to_vec();
    }
    Ok(evaluated)
}

/// The hit ratio of a predictor: the mean over runs of it that begin at each of the first `starts` calls.
fn averaged(calls: &Calls, name: &str, initialisation: bool, starts: u32) -> Outcome {
    // On a rank with fewer calls, a run begins at each of them.
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

/// A rank that receives no messages counts as having no misses.
pub(super) fn ratio(hits: u64, calls: usize) -> f64 {
    if calls == 0 { 1.0 } else { hits as f64 / calls as f64 }
}
