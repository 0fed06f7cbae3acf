//! Sensitivity to the starting call (6.6, figure 13): hit ratios of the predictors when started at each of the first calls.
//!
//! A run for each start would need hundreds of passes over a trace. But the behaviour of a tag-based predictor at a call site depends only on the
//! first call that it sees there, so runs with the same first call at a site share the work.

use super::evaluate::{Spread, ratio};
use super::input::Calls;
use mpress_predict::{Bettercycle, Cycle, Discovery, Id, SingleCycle, hits};
use std::collections::BTreeMap;

/// The number of starting calls.
pub(super) const STARTS: usize = 100;

/// A predictor, and its mean hit ratios over the starting calls, with the initialisation phase and without.
#[derive(Clone, Copy)]
pub(super) struct Sensitivity {
    pub(super) name: &'static str,
    averaged: fn(&Calls, bool) -> f64,
    pub(super) with: Spread,
    pub(super) without: Spread,
}

/// The predictors that have an initialisation phase.
pub(super) fn sensitive() -> [Sensitivity; 3] {
    let one =
        |name, averaged| Sensitivity { name, averaged, with: Spread::default(), without: Spread::default() };
    [
        one("single-cycle", single_cycle),
        one("tag-cycle", per_site::<Cycle<Id>>),
        one("tag-bettercycle", per_site::<Bettercycle<Id>>),
    ]
}

impl Sensitivity {
    /// Adds the calls of a rank.
    pub(super) fn add(&mut self, calls: &Calls) {
        self.with.add((self.averaged)(calls, true));
        self.without.add((self.averaged)(calls, false));
    }
}

/// The mean over starts of the hit ratios with these hits.
fn mean(calls: &Calls, hits: &[u64]) -> f64 {
    let ratios = hits.iter().enumerate().map(|(start, hits)| ratio(*hits, calls.len() - start));
    ratios.sum::<f64>() / hits.len() as f64
}

/// On a rank with fewer calls, a run starts at each of them.
fn starts(calls: &Calls) -> usize {
    STARTS.min(calls.len()).max(1)
}

fn single_cycle(calls: &Calls, phase: bool) -> f64 {
    let hits = |start| hits(&mut SingleCycle::new(phase), false, calls.from(start));
    mean(calls, &(0..starts(calls)).map(hits).collect::<Vec<_>>())
}

/// The mean of a predictor that looks for the cycles of each site with its own `D`.
fn per_site<D: Discovery<Id> + Default>(calls: &Calls, phase: bool) -> f64 {
    let begins: Vec<_> =
        if phase { first_cycles(calls) } else { (0..starts(calls)).map(|start| [start, start]).collect() };
    let mut hits = vec![0; begins.len()];
    for site in calls.by_site().chunk_by(|a, b| calls.site(*a) == calls.site(*b)) {
        // The hits at the site, by the first of its calls that is observed, and the first that is predicted.
        let mut known: BTreeMap<[usize; 2], u64> = BTreeMap::new();
        for (begin, hits) in begins.iter().zip(&mut hits) {
            let begin = begin.map(|begin| site.partition_point(|call| (*call as usize) < begin));
            *hits += *known.entry(begin).or_insert_with(|| at_site::<D>(calls, site, begin));
        }
    }
    mean(calls, &hits)
}

fn at_site<D: Discovery<Id> + Default>(
    calls: &Calls,
    site: &[u32],
    [observed, predicted]: [usize; 2],
) -> u64 {
    let mut discovery = D::default();
    let mut hits = 0;
    for (at, call) in site.iter().enumerate().skip(observed) {
        let Some(message) = calls.id(*call) else { continue };
        hits += u64::from(at >= predicted && discovery.predict() == Some(message));
        discovery.observe(message);
    }
    hits
}

/// The initialisation phase ends with a cycle longer than this (6.1.1).
const SHORT: usize = 5;

/// For each start, the first call of the first cycle, and the call after its end, at which predictions begin. Without a cycle there are none.
fn first_cycles(calls: &Calls) -> Vec<[usize; 2]> {
    let mut found = Vec::new();
    // The last place of each message, more than `SHORT` calls ago.
    let mut places = vec![None; calls.messages.len()];
    let id = |call: usize| calls.id(call as u32).map_or(0, |id| id as usize);
    for call in 0..calls.len() {
        if let Some(far) = call.checked_sub(SHORT + 1)
            && let Some(place) = places.get_mut(id(far))
        {
            *place = Some(far);
        }
        let Some(head) = places.get(id(call)).copied().flatten() else { continue };
        // This ends the phase of all starts that are still in it and begin at or before the head.
        while found.len() <= head {
            found.push([head, call + 1]);
            if found.len() == starts(calls) {
                return found;
            }
        }
    }
    found.resize(starts(calls), [calls.len(); 2]);
    found
}
