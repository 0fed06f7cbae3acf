//! The predictors that know the position of the next call in the program: Tagging (6.2), Tag-cycle (6.3) and Tag-bettercycle (6.4).

use crate::cycle::{Bettercycle, Cycle, Discovery};
use crate::initialisation::Initialisation;
use crate::{Predictor, Tag};
use alloc::collections::BTreeMap;

/// Predicts the last message received at the same tag.
#[derive(Clone, Debug)]
pub struct Tagging<M> {
    last: BTreeMap<Tag, M>,
}

impl<M> Default for Tagging<M> {
    fn default() -> Self {
        Self { last: BTreeMap::new() }
    }
}

impl<M: Copy> Predictor<M> for Tagging<M> {
    fn predict(&self, tag: Option<Tag>) -> Option<M> {
        self.last.get(&tag?).copied()
    }

    fn observe(&mut self, tag: Tag, message: M) {
        self.last.insert(tag, message);
    }

    /// Formula (2): the number of tags.
    fn memory(&self) -> usize {
        self.last.len()
    }
}

/// Discovers the cycles of each tag separately.
///
/// The initialisation phase considers all calls of the rank together, as in the Single-cycle predictor. In most programs the cycles of a tag are
/// short (one to six calls in BT and SP), so a cycle of more than five calls might never be found. The tags then start with the calls of the first
/// cycle.
#[derive(Clone, Debug)]
pub struct PerTag<M, D> {
    initialisation: Option<Initialisation<M>>,
    tags: BTreeMap<Tag, D>,
}

/// [`PerTag`] with the last cycle of each tag (6.3).
pub type TagCycle<M> = PerTag<M, Cycle<M>>;

/// [`PerTag`] with the last cycle of each head of each tag (6.4).
pub type TagBettercycle<M> = PerTag<M, Bettercycle<M>>;

impl<M, D> PerTag<M, D> {
    /// With or without the initialisation phase of section 6.1.1; earlier work had none.
    #[must_use]
    pub fn new(initialisation: bool) -> Self {
        Self { initialisation: initialisation.then(Initialisation::default), tags: BTreeMap::new() }
    }
}

impl<M: Copy + Ord, D: Discovery<M> + Default> Predictor<M> for PerTag<M, D> {
    fn predict(&self, tag: Option<Tag>) -> Option<M> {
        if self.initialisation.is_some() {
            return None;
        }
        self.tags.get(&tag?)?.predict()
    }

    fn observe(&mut self, tag: Tag, message: M) {
        if let Some(initialisation) = &mut self.initialisation {
            let Some((skipped, cycle)) = initialisation.observe(tag, message) else { return };
            // Tags of skipped calls count too: formula (3) multiplies by formula (2).
            for (tag, _) in skipped {
                self.tags.entry(*tag).or_default();
            }
            for &(tag, message) in cycle {
                self.tags.entry(tag).or_default().observe(message);
            }
            self.initialisation = None;
        }
        self.tags.entry(tag).or_default().observe(message);
    }

    /// Formulas (3) and (4): the number of tags (as for [`Tagging`], if there was a cycle), times the length of the longest cycle of a tag, times the
    /// largest number of cycles kept for a tag.
    fn memory(&self) -> usize {
        let largest = |of: fn(&D) -> usize| self.tags.values().map(of).max().unwrap_or(0);
        self.tags.len().saturating_mul(largest(D::longest)).saturating_mul(largest(D::heads))
    }
}
