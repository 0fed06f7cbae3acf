//! What is known about codecs on messages of a kind and redundancy level: at first the heuristics, then their results.
//!
//! The program's own work evicts all of this from the caches, and each cache line that a decision touches costs 100 ns. So the data that a decision
//! needs is stored together.

use crate::decision::Offer;
use crate::estimate::Packed;
use crate::heuristics::{Behaviour, Speed};
use crate::sample::Level;
use crate::selector::Offered;
use alloc::boxed::Box;
use core::hint::black_box;
use mpress_codec::Kind;

/// The maximum number of codecs that are considered for a kind of message.
pub(crate) const CANDIDATES: usize = 6;
const KINDS: usize = Kind::ALL.len();
const LEVELS: usize = Level::ALL.len();

/// The codecs that are considered for each kind, by their index in the offers, followed by `None`.
pub(crate) type Candidates = [[Option<Offer>; CANDIDATES]; KINDS];

/// A codec never observed at a level may make messages shorter than expected by up to this fraction of their length. One that was observed may do so
/// by at most this fraction of its result. The codec is used where that would make it the best: optimism in the face of uncertainty (Lai and Robbins,
/// *Asymptotically efficient adaptive allocation rules*, 1985).
const SHORTER: f32 = 0.3;
const PART: f32 = 0.5;
/// Observations reduce this hope. Each message of the level forgets this fraction of the observations, and half that fraction of the differences
/// between times and heuristics.
const FORGOTTEN: f32 = 0.004;
/// A codec is known while this much of an observation is left.
const KNOWN: f32 = 0.5;
/// The number of observations that count, and the weight of a new one after the first few.
const SEEN_MOST: f32 = 8.0;
const WEIGHT: f32 = 0.25;
/// A time counts as at most this many times the expected one, for the first observation and for later ones, because the rank may have been
/// interrupted. Of three late times in a row, the least counts fully.
const FIRST_TIMES: f32 = 3.0;
const TIMES: f32 = 2.0;
const LATE: u8 = 3;

/// The assumption for an unknown codec, with no gain.
const UNKNOWN: Speed = Speed { start_us: 1.0, mb_s: 2000.0, cold_us: 0.0 };

/// A fixed time, and a time for each byte, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: f32,
    byte: f32,
}

impl Line {
    fn new(speed: &Speed) -> Self {
        Self { start: (speed.start_us * 1e3) as f32, byte: (1e3 / speed.mb_s) as f32 }
    }

    #[inline]
    fn ns(self, len: usize) -> f32 {
        self.start + self.byte * len as f32
    }
}

/// A codec on messages of a kind and level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    encode: Line,
    decode: Line,
    /// Compressed over raw bytes.
    fraction: f32,
    /// Actual over expected times of encoding.
    pace: f32,
    /// The number of observations, minus the forgotten ones.
    seen: f32,
    /// How many of the latest times in a row were more than [`TIMES`] the expected one, and the least of their paces.
    late: (u8, f32),
}

