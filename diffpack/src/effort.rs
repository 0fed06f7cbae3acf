//! The three tiers of an encoder: how long it looks for what is smaller.
#![forbid(unsafe_code)]

/// How much time an encoder takes to make the wire small. It is not in the wire; every decoder reads all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Effort {
    /// For the fastest links.
    Fast,
    /// Most of the ratio at most of the speed.
    #[default]
    Balanced,
    /// For links of a gigabit or less.
    Ratio,
}

/// What an effort comes to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Predictors that every block chooses from.
    pub(crate) shortlist: usize,
    /// Quarters of a block that it looks at to choose.
    pub(crate) quarters: usize,
    /// Blocks that a choice is kept for while it does as well.
    pub(crate) kept: usize,
    /// Samples of eight groups that the shortlist is made by, in a long message.
    pub(crate) samples: usize,
    /// The longest row that is looked for is the message's length by this.
    pub(crate) rows: usize,
    /// Predictors that an encoder that remembers ranks for each message.
    pub(crate) remembered: usize,
    pub(crate) fixed: bool,
    /// Whether to look no further where plain differences do not help.
    pub(crate) hurry: bool,
    /// Whether zeros are split off, and at how many more thresholds it is tried.
    pub(crate) thresholds: Option<usize>,
    /// Whether words that were there before are looked for.
    pub(crate) repeats: bool,
    /// Whether the layout of records is looked for.
    pub(crate) records: bool,
}

impl Effort {
    /// All efforts, from the least up.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Balanced, Self::Ratio];

    /// The name as settings spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Balanced => "balanced",
            Self::Ratio => "ratio",
        }
    }

    pub(crate) const fn settings(self) -> Settings {
        match self {
            Self::Fast => Settings {
                shortlist: 1,
                quarters: 1,
                kept: 3,
                samples: 4,
                rows: 16,
                remembered: 3,
                fixed: false,
                hurry: true,
                thresholds: None,
                repeats: false,
                records: false,
            },
            Self::Balanced => Settings {
                shortlist: 3,
                quarters: 1,
                kept: 3,
                samples: 4,
                rows: 8,
                remembered: 5,
                fixed: true,
                hurry: false,
                thresholds: Some(0),
                repeats: false,
                records: true,
            },
            Self::Ratio => Settings {
                shortlist: 6,
                quarters: 2,
                kept: 1,
                samples: 8,
                rows: 8,
                remembered: 8,
                fixed: true,
                hurry: false,
                thresholds: Some(2),
                repeats: true,
                records: true,
            },
        }
    }
}
