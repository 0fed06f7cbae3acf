//! How hard an encoder searches for copies.

/// How hard an encoder searches for copies. The wire does not contain it: a decoder reads the output of every effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Effort {
    /// One candidate per place. The first copy found is taken, and places are skipped after a long stretch without copies.
    #[default]
    Fast,
    /// Four candidates per place, and a search at the next place before a copy is taken.
    Normal,
}

impl Effort {
    /// All efforts, lowest first.
    pub const ALL: &[Self] = &[Self::Fast, Self::Normal];

    /// A short name for reports and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Normal => "normal",
        }
    }
}