impl Cell {
    fn new(codec: &str, (kind, level): (Kind, Level), behaviours: &[Behaviour<'_>]) -> Self {
        let known = behaviours.iter().filter(|b| b.kind == kind && b.codec == codec && b.is_sane());
        let nearest = known.min_by_key(|b| (b.level as u8).abs_diff(level as u8));
        let (fraction, encode, decode) = match nearest {
            Some(b) => ((1.0 / b.ratio).min(1.0) as f32, &b.encode, &b.decode),
            None => (1.0, &UNKNOWN, &UNKNOWN),
        };
        let (encode, decode) = (Line::new(encode), Line::new(decode));
        Self { encode, decode, fraction, pace: 1.0, seen: 0.0, late: (0, 0.0) }
    }

    /// Whether there was a recent observation.
    pub(crate) fn is_known(&self) -> bool {
        self.seen >= KNOWN
    }

    /// The expected time of encoding a message or a part of one, in nanoseconds.
    #[inline]
    pub(crate) fn encode_ns(&self, len: usize) -> f64 {
        f64::from(self.pace * self.encode.ns(len))
    }

    /// The weight of a new observation.
    fn weight(&self) -> f32 {
        WEIGHT.max(1.0 / (1.0 + self.seen))
    }

    /// Records the time of encoding a message of this length.
    fn took(&mut self, len: usize, ns: f64) {
        let new = ns as f32 / self.encode.ns(len);
        self.late = match self.late {
            _ if new <= TIMES * self.pace => (0, 0.0),
            (0, _) => (1, new),
            (late, least) => (late + 1, least.min(new)),
        };
        if self.late.0 == LATE {
            let least = self.late.1.max(self.pace);
            follow(&mut self.pace, least, 1.0, f32::MAX);
            self.late = (0, 0.0);
            return;
        }
        let (weight, most) = (self.weight(), if self.seen < 1.0 { FIRST_TIMES } else { TIMES });
        follow(&mut self.pace, new, weight, most);
    }

    /// Counts an observation.
    fn see(&mut self) {
        self.seen = (self.seen + 1.0).min(SEEN_MOST);
    }

    /// Forgets this fraction of the observations, and half of it of the pace. A call, so that a loop over cells is short code.
    #[inline(never)]
    fn forget(&mut self, part: f32) {
        self.seen = if self.seen > FORGOTTEN { self.seen * (1.0 - part) } else { 0.0 };
        forget(&mut self.pace, part);
    }

    /// The expected fraction of a message, at least `shortest`, the fraction that the shortest frame has. `hoped` makes it smaller; the effect
    /// shrinks as the codec is observed.
    #[inline]
    fn fraction(&self, shortest: f64, hoped: bool) -> f64 {
        let doubt = 1.0 / (1.0 + self.seen);
        let most = if self.is_known() { SHORTER.min(PART * self.fraction) } else { SHORTER };
        let hope = if hoped { most * doubt * doubt } else { 0.0 };
        f64::from(self.fraction - hope).max(shortest)
    }
}

/// The codecs that may be chosen, and what is known about them.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Table {
    cells: Box<[[[Cell; CANDIDATES]; LEVELS]; KINDS]>,
    /// No frame is shorter than this, in bytes.
    pub(crate) shortest_frame: usize,
    pub(crate) candidates: Candidates,
    /// Actual over expected times of decoding. Only the sender of a message knows its level.
    decode_pace: [[f32; CANDIDATES]; KINDS],
}

impl Table {
    /// A table with the heuristics. The first [`CANDIDATES`] offers for a kind are its candidates.
    pub(crate) fn new(offers: &[Offered<'_>], behaviours: &[Behaviour<'_>]) -> Self {
        let candidates = Kind::ALL.map(|kind| {
            let all = (0..=Offer::MAX).zip(offers);
            let mut suitable = all.filter(|(_, offered)| offered.kinds.contains(&kind)).map(|(at, _)| at);
            core::array::from_fn(|_| suitable.next())
        });
        let name = |offer: Option<Offer>| offer.map_or("", |at| offers[usize::from(at)].name);
        let cells = Kind::ALL.map(|kind| {
            Level::ALL.map(|level| {
                candidates[kind as usize].map(|offer| Cell::new(name(offer), (kind, level), behaviours))
            })
        });
        Self {
            candidates,
            shortest_frame: 0,
            cells: Box::new(cells),
            decode_pace: [[1.0; CANDIDATES]; KINDS],
        }
    }

    /// What is expected of a codec that is no candidate.
    pub(crate) fn unknown(len: usize) -> Packed {
        let ns = f64::from(Line::new(&UNKNOWN).ns(len));
        Packed { fraction: 1.0, encode_ns: ns, decode_ns: ns }
    }

    /// The index of a candidate.
    pub(crate) fn place(&self, kind: Kind, offer: Offer) -> Option<usize> {
        self.candidates[kind as usize].iter().position(|&one| one == Some(offer))
    }

    /// What is known about a candidate on messages of a level.
    #[inline]
    pub(crate) fn cell(&self, kind: Kind, level: Level, at: usize) -> &Cell {
        &self.cells[kind as usize][level as usize][at]
    }

