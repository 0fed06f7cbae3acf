//! The weighing of one message: the expected result of each codec.

use crate::context::Context;
use crate::estimate::Route;
use crate::priors::Candidate;
use crate::sample::Level;

/// The codec in use for a sort of messages is replaced only by one that is better by more than this fraction.
const HYSTERESIS: f64 = 0.02;
/// The bytes of a message that are encoded as a probe: this part of a long one, within these bounds.
const PROBE_PART: usize = 16;
const PROBE: core::ops::Range<usize> = 8 << 10..64 << 10;
/// From this length on, a codec that was never observed is tried on a part of the message, not on all of it.
const LONG: usize = 128 << 10;

/// The factor by which the estimate of the processor's time may be wrong.
const DOUBT: f64 = 2.0;

/// A message of this level and length, and the codecs that may compress it. Candidates are named by their indices.
#[derive(Clone, Copy)]
pub(crate) struct Scales<'a> {
    pub(crate) candidates: &'a [Candidate],
    pub(crate) context: &'a Context,
    pub(crate) route: Route<'a>,
    pub(crate) level: Level,
    pub(crate) len: usize,
    /// The nanoseconds that it takes raw.
    pub(crate) raw_ns: f64,
}

impl Scales<'_> {
    /// The nanoseconds that the message takes with this candidate: as expected with `doubt` 0, in the worst case with 1, in the best case with -1.
    #[inline]
    pub(crate) fn time_ns(&self, at: usize, doubt: f64) -> f64 {
        let candidate = &self.candidates[at];
        let fraction = self.context.fraction(at, candidate.fraction(self.level));
        let fraction = (fraction + doubt * self.context.cells[at].doubt()).clamp(0.0, 1.0);
        let encode_ns = candidate.encode_ns(self.level, self.len);
        self.route.time_ns(self.len, fraction, encode_ns, candidate.decode_ns(self.level, self.len))
    }

    /// The fastest candidate and its nanoseconds, if it is faster than raw. To replace the one in use it must be clearly faster.
    pub(crate) fn best(&self, current: Option<usize>) -> Option<(usize, f64)> {
        let (mut best, mut least) = (None, f64::INFINITY);
        for at in 0..self.candidates.len() {
            let ns = self.time_ns(at, 0.0);
            let with_favour = if current == Some(at) { ns * (1.0 - HYSTERESIS) } else { ns };
            if ns < self.raw_ns && with_favour < least {
                (best, least) = (Some((at, ns)), with_favour);
            }
        }
        best
    }

    /// Whether it depends on the processor's time whether a message in chunks gains, so that the estimate should not be trusted: it gains if handing over
    /// and the other way need no time, but not if these and encoding take twice the time.
    pub(crate) fn are_doubtful(&self) -> bool {
        self.may_gain() && !self.gain_with(DOUBT)
    }

    /// Whether a message in chunks gains if handing over and the other way need no time.
    pub(crate) fn may_gain(&self) -> bool {
        self.gain_with(0.0)
    }

    /// Whether it gains if handing over, the other way, and encoding beyond its own time take this many times as long.
    fn gain_with(&self, factor: f64) -> bool {
        let Route { handover_ns, both_ways, .. } = self.route;
        let route = Route { handover_ns: factor * handover_ns, both_ways: factor * both_ways, ..self.route };
        let scales = Scales { route, ..*self };
        (0..self.candidates.len()).any(|at| {
            let encode_ns = (factor - 1.0).max(0.0) * self.candidates[at].encode_ns(self.level, self.len);
            scales.time_ns(at, 0.0) + encode_ns < self.raw_ns
        })
    }

    /// The least observed of the candidates that may be better than the best one.
    pub(crate) fn rival(&self, (best, best_ns): (usize, f64)) -> Option<usize> {
        let may_win = |&at: &usize| at != best && self.time_ns(at, -1.0) < best_ns;
        (0..self.candidates.len()).filter(may_win).min_by_key(|&at| self.context.cells[at].seen())
    }

    /// Whether a codec that is much slower than known would cost much.
    pub(crate) fn is_long(&self) -> bool {
        self.len >= LONG
    }

    /// Whether this candidate on the whole message could cost much: it is long, and the candidate has never been observed on such, or was last much
    /// slower than expected.
    pub(crate) fn is_risky(&self, at: usize) -> bool {
        self.is_long() && (self.context.cells[at].seen() == 0 || self.candidates[at].is_in_doubt(self.level))
    }

    /// The least observed of the candidates other than the best one. It may only seem to be slow.
    pub(crate) fn forgotten(&self, best: usize) -> Option<usize> {
        (0..self.candidates.len()).filter(|&at| at != best).min_by_key(|&at| self.context.cells[at].seen())
    }

    /// The least observed of the candidates that would gain if they compressed the message to nothing.
    pub(crate) fn hopeful(&self) -> Option<usize> {
        let vanished_ns =
            |at: usize| self.candidates[at].encode_ns(self.level, self.len) + self.route.link.time_ns(0.0);
        let hopeful = (0..self.candidates.len()).filter(|&at| vanished_ns(at) < self.raw_ns);
        hopeful.min_by_key(|&at| self.context.cells[at].seen())
    }

    /// The number of bytes of a probe.
    pub(crate) fn probe_len(&self) -> usize {
        (self.len / PROBE_PART).clamp(PROBE.start, PROBE.end).min(self.len)
    }

    /// The nanoseconds that a probe of this candidate takes.
    pub(crate) fn probe_ns(&self, at: usize) -> f64 {
        self.candidates[at].encode_ns(self.level, self.probe_len())
    }
}
