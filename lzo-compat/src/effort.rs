//! How hard an encoder looks for copies.

/// How hard an encoder looks for copies. It is not in the wire: a decoder reads what any effort wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effort {
    /// One candidate a place, the first copy found is taken, and places are left out where nothing was found for long.
    Fast,
    /// Four candidates at every place, and a look at the next place before a copy is taken.
    Normal,
}

impl Effort {
    /// Every effort, the least first.
    pub const ALL: [Self; 2] = [Self::Fast, Self::Normal];

    /// A short name for reports and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Normal => "normal",
        }
    }
}
