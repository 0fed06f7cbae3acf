//! What is known of a codec on messages of a kind: at first the heuristics, then what it does.

use crate::heuristics::{Behaviour, Speed};
use crate::sample::Level;
use mpress_codec::Kind;

/// The maximum number of codecs that are considered for a kind of message.
pub(crate) const CANDIDATES: usize = 8;
const LEVELS: usize = Level::ALL.len();

/// A codec never observed at a level may make messages shorter than expected by this fraction of their length, and take this much less time. It is tried where
/// that would make it the best: optimism in the face of uncertainty (Lai and Robbins, Asymptotically efficient adaptive allocation rules, 1985).
const SHORTER: f32 = 0.12;
const FASTER: f32 = 0.15;
/// With each observation less of that is left. With each message of the level for which it is not used, this part of the observations is forgotten.
const FORGOTTEN: f32 = 0.01;
/// The number of observations that count, and the weight of a new one after the first few.
const SEEN_MOST: f32 = 8.0;
const WEIGHT: f32 = 0.25;
/// A time counts as at most this many times the expected one, at first and later: the rank may have been interrupted.
const FIRST_TIMES: f32 = 6.0;
const TIMES: f32 = 2.0;

/// The assumption for an unknown codec, with no gain.
const UNKNOWN: Speed = Speed { start_us: 1.0, mb_s: 500.0, cold_us: 0.0 };

/// A codec that may be chosen for a kind.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Its index in the engine's offers.
    pub(crate) offer: u8,
    levels: [OnLevel; LEVELS],
    /// Actual over expected times of decoding. Only senders know levels.
    decode_pace: f32,
}

/// The same on messages of a redundancy level.
#[derive(Clone, Copy, Debug)]
struct OnLevel {
    encode: Speed,
    decode: Speed,
    /// Compressed over raw bytes.
    fraction: f32,
    /// Actual over expected times of encoding.
    pace: f32,
    /// The number of observations, less those that are forgotten.
    seen: f32,
}

/// What is expected of a codec for a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) fraction: f64,
    pub(crate) encode_ns: f64,
    pub(crate) decode_ns: f64,
}