    /// The candidates for a kind, with their indices. Their number is hidden from the compiler, so that it does not unroll loops over them: the code
    /// would have to be loaded.
    #[inline]
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (usize, Offer)> + '_ {
        black_box(&self.candidates[kind as usize][..]).iter().map_while(|offer| *offer).enumerate()
    }

    /// The expected result of a candidate for a message of this length, from what has been learned. A candidate that is not well known, and whose
    /// coding takes less than `hope_ns`, is hoped to be better.
    #[inline(never)]
    pub(crate) fn expected(&self, kind: Kind, level: Level, at: usize, len: usize, hope_ns: f64) -> Packed {
        let cell = self.cell(kind, level, at);
        let (encode_ns, decode_ns) = (cell.encode_ns(len), self.decode_ns_at(kind, level, at, len));
        let fraction = cell.fraction(self.shortest_fraction(len), encode_ns + decode_ns < hope_ns);
        Packed { fraction, encode_ns, decode_ns }
    }

    #[inline]
    fn decode_ns_at(&self, kind: Kind, level: Level, at: usize, len: usize) -> f64 {
        f64::from(self.decode_pace[kind as usize][at] * self.cell(kind, level, at).decode.ns(len))
    }

    /// The smallest fraction that a frame can have of a message of this length.
    #[inline]
    pub(crate) fn shortest_fraction(&self, len: usize) -> f64 {
        (self.shortest_frame as f64 / len.max(1) as f64).min(1.0)
    }

    /// The minimum time of encoding and decoding a message of this length that becomes much shorter, by the heuristics. A message that does not takes
    /// less, because codecs give up.
    pub(crate) fn least_ns(&self, kind: Kind, len: usize) -> f64 {
        let redundant = [Level::High, Level::Extreme, Level::Unknown];
        let all = redundant.into_iter().flat_map(|level| self.of_kind(kind).map(move |(at, _)| (level, at)));
        let cells = all.map(|(level, at)| self.cell(kind, level, at));
        cells.map(|cell| f64::from(cell.encode.ns(len) + cell.decode.ns(len))).fold(f64::INFINITY, f64::min)
    }

    /// Records a message of this level, which counts as this number of messages.
    #[inline]
    pub(crate) fn forget(&mut self, kind: Kind, level: Level, messages: u16) {
        let part = FORGOTTEN * f32::from(messages);
        black_box(&mut self.cells[kind as usize][level as usize][..])
            .iter_mut()
            .for_each(|cell| cell.forget(part));
        black_box(&mut self.decode_pace[kind as usize][..]).iter_mut().for_each(|pace| forget(pace, part));
    }

    /// The expected time of decoding a message to `len` bytes, in nanoseconds; `None` if the codec is not a candidate.
    pub(crate) fn decode_ns(&self, (kind, level, offer): (Kind, Level, Offer), len: usize) -> Option<f64> {
        Some(self.decode_ns_at(kind, level, self.place(kind, offer)?, len))
    }

    /// Records that `len` bytes were encoded to this fraction of their length. `is_least`: the frame has the minimum length, so the fraction is only
    /// an upper bound. `ns`: the time this took, if it is meaningful.
    pub(crate) fn encoded(
        &mut self,
        (kind, level, offer): (Kind, Level, Offer),
        len: usize,
        (fraction, is_least): (f64, bool),
        ns: Option<f64>,
    ) {
        let Some(at) = self.place(kind, offer).filter(|_| fraction.is_finite()) else { return };
        let row = &mut self.cells[kind as usize][level as usize];
        let cell = &mut row[at];
        let mut change = cell.weight() * (fraction.clamp(0.0, 1.0) as f32 - cell.fraction);
        if is_least {
            change = change.min(0.0);
        }
        cell.fraction += change;
        if let Some(ns) = ns {
            cell.took(len, ns);
        }
        cell.see();
        // If a codec does better or worse than expected, the same is expected of codecs never observed at this level.
        for other in row.iter_mut().filter(|other| other.seen == 0.0) {
            other.fraction = (other.fraction + change).clamp(0.0, 1.0);
        }
    }

    /// Records that a message of `len` bytes that refers to an earlier one was encoded in `ns` nanoseconds. What is known of the fraction of others
    /// remains known: the codec need not be tried again while it is in use.
    pub(crate) fn referred(&mut self, (kind, level, offer): (Kind, Level, Offer), len: usize, ns: f64) {
        let Some(at) = self.place(kind, offer) else { return };
        let cell = &mut self.cells[kind as usize][level as usize][at];
        cell.took(len, ns);
        if cell.is_known() {
            cell.see();
        }
    }

    /// Records that a message was decoded to `len` bytes in `ns` nanoseconds. Only its sender knows its level.
    pub(crate) fn decoded(&mut self, kind: Kind, offer: Offer, len: usize, ns: f64) {
        let Some(at) = self.place(kind, offer) else { return };
        let expected = self.cell(kind, Level::Unknown, at).decode.ns(len);
        follow(&mut self.decode_pace[kind as usize][at], ns as f32 / expected, WEIGHT, TIMES);
    }
}

/// Moves a pace towards a new one, whose effect is limited.
fn follow(pace: &mut f32, new: f32, weight: f32, most: f32) {
    if new > 0.0 {
        let new = new.clamp(*pace / most, *pace * most);
        *pace = (*pace + weight * (new - *pace)).clamp(1e-3, 1e3);
    }
}

