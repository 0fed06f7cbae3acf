//! The nodes whose links are unlike those to most.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Nodes whose links are unlike that to most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unlike {
    /// The number of these nodes.
    pub nodes: u64,
    /// The effective bandwidth of the slowest of them, in MB/s.
    pub least_mb_s: f64,
    /// That of the fastest.
    pub most_mb_s: f64,
}

impl Unlike {
    /// Nodes of these bandwidths in MB/s; `None` if there are none.
    pub(super) fn of(bandwidths: &[f64]) -> Option<Self> {
        let least_mb_s = bandwidths.iter().copied().reduce(f64::min)?;
        let most_mb_s = bandwidths.iter().copied().reduce(f64::max)?;
        Some(Self { nodes: bandwidths.len() as u64, least_mb_s, most_mb_s })
    }
}

impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, least_mb_s, most_mb_s } = *self;
        match nodes {
            1 => write!(f, "{least_mb_s:.1} MB/s to 1 node"),
            _ => write!(f, "{least_mb_s:.1} to {most_mb_s:.1} MB/s to {nodes} nodes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_told_in_a_few_words() {
        let told = |bandwidths: &[f64]| Unlike::of(bandwidths).map(|unlike| unlike.to_string());
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[12.34]).as_deref(), Some("12.3 MB/s to 1 node"));
        assert_eq!(told(&[12.0, 1200.0, 11.0]).as_deref(), Some("11.0 to 1200.0 MB/s to 3 nodes"));
    }
}
