//! What all predictors have in common.

/// Where in the program a receive call is: the *tag* of the paper (6.2), for which it proposes the program counter. Not
/// the tag of a message.
pub type Tag = u64;

/// Predicts the next receive call of one rank from those before it.
///
/// A message `M` is what tells calls apart: an [`Id`](crate::Id) or a whole [`Envelope`](crate::Envelope).
pub trait Predictor<M> {
    /// The call that is expected next. `tag` is where the program will make it, if that is known beforehand (the
    /// `pre-receive(tag)` of the paper); the tag-based predictors of the paper offer nothing without it.
    ///
    /// `None` counts as a miss.
    fn predict(&self, tag: Option<Tag>) -> Option<M>;

    /// The call that came, and where it was made.
    fn observe(&mut self, tag: Tag, message: M);

    /// The memory that has been needed so far at most, in messages, by the formulas (1) to (4) of the paper (6.5.1).
    fn memory(&self) -> usize;
}

/// Runs a predictor over calls, and counts the hits; `tagged`, whether the predictor knows where the next call is made.
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