/// Moves a pace towards that of the heuristics, because only messages of this codec would show that it has changed.
fn forget(pace: &mut f32, part: f32) {
    *pace += part / 2.0 * (1.0 - *pace);
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind::F64;

    fn table() -> Table {
        let speed = Speed { start_us: 1.0, mb_s: 1000.0, cold_us: 0.0 };
        let (level, codec) = (Level::Medium, "packer");
        let known = [Behaviour { kind: KIND, level, codec, ratio: 2.0, encode: speed, decode: speed }];
        let offers = [Offered { name: "other", kinds: &[] }, Offered { name: codec, kinds: &[KIND] }];
        Table::new(&offers, &known)
    }

    fn encoded(table: &mut Table, level: Level, fraction: f64, ns: f64) {
        assert!(table.decode_ns((KIND, level, 1), 100_000).is_some());
        table.encoded((KIND, level, 1), 100_000, (fraction, false), Some(ns));
    }

    #[test]
    fn what_is_not_known_is_hoped_for_and_what_is_known_is_not() {
        let mut table = table();
        let hoped = |table: &Table, level| table.expected(KIND, level, 0, 100_000, f64::INFINITY).fraction;
        let is_known = |table: &Table| table.cell(KIND, Level::High, 0).is_known();
        assert!((hoped(&table, Level::High) - 0.2).abs() < 1e-6 && !is_known(&table));
        encoded(&mut table, Level::High, 0.9, 101e3);
        assert!((hoped(&table, Level::High) - 0.825).abs() < 1e-6, "the first observation counts fully");
        assert!(is_known(&table));
        (0..20).for_each(|_| encoded(&mut table, Level::High, 0.9, 101e3));
        assert!(hoped(&table, Level::High) > 0.89);
        (0..1000).for_each(|_| table.forget(KIND, Level::High, 1));
        assert!(hoped(&table, Level::High) < 0.7, "after a long time it may have changed");
        let expected = table.expected(KIND, Level::High, 0, 100_000, 0.0);
        assert!((expected.fraction - 0.9).abs() < 1e-6);
        assert!((hoped(&table, Level::Low) - 0.2).abs() < 1e-6, "other levels are unaffected");
    }

    #[test]
    fn paces_follow_and_stay_in_bounds() {
        let mut table = table();
        let now = |table: &Table| table.expected(KIND, Level::Low, 0, 100_000, 0.0).encode_ns / 101e3;
        (0..5).for_each(|_| encoded(&mut table, Level::Low, 0.5, 101e3));
        encoded(&mut table, Level::Low, 0.5, 101e6);
        assert!(now(&table) < 1.3, "an interruption");
        (0..40).for_each(|_| encoded(&mut table, Level::Low, 0.5, 303e3));
        assert!((now(&table) - 3.0).abs() < 0.1);
        for ns in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, f64::MAX, f64::MIN_POSITIVE] {
            for _ in 0..1000 {
                encoded(&mut table, Level::Low, f64::NAN, ns);
                encoded(&mut table, Level::Low, 0.5, ns);
                table.encoded((KIND, Level::Low, 1), usize::MAX, (0.5, false), Some(ns));
                table.decoded(KIND, 1, 0, ns);
            }
            for level in [Level::Low, Level::High] {
                let expected = table.expected(KIND, level, 0, 100_000, f64::INFINITY);
                let Packed { fraction, encode_ns, decode_ns } = expected;
                let is_sane = |ns: f64| ns > 0.0 && ns.is_finite();
                assert!(is_sane(encode_ns) && is_sane(decode_ns), "{ns}: {expected:?}");
                assert!((0.0..=1.0).contains(&fraction), "{ns}: {fraction}");
            }
        }
    }

    #[test]
    fn what_is_late_three_times_is_slow() {
        let mut table = table();
        let pace = |table: &Table, level| table.expected(KIND, level, 0, 100_000, 0.0).encode_ns / 101e3;
        (0..2).for_each(|_| encoded(&mut table, Level::Low, 0.5, 4040e3));
        assert!(pace(&table, Level::Low) < 6.0, "these may be interruptions");
        encoded(&mut table, Level::Low, 0.5, 4040e3);
        assert!((pace(&table, Level::Low) - 40.0).abs() < 0.1);
        // Of three, the last was also interrupted.
        [500e3, 700e3, 101e6].into_iter().for_each(|ns| encoded(&mut table, Level::Medium, 0.5, ns));
        assert!((4.0..7.0).contains(&pace(&table, Level::Medium)));
        assert!((pace(&table, Level::High) - 1.0).abs() < 1e-3, "other levels are unaffected");
    }

    #[test]
    fn an_unknown_codec_does_not_gain() {
        let table = Table::new(&[Offered { name: "unknown", kinds: &[KIND] }], &[]);
        assert_eq!(table.expected(KIND, Level::Extreme, 0, 1000, 0.0).fraction, 1.0);
        assert_eq!([KIND, Kind::F32].map(|kind| table.of_kind(kind).count()), [1, 0]);
    }
}