impl Candidate {
    pub(crate) fn new(offer: u8, name: &str, kind: Kind, behaviours: &[Behaviour<'_>]) -> Self {
        let known = || behaviours.iter().filter(|b| b.kind == kind && b.codec == name && b.is_sane());
        let levels = Level::ALL.map(|level| {
            let nearest = known().min_by_key(|b| (b.level as u8).abs_diff(level as u8));
            let (fraction, encode, decode) = match nearest {
                Some(b) => ((1.0 / b.ratio).min(1.0) as f32, b.encode, b.decode),
                None => (1.0, UNKNOWN, UNKNOWN),
            };
            OnLevel { encode, decode, fraction, pace: 1.0, seen: 0.0 }
        });
        Self { offer, levels, decode_pace: 1.0 }
    }

    /// What is expected by the heuristics alone.
    pub(crate) fn by_heuristics(&self, level: Level, len: usize) -> Expected {
        let OnLevel { encode, decode, fraction, .. } = &self.levels[level as usize];
        Expected {
            fraction: f64::from(*fraction),
            encode_ns: encode.time_ns(len),
            decode_ns: decode.time_ns(len),
        }
    }

    /// What is hoped for a message of this level and length: what has been learned, and the more the less was observed.
    #[inline]
    pub(crate) fn hoped(&self, level: Level, len: usize) -> Expected {
        let OnLevel { encode, decode, fraction, pace, seen } = &self.levels[level as usize];
        let doubt = 1.0 / (1.0 + seen);
        let pace = f64::from(pace * (1.0 - FASTER * doubt));
        Expected {
            fraction: f64::from((fraction - SHORTER * doubt).max(0.0)),
            encode_ns: pace * encode.time_ns(len),
            decode_ns: f64::from(self.decode_pace) * decode.time_ns(len),
        }
    }

    /// The same without hope.
    pub(crate) fn expected(&self, level: Level, len: usize) -> Expected {
        let OnLevel { encode, decode, fraction, pace, .. } = &self.levels[level as usize];
        Expected {
            fraction: f64::from(*fraction),
            encode_ns: f64::from(*pace) * encode.time_ns(len),
            decode_ns: f64::from(self.decode_pace) * decode.time_ns(len),
        }
    }

    /// The least time of encoding and decoding a message of this length, of whatever level.
    pub(crate) fn least_ns(&self, len: usize) -> f64 {
        let times = self.levels.iter().map(|of| of.encode.time_ns(len) + of.decode.time_ns(len));
        times.fold(f64::INFINITY, f64::min)
    }

    /// Records that there was a message of this level.
    #[inline]
    pub(crate) fn forget(&mut self, level: Level) {
        self.levels[level as usize].seen *= 1.0 - FORGOTTEN;
    }

    /// Records that a message of `len` bytes was encoded to this fraction of its length in `ns` nanoseconds.
    pub(crate) fn encoded(&mut self, level: Level, len: usize, fraction: f64, ns: f64) {
        let of = &mut self.levels[level as usize];
        let weight = WEIGHT.max(1.0 / (1.0 + of.seen));
        of.fraction += weight * (fraction.clamp(0.0, 1.0) as f32 - of.fraction);
        let most = if of.seen < 1.0 { FIRST_TIMES } else { TIMES };
        follow(&mut of.pace, ns / of.encode.time_ns(len), weight, most);
        of.seen = (of.seen + 1.0).min(SEEN_MOST);
    }

    /// Records that a message was decoded to `len` bytes in `ns` nanoseconds.
    pub(crate) fn decoded(&mut self, len: usize, ns: f64) {
        let decode = &self.levels[Level::Unknown as usize].decode;
        follow(&mut self.decode_pace, ns / decode.time_ns(len), WEIGHT, TIMES);
    }
}

/// Moves a pace towards a new one, of which only so much counts.
fn follow(pace: &mut f32, new: f64, weight: f32, most: f32) {
    if new > 0.0 {
        let new = (new as f32).clamp(*pace / most, *pace * most);
        *pace = (*pace + weight * (new - *pace)).clamp(1e-3, 1e3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate() -> Candidate {
        let speed = Speed { start_us: 1.0, mb_s: 1000.0, cold_us: 0.0 };
        let (kind, level, codec) = (Kind::F64, Level::Medium, "packer");
        let known = [Behaviour { kind, level, codec, ratio: 2.0, encode: speed, decode: speed }];
        Candidate::new(3, codec, kind, &known)
    }

    #[test]
    fn what_is_not_known_is_hoped_for_and_what_is_known_is_not() {
        let mut packer = candidate();
        let hoped = |packer: &Candidate| packer.hoped(Level::High, 100_000).fraction;
        assert!((hoped(&packer) - 0.38).abs() < 1e-6);
        packer.encoded(Level::High, 100_000, 0.9, 101e3);
        assert!(
            (hoped(&packer) - 0.84).abs() < 1e-6,
            "the first one is believed, and half of the doubt left"
        );
        (0..20).for_each(|_| packer.encoded(Level::High, 100_000, 0.9, 101e3));
        assert!(hoped(&packer) > 0.88);
        (0..500).for_each(|_| packer.forget(Level::High));
        assert!(hoped(&packer) < 0.8, "after a long time it may be another one");
        assert!((packer.expected(Level::High, 100_000).fraction - 0.9).abs() < 1e-6);
        assert!((packer.hoped(Level::Low, 1).fraction - 0.38).abs() < 1e-6, "other levels are others");
    }

    #[test]
    fn paces_follow_and_stay_in_bounds() {
        let mut packer = candidate();
        let expected = packer.by_heuristics(Level::Low, 100_000).encode_ns;
        let now = |packer: &Candidate| packer.expected(Level::Low, 100_000).encode_ns / expected;
        (0..5).for_each(|_| packer.encoded(Level::Low, 100_000, 0.5, expected));
        packer.encoded(Level::Low, 100_000, 0.5, 1e3 * expected);
        assert!(now(&packer) < 1.3, "an interruption");
        (0..40).for_each(|_| packer.encoded(Level::Low, 100_000, 0.5, 3.0 * expected));
        assert!((now(&packer) - 3.0).abs() < 0.1);
        for ns in [f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MAX, f64::MIN_POSITIVE] {
            (0..1000).for_each(|_| packer.encoded(Level::Low, 100_000, f64::NAN, ns));
            (0..1000).for_each(|_| packer.decoded(0, ns));
            let Expected { fraction, encode_ns, decode_ns } = packer.hoped(Level::Low, 100_000);
            assert!(
                encode_ns > 0.0 && encode_ns.is_finite() && decode_ns > 0.0 && decode_ns.is_finite(),
                "{ns}"
            );
            assert!((0.0..=1.0).contains(&fraction), "{ns}: {fraction}");
        }
    }

    #[test]
    fn an_unknown_codec_does_not_gain() {
        let unknown = Candidate::new(0, "unknown", Kind::F64, &[]);
        assert_eq!(unknown.expected(Level::Extreme, 1000).fraction, 1.0);
    }
}
