//! The three efforts of an encoder.
#![forbid(unsafe_code)]

/// How much time an encoder spends to make the wire small. The wire does not contain it; every decoder reads the output of all efforts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Effort {
    /// For the fastest links.
    Fast,
    /// Most of the ratio at most of the speed.
    #[default]
    Balanced,
    /// For links of a gigabit or less.
    Ratio,
}

/// The parameters that an effort sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The maximum number of predictors in the shortlist.
    pub(crate) shortlist: usize,
    /// The number of quarters of a block that are sampled to choose its predictor.
    pub(crate) quarters: usize,
    /// The number of blocks for which a choice is kept while its cost does not grow.
    pub(crate) kept: usize,
    /// The number of samples of eight groups for making the shortlist in a long message.
    pub(crate) samples: usize,
    /// The longest row searched for is the message's length divided by this.
    pub(crate) rows: usize,
    /// The number of predictors that a remembering encoder ranks for each message.
    pub(crate) remembered: usize,
    /// Whether to look for floats that are whole numbers and for the fields of records, to extend the search where plain differences do not
    /// help, and to try lags over a reference.
    pub(crate) thorough: bool,
    /// Whether to split off zeros, and how many further thresholds to try.
    pub(crate) thresholds: Option<usize>,
    /// Whether to look for earlier words that are nearly equal.
    pub(crate) lookback: bool,
    /// The maximum number of blocks for which the reference is ignored after blocks for which it did not pay off.
    pub(crate) patience: u8,
}

impl Effort {
    /// All efforts, lowest first.
    pub const ALL: &[Self] = &[Self::Fast, Self::Balanced, Self::Ratio];

    /// The name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Balanced => "balanced",
            Self::Ratio => "ratio",
        }
    }

    pub(crate) const fn settings(self) -> &'static Settings {
        match self {
            Self::Fast => &Settings {
                shortlist: 1,
                quarters: 1,
                kept: 3,
                samples: 4,
                rows: 16,
                remembered: 3,
                thorough: false,
                thresholds: None,
                lookback: false,
                patience: 2,
            },
            Self::Balanced => &Settings {
                shortlist: 3,
                quarters: 1,
                kept: 3,
                samples: 4,
                rows: 8,
                remembered: 5,
                thorough: true,
                thresholds: Some(0),
                lookback: false,
                patience: 2,
            },
            Self::Ratio => &Settings {
                shortlist: 6,
                quarters: 2,
                kept: 1,
                samples: 8,
                rows: 8,
                remembered: 8,
                thorough: true,
                thresholds: Some(3),
                lookback: true,
                patience: 0,
            },
        }
    }
}
