//! The Single-cycle predictor (6.1).

use crate::cycle::{Cycle, Discovery};
use crate::initialisation::Initialisation;
use crate::{Predictor, Tag};

/// Discovers a cycle in the calls of a rank and predicts from it. Needs no tags.
#[derive(Clone, Debug)]
pub struct SingleCycle<M> {
    initialisation: Option<Initialisation<M>>,
    cycle: Cycle<M>,
}

impl<M> SingleCycle<M> {
    /// With or without the initialisation phase of section 6.1.1; earlier work had none.
    #[must_use]
    pub fn new(initialisation: bool) -> Self {
        Self { initialisation: initialisation.then(Initialisation::default), cycle: Cycle::default() }
    }
}

impl<M: Copy + Ord> Predictor<M> for SingleCycle<M> {
    fn predict(&self, _: Option<Tag>) -> Option<M> {
        // "It is clear that misses are added until the first cycle is formed."
        if self.initialisation.is_some() { None } else { self.cycle.predict() }
    }

    fn observe(&mut self, tag: Tag, message: M) {
        let Some(initialisation) = &mut self.initialisation else { return self.cycle.observe(message) };
        if let Some((_, cycle)) = initialisation.observe(tag, message) {
            self.cycle = Cycle::follow(cycle.iter().map(|&(_, message)| message));
            self.initialisation = None;
        }
    }

    /// Formula (1): the length of the longest cycle.
    fn memory(&self) -> usize {
        self.cycle.longest()
    }
}
