//! A list for the requests of one call. Most calls have a single request, and programs poll with such calls.

use std::ops::{Deref, DerefMut};

/// A list of values, without an allocation for a single one.
pub(crate) enum Few<T> {
    One([T; 1]),
    Many(Vec<T>),
}

impl<T> Few<T> {
    /// A value for each of these.
    pub(crate) fn of<S>(sources: &[S], mut value: impl FnMut(&S) -> T) -> Self {
        match sources {
            [one] => Self::One([value(one)]),
            many => Self::Many(many.iter().map(value).collect()),
        }
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }
}
