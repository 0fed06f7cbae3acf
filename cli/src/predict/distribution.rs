//! How often each message of a rank is received (figure 4), summarised because a rank may receive very many different
//! messages.

use super::input::Calls;
use std::collections::BTreeMap;

/// The maximum number of bars in the figure.
const BARS: usize = 128;
/// The maximum number of call counts that are listed.
const LISTED: usize = 20;

/// The distribution of the messages of a rank.
#[derive(Default)]
pub(super) struct Distribution {
    /// Calls of each message, in the order of their first calls; if there are many messages, means of neighbours.
    pub(super) bars: Vec<f64>,
    /// The number of messages per bar.
    pub(super) width: usize,
    /// Call counts, each with the number of messages received that often, most frequent first.
    times: Vec<(u64, usize)>,
    /// The lowest and the highest call count that is not listed, and the number of those messages.
    others: Option<(u64, u64, usize)>,
}

impl Distribution {
    pub(super) fn new(calls: &Calls) -> Self {
        let mut counts = vec![0_u64; calls.messages.len()];
        for (_, id) in calls.from(0) {
            if let Some(count) = counts.get_mut(id as usize) {
                *count += 1;
            }
        }
        let width = counts.len().div_ceil(BARS).max(1);
        let mean = |counts: &[u64]| counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let bars = counts.chunks(width).map(mean).collect();
        let mut times: BTreeMap<u64, usize> = BTreeMap::new();
        for count in counts {
            *times.entry(count).or_default() += 1;
        }
        let mut rest = times.iter().rev().skip(LISTED);
        let others = rest.next().map(|(most, messages)| {
            rest.fold((*most, *most, *messages), |(_, most, sum), (least, messages)| {
                (*least, most, sum + messages)
            })
        });
        let times = times.into_iter().rev().take(LISTED).collect();
        Self { bars, width, times, others }
    }
}

impl std::fmt::Display for Distribution {
    /// Calls x messages.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, (calls, messages)) in self.times.iter().enumerate() {
            write!(f, "{}{calls} x {messages}", if at > 0 { ", " } else { "" })?;
        }
        match self.others {
            Some((least, most, messages)) => write!(f, ", {least} to {most} x {messages}"),
            None => Ok(()),
        }
    }
}
