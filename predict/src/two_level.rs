//! Two-level prediction: first the tag, then the message at that tag. Proposed in the paper (6.0 and 7.0) but not evaluated there.

use crate::{Predictor, Tag};

/// A tag-based predictor without help from the program: the tag itself is predicted from the previous tags.
#[derive(Clone, Debug)]
pub struct TwoLevel<T, P> {
    tags: T,
    messages: P,
    last: Option<Tag>,
}

impl<T, P> TwoLevel<T, P> {
    /// `tags` predicts the tag of the next call: the last tag serves as its tag, and the next one as its message. `messages` predicts the message
    /// from the predicted tag.
    pub fn new(tags: T, messages: P) -> Self {
        Self { tags, messages, last: None }
    }
}

impl<M, T: Predictor<Tag>, P: Predictor<M>> Predictor<M> for TwoLevel<T, P> {
    /// The tag of the call is not used, even if the program supplies it.
    fn predict(&self, _: Option<Tag>) -> Option<M> {
        self.messages.predict(Some(self.tags.predict(self.last)?))
    }

    fn observe(&mut self, tag: Tag, message: M) {
        if let Some(last) = self.last.replace(tag) {
            self.tags.observe(last, tag);
        }
        self.messages.observe(tag, message);
    }

    /// The sum over both levels; a tag counts as a message.
    fn memory(&self) -> usize {
        self.tags.memory() + self.messages.memory()
    }
}
