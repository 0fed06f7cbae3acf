//! The knowledge of one codec on one sort of messages.

use crate::heuristics::Speed;

/// The weight of a new observation after the first few.
const WEIGHT: f32 = 1.0 / 8.0;
/// An observed time is limited to this factor above or below the expected one: the rank may have been interrupted.
const TIMES: f64 = 2.0;
/// A time below this is not believed to show another pace at once: for so short a time the caches count more than the codec.
const CLEAR_NS: f64 = 20e3;
/// The weight of an observed time.
const TIME_WEIGHT: f64 = 1.0 / 4.0;
/// A fraction that differs this much from the expected one is a surprise; after two in a row in the same direction the past is forgotten.
const SURPRISE: f32 = 0.12;

/// The expected fraction (compressed over raw bytes), and the number of observations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    fraction: f32,
    seen: u16,
    /// Surprises in a row; negative ones were better than expected.
    surprises: i8,
}

impl Cell {
    pub(crate) fn new(fraction: f64) -> Self {
        Self { fraction: fraction.clamp(0.0, 1.0) as f32, seen: 0, surprises: 0 }
    }

    #[inline]
    pub(crate) fn fraction(self) -> f64 {
        f64::from(self.fraction)
    }

    #[inline]
    pub(crate) fn seen(self) -> u16 {
        self.seen
    }

    /// How far the next message may differ from the expected fraction.
    #[inline]
    pub(crate) fn doubt(self) -> f64 {
        0.2 / (1.0 + f64::from(self.seen))
    }

    pub(crate) fn observe(&mut self, fraction: f64) {
        let fraction = fraction.clamp(0.0, 1.0) as f32;
        let off = fraction - self.fraction;
        self.surprises = match off {
            SURPRISE.. => self.surprises.max(0) + 1,
            _ if off <= -SURPRISE => self.surprises.min(0) - 1,
            _ => 0,
        };
        if self.surprises.abs() >= 2 {
            *self = Self { fraction, seen: 1, surprises: 0 };
            return;
        }
        self.seen = self.seen.saturating_add(1);
        self.fraction += off * WEIGHT.max(1.0 / f32::from(self.seen));
    }
}

/// The factor between actual times and those of the heuristics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    factor: f64,
    /// The last actual time over the expected one, if it differed by more than [`TIMES`]; otherwise 1.
    surprise: f64,
}

impl Pace {
    pub(crate) const AS_EXPECTED: Self = Self { factor: 1.0, surprise: 1.0 };

    #[inline]
    pub(crate) fn time_ns(self, speed: &Speed, len: usize) -> f64 {
        self.factor * speed.time_ns(len)
    }

    /// Whether the last time was an interruption, or the first of a codec that has become much slower.
    #[inline]
    pub(crate) fn is_in_doubt(self) -> bool {
        self.surprise > 1.0
    }

    /// Forgets a surprise.
    pub(crate) fn clear_surprise(&mut self) {
        self.surprise = 1.0;
    }

    /// The part of a time that is the codec's own: an interruption of the rank would have happened without it, too.
    #[inline]
    pub(crate) fn own_ns(&self, speed: &Speed, len: usize, ns: f64) -> f64 {
        if ns > 0.0 { ns.min(TIMES * self.time_ns(speed, len)) } else { 0.0 }
    }

    /// Records that `len` bytes took `ns` nanoseconds. A time that differs much from the expected one changes little, as the rank may have been
    /// interrupted; after two in a row on the same side the nearer one is believed.
    pub(crate) fn observe(&mut self, speed: &Speed, len: usize, ns: f64) {
        let expected = self.time_ns(speed, len);
        if !(ns > 0.0 && expected > 0.0) {
            return self.clear_surprise();
        }
        let times = ns / expected;
        let nearer = match self.surprise {
            last if last > 1.0 && times > TIMES => last.min(times),
            last if last < 1.0 && times < 1.0 / TIMES => last.max(times),
            _ => 1.0,
        };
        let is_usual = (1.0 / TIMES..=TIMES).contains(&times);
        *self = if nearer != 1.0 && ns >= CLEAR_NS {
            Self { factor: self.factor * nearer, surprise: 1.0 }
        } else {
            let step = 1.0 + TIME_WEIGHT * (times.clamp(1.0 / TIMES, TIMES) - 1.0);
            Self { factor: self.factor * step, surprise: if is_usual { 1.0 } else { times } }
        };
        self.factor = self.factor.clamp(1e-3, 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_is_no_news_and_two_are() {
        let mut cell = Cell::new(0.5);
        (0..20).for_each(|_| cell.observe(0.5));
        cell.observe(1.0);
        assert!((cell.fraction() - 0.5625).abs() < 1e-6);
        cell.observe(1.0);
        assert_eq!((cell.fraction(), cell.seen()), (1.0, 1));
        cell.observe(0.4);
        cell.observe(1.0);
        cell.observe(0.4);
        assert!((0.4..1.0).contains(&cell.fraction()));
    }

    #[test]
    fn paces_follow_and_stay_in_bounds() {
        let speed = Speed { start_us: 1.0, mb_s: 1000.0, cold_us: 0.0 };
        let mut pace = Pace::AS_EXPECTED;
        let expected = pace.time_ns(&speed, 100_000);
        pace.observe(&speed, 100_000, 1e3 * expected);
        assert!(pace.time_ns(&speed, 100_000) < 1.3 * expected, "an interruption");
        (0..10).for_each(|_| pace.observe(&speed, 100_000, expected));
        (0..2).for_each(|_| pace.observe(&speed, 100_000, 20.0 * expected));
        assert!((pace.time_ns(&speed, 100_000) / expected - 20.0).abs() < 0.1, "two in a row");
        (0..2).for_each(|_| pace.observe(&speed, 100_000, expected));
        assert!((pace.time_ns(&speed, 100_000) / expected - 1.0).abs() < 0.1, "and back");
        (0..30).for_each(|_| pace.observe(&speed, 100_000, 3.0 * expected));
        assert!((pace.time_ns(&speed, 100_000) / expected - 3.0).abs() < 0.1);
        for ns in [f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MAX] {
            (0..1000).for_each(|_| pace.observe(&speed, 100_000, ns));
            let time = pace.time_ns(&speed, 100_000);
            assert!(time > 0.0 && time.is_finite(), "{ns}: {time}");
        }
    }
}
