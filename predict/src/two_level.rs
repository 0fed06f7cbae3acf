//! Two levels of prediction: the tag, and the message by it. The paper proposes it (6.0 and 7.0) and does not evaluate it.

use crate::{Predictor, Tag};

/// A tag-based predictor that needs no help of the program: the tag itself is predicted, from the tags before.
#[derive(Clone, Debug)]
pub struct TwoLevel<T, P> {
    tags: T,
    messages: P,
    last: Option<Tag>,
}

impl<T, P> TwoLevel<T, P> {
    /// `tags` predicts the tag of the next call, and is told that of the last one as the tag that it knows: so what follows
    /// a tag is what is received at it. `messages` predicts the message by the tag.
    pub fn new(tags: T, messages: P) -> Self {
        Self { tags, messages, last: None }
    }
}

impl<M, T: Predictor<Tag>, P: Predictor<M>> Predictor<M> for TwoLevel<T, P> {
    /// The tag of the call, if the program says it, is not used.
    fn predict(&self, _: Option<Tag>) -> Option<M> {
        self.messages.predict(Some(self.tags.predict(self.last)?))
    }

    fn observe(&mut self, tag: Tag, message: M) {
        if let Some(last) = self.last.replace(tag) {
            self.tags.observe(last, tag);
        }
        self.messages.observe(tag, message);
    }

    /// That of both levels; a tag counts as a message.
    fn memory(&self) -> usize {
        self.tags.memory() + self.messages.memory()
    }
}
