//! Two levels of prediction: the tag, and the message by it. The paper proposes it (6.0 and 7.0) and does not evaluate it.

use crate::{Predictor, SingleCycle, Tag};

/// A tag-based predictor that needs no help of the program: the tag itself is predicted, by the Single-cycle algorithm
/// over the tags of the calls.
#[derive(Clone, Debug)]
pub struct TwoLevel<P> {
    tags: SingleCycle<Tag>,
    messages: P,
}

impl<P> TwoLevel<P> {
    /// `messages` predicts the message by the tag; `initialisation` says whether the prediction of tags has that phase.
    pub fn new(messages: P, initialisation: bool) -> Self {
        Self { tags: SingleCycle::new(initialisation), messages }
    }
}

impl<M, P: Predictor<M>> Predictor<M> for TwoLevel<P> {
    /// The tag of the call, if the program says it, is not used.
    fn predict(&self, _: Option<Tag>) -> Option<M> {
        self.messages.predict(Some(self.tags.predict(None)?))
    }

    fn observe(&mut self, tag: Tag, message: M) {
        self.tags.observe(tag, tag);
        self.messages.observe(tag, message);
    }

    /// That of both levels; a tag counts as a message.
    fn memory(&self) -> usize {
        self.tags.memory() + self.messages.memory()
    }
}
