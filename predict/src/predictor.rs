//! The interface of all predictors.

/// The position of a receive call in the program: the *tag* of the paper (6.2), for which it proposes the program counter. Not the tag of a message.
pub type Tag = u64;

/// Predicts the next receive call of a rank from the previous ones.
///
/// A message `M` identifies a call: an [`Id`](crate::Id) or a whole [`Envelope`](crate::Envelope).
pub trait Predictor<M> {
    /// The predicted next call. `tag` is the position of that call in the program, if it is known in advance (the `pre-receive(tag)` of the paper);
    /// without it, the tag-based predictors of the paper predict nothing.
    ///
    /// `None` counts as a miss.
    fn predict(&self, tag: Option<Tag>) -> Option<M>;

    /// Reports the call that occurred, and its position in the program.
    fn observe(&mut self, tag: Tag, message: M);

    /// The maximum memory needed so far, in messages, by formulas (1) to (4) of the paper (6.5.1).
    fn memory(&self) -> usize;
}

/// Runs a predictor over calls and counts the hits. `tagged`: the predictor knows the position of the next call.
pub fn hits<M: Copy + Eq>(
    predictor: &mut (impl Predictor<M> + ?Sized),
    tagged: bool,
    calls: impl IntoIterator<Item = (Tag, M)>,
) -> u64 {
    let mut hits = 0;
    for (tag, message) in calls {
        hits += u64::from(predictor.predict(tagged.then_some(tag)) == Some(message));
        predictor.observe(tag, message);
    }
    hits
}
