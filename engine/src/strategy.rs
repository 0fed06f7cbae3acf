//! Strategies: the rules that decide which messages are compressed, and with which codec.

use crate::codecs::{Codec, Codecs};
use std::fmt;
use std::str::FromStr;

/// A strategy, as named in `MPRESS_STRATEGY`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Decides for each message by a sample of it and by what has been learned; trials by the clock judge the result.
    #[default]
    Adaptive,
    /// PRAcTICaL-MPI's Run-time Adaptive Strategy (section 3), by heuristics and a window of lengths for each kind.
    Ras,
    /// Uses the record of an earlier run: Adaptive-CoMPI's Guided Strategy.
    Guided,
    /// One codec for all messages that it supports: CoMPI's mode.
    Fixed(Codec),
    /// No message is compressed.
    Off,
    /// No message is compressed, but the potential gain of the adaptive strategy is counted.
    Measure,
}

impl Strategy {
    /// Whether it makes decisions of its own, which can be recorded for the guided strategy.
    #[must_use]
    pub fn learns(self) -> bool {
        matches!(self, Self::Adaptive | Self::Measure)
    }

    /// Whether a decision depends on the speed of the network: for a codec, or for chunks.
    #[must_use]
    pub fn needs_link(self) -> bool {
        self != Self::Off
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adaptive => f.write_str("adaptive"),
            Self::Ras => f.write_str("ras"),
            Self::Guided => f.write_str("guided"),
            Self::Fixed(codec) => write!(f, "fixed:{}", codec.name()),
            Self::Off => f.write_str("off"),
            Self::Measure => f.write_str("measure"),
        }
    }
}

/// Not the name of a strategy, or of a codec. `Display` lists the valid names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// Not the name of a strategy.
    #[error("adaptive, ras, guided, fixed:CODEC, off or measure")]
    Strategy,
    /// Not the name of a codec; these are.
    #[error("fixed: with one of {}", .0.join(", "))]
    Codec(Vec<&'static str>),
}

impl FromStr for Strategy {
    type Err = StrategyError;

    /// Knows the engine's own codecs; [`Codecs::strategy`] also knows those of others.
    fn from_str(text: &str) -> Result<Self, StrategyError> {
        Self::named(text, &Codecs::default())
    }
}

impl Strategy {
    /// The strategy with this name, perhaps with one of these codecs.
    pub(crate) fn named(text: &str, codecs: &Codecs) -> Result<Self, StrategyError> {
        match text {
            "adaptive" => Ok(Self::Adaptive),
            "ras" => Ok(Self::Ras),
            "guided" => Ok(Self::Guided),
            "off" => Ok(Self::Off),
            "measure" => Ok(Self::Measure),
            _ => {
                let codec = text.strip_prefix("fixed:").ok_or(StrategyError::Strategy)?;
                codecs
                    .named(codec)
                    .map(Self::Fixed)
                    .ok_or_else(|| StrategyError::Codec(codecs.names().collect()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_are_named() {
        for name in ["adaptive", "ras", "guided", "fixed:dfcm", "fixed:diffpack-ratio", "off", "measure"] {
            assert_eq!(name.parse::<Strategy>().map(|strategy| strategy.to_string()), Ok(name.to_owned()));
        }
        for wrong in ["", "Adaptive", "fixed"] {
            assert_eq!(wrong.parse::<Strategy>(), Err(StrategyError::Strategy), "{wrong}");
        }
        for wrong in ["fixed:", "fixed:raw", "fixed:gzip"] {
            let error = wrong.parse::<Strategy>().unwrap_err().to_string();
            assert!(error.starts_with("fixed: with one of ") && error.contains(" dfcm,"), "{wrong}: {error}");
        }
    }
}
