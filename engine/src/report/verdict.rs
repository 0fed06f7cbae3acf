//! The verdict: what compression saved, in one line.

use super::{About, Counts, Gain};
use crate::settings::{SameNode, Settings};
use crate::strategy::Strategy;
use mpress_selector::Link;

/// With less communication than this, in seconds over all ranks, a percentage is meaningless: a single trial of a codec is a large part of it.
const WORTH_A_WORD_S: f64 = 1e-3;

/// A smaller percentage is rounded to 0.0.
const SHOWN: f64 = 0.05;

/// `tried`: whether there were enough trials by the clock for a result. `link`: as rank 0 believes.
pub(super) fn verdict(
    total: &Counts,
    gain: &Gain,
    tried: bool,
    link: Link,
    about: &About,
    settings: &Settings,
) -> String {
    if total.messages == 0 && about.nodes == 1 && settings.same_node == SameNode::Pass {
        return "all ranks are on one node, where messages are not compressed (unless MPRESS_SAME_NODE=compress)".into();
    }
    if total.messages == 0 {
        let most = about.passed.iter().filter(|passed| passed.count > 0).max_by_key(|passed| passed.bytes);
        return most.map_or_else(
            || "no message was long enough to be compressed".into(),
            |most| format!("nothing was compressed: {}", most.text()),
        );
    }
    let saved = (1.0 - 1.0 / total.ratio()) * 100.0;
    let would = if settings.strategy == Strategy::Measure { "would have " } else { "" };
    let bytes =
        if saved >= SHOWN { format!("{would}saved {saved:.1} % of bytes") } else { "saved no bytes".into() };
    if let Some(clock) = gain.clock {
        return format!("{bytes}; {}", clock.text());
    }
    let part = gain.measured_s / gain.raw_s * 100.0;
    if gain.raw_s < WORTH_A_WORD_S || part.abs() < SHOWN {
        return bytes;
    }
    let estimate = format!(
        "estimated {:.1} % {} time for messages at {} MB/s",
        part.abs(),
        if part > 0.0 { "less" } else { "more" },
        short(link.bandwidth_mb_s)
    );
    if !settings.clock || settings.strategy != Strategy::Adaptive {
        return format!("{bytes}; {estimate}");
    }
    let (why, seconds) =
        (if tried { "trials differ too much" } else { "too few trials" }, short(about.time.as_secs_f64()));
    format!("{bytes}; {estimate}, not confirmed by the clock: {why} in {seconds} s")
}

/// A number with two or more digits that are not zeros at its beginning.
fn short(number: f64) -> String {
    let decimals = [10.0, 1.0, 0.1].into_iter().filter(|least| number < *least).count();
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn says_why_the_clock_does_not_confirm_it() {
        let total = Counts { messages: 9, raw_bytes: 1000, wire_bytes: 590, ..Counts::default() };
        let said = |measured_s, tried, seconds, settings: &Settings| {
            let gain = Gain { measured_s, raw_s: 2.0, ..Gain::default() };
            verdict(
                &total,
                &gain,
                tried,
                Link { latency_us: 25.0, bandwidth_mb_s: 115.4 },
                &About { time: Duration::from_secs_f64(seconds), ..About::default() },
                settings,
            )
        };
        let adaptive = Settings::default();
        for (gain, tried, seconds, expected) in [
            (
                0.1,
                false,
                11.3,
                "estimated 5.0 % less time for messages at 115 MB/s, not confirmed by the clock: too few trials in 11 s",
            ),
            (
                0.1,
                true,
                9.26,
                "estimated 5.0 % less time for messages at 115 MB/s, not confirmed by the clock: trials differ too much in 9.3 s",
            ),
            (
                -0.1,
                false,
                0.041,
                "estimated 5.0 % more time for messages at 115 MB/s, not confirmed by the clock: too few trials in 0.041 s",
            ),
            (0.0, false, 11.3, ""),
        ] {
            let expected =
                ["saved 41.0 % of bytes", expected].join(if expected.is_empty() { "" } else { "; " });
            assert_eq!(said(gain, tried, seconds, &adaptive), expected);
        }
        for settings in [
            Settings { clock: false, ..Settings::default() },
            Settings { strategy: Strategy::Ras, ..Settings::default() },
        ] {
            assert_eq!(
                said(0.1, false, 11.3, &settings),
                "saved 41.0 % of bytes; estimated 5.0 % less time for messages at 115 MB/s"
            );
        }
    }
}
