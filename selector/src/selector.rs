//! The adaptive strategy: content before history, one cost model, one judge.

use crate::bandwidth::Observed;
use crate::costs::{Costs, fraction};
use crate::decision::{Admitted, Choice, Decision, Offer, PROBE, Probe};
use crate::estimate::{Packed, Transfer};
use crate::heuristics::Behaviour;
use crate::judge::{Judge, TrialResult, Way};
use crate::link::Link;
use crate::sample::{self, Level};
use crate::size::SizeClass;
use crate::table::{CANDIDATES, Cell};
use crate::tally::Tally;
use mpress_codec::Kind;

const KINDS: usize = Kind::ALL.len();

/// For the decision whether to read a message: no codec compresses to less than this fraction, and the gain at that fraction must exceed this many
/// nanoseconds, the time of four reads with cold caches, because not every read gains.
const LEAST_FRACTION: f64 = 0.1;
const LOOKS_NS: f64 = 12e3;

/// After this many messages without a gain, half of the messages of that kind and length are read; after as many of those, a quarter, and so on, down
/// to one in 2^n for the second number, n.
const PATIENCE: u8 = 8;
const RAREST: u8 = 4;
/// A message that takes this many nanoseconds raw is always read: that is more than fifty times as long as a read with cold caches.
const READ_NS: f64 = 200e3;

/// The shortest message of which a part is encoded to learn about an unknown codec.
const PROBED_FROM: usize = 2 * PROBE;
/// A probe may take at most this fraction, 1/16, of the raw time of the message.
const PROBE_TIMES: f64 = 16.0;
/// A codec is tried if coding is expected to take less than this fraction of that time, because it may turn out to take several times longer.
const TRIED: f64 = 0.25;

/// A codec as offered to the selector.
#[derive(Clone, Debug)]
pub struct Offered<'a> {
    /// Its name, as in the heuristics.
    pub name: &'a str,
    /// The kinds of messages for which it may be chosen.
    pub kinds: &'a [Kind],
}

/// The gain of compression over sending raw, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gain {
    /// As expected at the time of the decisions, as if no message referred to an earlier one.
    pub expected_ns: f64,
    /// With the actual fractions and encoding times, those of messages that refer to earlier ones included.
    pub measured_ns: f64,
    /// The time that all messages passed to the selector would have taken raw, each with the link estimate at the time of sending: the reference for
    /// the other two.
    pub raw_ns: f64,
}

/// Mechanisms of a selector that can be disabled, to measure their benefit ([`Selector::without`]). [`Selector::admit`] omits the judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Messages too short to gain are not read.
    Length,
    /// Few messages like those that did not gain are read.
    Idle,
    /// A message is decided on by a sample of it.
    Sample,
    /// Observed results of codecs correct the heuristics.
    Learning,
    /// Unknown codecs are hoped to be better.
    Hope,
    /// An unknown codec first encodes a part of a long message.
    Probe,
}

impl Mechanism {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Length, Self::Idle, Self::Sample, Self::Learning, Self::Hope, Self::Probe];

    /// Its name in commands and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ["length", "idle", "sample", "learning", "hope", "probe"][self as usize]
    }
}

/// Decides for each message. Deterministic: the same calls give the same decisions.
///
/// The program's own work evicts all of this from the caches. What every decision needs comes first, in the order of use.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Selector {
    judge: Judge,
    gain: Gain,
    /// The length of the shortest message of each kind that may gain.
    shortest: [usize; KINDS],
    /// Selects which of the seldom-read messages are read.
    idle: u32,
    without: Option<Mechanism>,
    costs: Costs,
    /// By kind and length: how many messages in a row were read and did not pay.
    misses: [[u8; SizeClass::COUNT]; KINDS],
    /// The bandwidth for which the shortest lengths were determined.
    priced_mb_s: f64,
    tally: Tally,
}

/// If the bandwidth changes by this factor, the lengths that may gain are computed again.
const NEWS: f64 = 1.1;

impl Selector {
    /// The maximum number of codecs that are compared for a kind of messages.
    pub const CANDIDATES: usize = CANDIDATES;

    /// A selector that may choose among these codecs; the first [six](Self::CANDIDATES) for a kind are used. It starts from this knowledge of codecs
    /// and network; implausible values are ignored.
    #[must_use]
    pub fn new(offers: &[Offered<'_>], behaviours: &[Behaviour<'_>], link: Link, transfer: Transfer) -> Self {
        let costs = Costs::new(offers, behaviours, link, transfer);
        let mut selector = Self {
            shortest: [0; KINDS],
            priced_mb_s: f64::INFINITY,
            without: None,
            misses: [[0; SizeClass::COUNT]; KINDS],
            idle: 0,
            judge: Judge::new(),
            gain: Gain::default(),
            tally: Tally::new(costs.table.candidates),
            costs,
        };
        selector.price();
        selector
    }

    /// The same selector for a layer whose frames are never shorter than this: making a message shorter than that saves no more time. Initially this
    /// is 0.
    #[must_use]
    pub fn with_shortest_frame(mut self, len: usize) -> Self {
        self.costs.table.shortest_frame = len;
        self.price_anew();
        self
    }

    /// The same selector without one of its mechanisms.
    #[must_use]
    pub fn without(mut self, mechanism: Mechanism) -> Self {
        self.without = Some(mechanism);
        self.price_anew();
        self
    }

    fn has(&self, mechanism: Mechanism) -> bool {
        self.without != Some(mechanism)
    }

    /// Sets how messages are sent from now on.
    pub fn set_transfer(&mut self, transfer: Transfer) {
        self.costs.transfer = transfer;
        self.price_anew();
    }

    /// Decides what to do with a message.
    pub fn decide(&mut self, kind: Kind, message: &[u8]) -> Decision {
        match self.admit(kind, message.len()) {
            Some(admitted) => self.weigh(admitted, message),
            None => Decision::raw(kind, message.len(), None, 0.0),
        }
    }

    /// Decides whether a message of this length is worth reading: the first half of [`decide`](Self::decide), which does not need the bytes yet.
    /// `None`: send it unchanged.
    #[inline]
    pub fn admit(&mut self, kind: Kind, len: usize) -> Option<Admitted> {
        let raw_ns = self.costs.raw_ns(len);
        self.gain.raw_ns += raw_ns;
        if len < self.shortest(kind) {
            return None;
        }
        let rare = self.rarity(kind, len, raw_ns);
        if rare > 0 {
            // Multiples of the golden ratio: any run of messages gets its share, and so does any period of the program.
            self.idle = self.idle.wrapping_add(0x9e37_79b9);
            if self.idle >> (u32::BITS - u32::from(rare)) != 0 {
                return None;
            }
        }
        Some(Admitted { kind, len })
    }

    /// The same for a message that is sent now, with trials by the clock: in some short epochs all messages are sent raw, without being read. All
    /// processes must be in the same epoch. `now_ns`: the nanoseconds since a moment that is, as far as possible, the same for all processes; a
    /// difference of several milliseconds does no harm.
    pub fn admit_at(&mut self, kind: Kind, len: usize, now_ns: u64) -> Option<Admitted> {
        // Every message passed to this function counts; otherwise one way would seem to carry more.
        let way = self.judge.way(len, now_ns);
        self.admit(kind, len).filter(|_| way == Way::Decided)
    }

    /// Whether all messages are sent raw at this time: on trial by the clock, or because that was found to be faster.
    #[must_use]
    pub fn sends_raw(&self, now_ns: u64) -> bool {
        self.judge.sends_raw(now_ns)
    }

    /// Returns n if one in 2^n messages of this kind and length, which take this time raw, is read.
    #[inline(never)]
    fn rarity(&self, kind: Kind, len: usize, raw_ns: f64) -> u8 {
        if raw_ns >= READ_NS || !self.has(Mechanism::Idle) {
            return 0;
        }
        self.misses[kind as usize][SizeClass::of(len).index()] / PATIENCE
    }

    /// Whether a trial by the clock now sends messages differently than usual. The results of those do not apply to other messages.
    #[must_use]
    pub fn is_on_trial(&self, now_ns: u64) -> bool {
        self.judge.are_odd(now_ns)
    }

    /// The comparison of messages as decided with raw ones by the clock; `None` while there have been too few trials.
    #[must_use]
    pub fn trial_result(&self) -> Option<TrialResult> {
        self.judge.told.trial_result()
    }

    /// The second half of [`decide`](Self::decide), for an admitted message: the fastest way, according to a sample of the message.
    pub fn weigh(&mut self, admitted: Admitted, message: &[u8]) -> Decision {
        let Admitted { kind, len } = admitted;
        let level = if self.has(Mechanism::Sample) { sample::level(kind, message) } else { Level::Unknown };
        let tried = match self.without {
            Some(Mechanism::Learning | Mechanism::Hope) => 0.0,
            _ => TRIED,
        };
        let (mut decision, best) = self.costs.least(admitted, level, tried);
        if let (Some(at), Choice::Encode(offer)) = (best, decision.choice)
            && self.wants_probe(&decision, self.costs.table.cell(kind, level, at))
        {
            decision = Decision::raw(kind, len, Some(level), decision.raw_ns);
            decision.probes = Some(offer);
            return decision;
        }
        let (size, rare) = (SizeClass::of(len), self.rarity(kind, len, decision.raw_ns));
        self.costs.table.forget(kind, level, 1 << rare);
        self.tally.count((kind, size), best, rare);
        let misses = &mut self.misses[kind as usize][size.index()];
        *misses = (*misses + u8::from(best.is_none())).min(RAREST * PATIENCE);
        decision
    }

    /// Whether to encode a part of the message first, because its codec is unknown for such messages.
    fn wants_probe(&self, decision: &Decision, cell: &Cell) -> bool {
        !cell.is_known()
            && decision.len >= PROBED_FROM
            && PROBE_TIMES * cell.encode_ns(PROBE) < decision.raw_ns
            && !matches!(self.without, Some(Mechanism::Learning | Mechanism::Probe))
    }

    /// Reports that the probe of a decision was encoded to `wire_len` bytes in `ns` nanoseconds, and decides again about the message. The new
    /// decision may have a probe of another codec.
    pub fn probed(&mut self, decision: &Decision, wire_len: usize, ns: f64, message: &[u8]) -> Decision {
        let (Some(Probe { offer, window }), Some(level)) = (decision.probe(), decision.level) else {
            return decision.clone();
        };
        let (kind, len, part) = (decision.kind, decision.len, window.len());
        let cell = (kind, level, offer);
        // Most of its time is spent loading code, which says nothing about the message.
        self.costs.table.encoded(cell, part, (fraction(wire_len, part), false), None);
        self.gained(-ns);
        self.weigh(Admitted { kind, len }, message)
    }

    /// The length in bytes of the chunks in which a message with this decision is best encoded, a multiple of 8; `None` if it is faster as a whole, or
    /// sent raw.
    #[must_use]
    pub fn chunk_of(&self, decision: &Decision) -> Option<usize> {
        self.costs.chunk(decision.cell()?, decision.len)
    }

    /// The same for a message of this kind and length that others have decided to encode with this codec. A codec that is not compared for this kind is
    /// taken for an unknown one, with the shortest chunks.
    #[must_use]
    pub fn chunk(&self, kind: Kind, offer: Offer, len: usize) -> Option<usize> {
        self.costs.chunk((kind, Level::Unknown, offer), len)
    }

    /// Reports that the message was encoded with the chosen codec, to `wire_len` bytes in `ns` nanoseconds. If that is shorter than the message, it
    /// was sent compressed, otherwise raw.
    pub fn encoded(&mut self, decision: &Decision, wire_len: usize, ns: f64) {
        let len = decision.len;
        let Some(cell) = decision.cell() else { return };
        let Some(gain_ns) = self.costs.gain_ns(cell, len, wire_len, ns) else { return };
        if self.has(Mechanism::Learning) {
            let table = &mut self.costs.table;
            if decision.refers {
                table.referred(cell, len, ns);
            } else {
                let is_least = wire_len <= table.shortest_frame;
                table.encoded(cell, len, (fraction(wire_len, len), is_least), Some(ns));
            }
        }
        self.gain.expected_ns += decision.expected_gain_ns();
        self.gained(gain_ns);
        if gain_ns > 0.0 {
            self.misses[decision.kind as usize][SizeClass::of(len).index()] = 0;
        }
    }

    /// Adds to the measured gain, unless the value is not a number.
    fn gained(&mut self, ns: f64) {
        if ns.is_finite() {
            self.gain.measured_ns += ns;
        }
    }

    /// Reports that a message of this kind was decoded to `len` bytes in `ns` nanoseconds. Its receiver is assumed to need the same time.
    pub fn decoded(&mut self, kind: Kind, offer: Offer, len: usize, ns: f64) {
        if self.has(Mechanism::Learning) {
            self.costs.table.decoded(kind, offer, len, ns);
        }
    }

    /// Sets a link that was measured after the selector was created. Implausible values are ignored.
    pub fn set_link(&mut self, link: Link) {
        if link.is_sane() {
            self.costs.network = Observed::new(link);
            self.price_anew();
        }
    }

    /// Reports that `bytes` bytes from one or several processes arrived within `ns` nanoseconds, in which this process only waited for them or spent
    /// `coding_ns` coding, and that they were sent within `sent_ns`. This shows a lower bound of the bandwidth, and, if this process waited longer than
    /// sending took, also an upper bound: without coding, they would have arrived sooner by at most its time. The network is assumed to send as fast as
    /// it receives.
    pub fn arrived(&mut self, bytes: usize, (ns, coding_ns): (f64, f64), sent_ns: f64) {
        self.costs.network.arrived(bytes, (ns, coding_ns), sent_ns);
        self.price();
    }

    /// Reports that `bytes` bytes were exchanged with other processes in `elapsed_ns`, of which this rank waited `waited_ns`. The bandwidth is at
    /// least bytes over elapsed time, because that many were transferred while the rank waited or computed. The rank may also have waited for other
    /// ranks, so the bandwidth is assumed to be at most four times bytes over waiting time.
    pub fn passed(&mut self, bytes: usize, waited_ns: f64, elapsed_ns: f64) {
        self.costs.network.passed(bytes, waited_ns, elapsed_ns);
        self.price();
    }

    /// The current estimate of the link.
    #[must_use]
    pub fn link(&self) -> Link {
        self.costs.network.link
    }

    /// The length in bytes of the shortest message of a kind that may gain; `usize::MAX` if none does.
    #[inline]
    #[must_use]
    pub fn shortest(&self, kind: Kind) -> usize {
        self.shortest[kind as usize]
    }

    /// The gain of compression.
    #[must_use]
    pub fn gain(&self) -> Gain {
        self.gain
    }

    /// The number of times each choice was made. If the clock has shown that raw messages are faster, all messages have that choice.
    #[must_use]
    pub fn tally(&self) -> Tally {
        match self.judge.in_use {
            Way::Decided => self.tally.clone(),
            Way::Raw => self.tally.all_raw(),
        }
    }

    /// Computes which lengths may gain.
    fn price_anew(&mut self) {
        self.priced_mb_s = f64::INFINITY;
        self.price();
    }

    /// The same, if the bandwidth has changed much since the last time.
    fn price(&mut self) {
        let (costs, reads_all) = (&self.costs, !self.has(Mechanism::Length));
        let mb_s = self.link().bandwidth_mb_s;
        if (1.0 / NEWS..NEWS).contains(&(mb_s / self.priced_mb_s)) {
            return;
        }
        if mb_s < self.priced_mb_s {
            self.misses = [[0; SizeClass::COUNT]; KINDS];
        }
        self.priced_mb_s = mb_s;
        self.shortest = Kind::ALL.map(|kind| {
            let may_gain = |len: usize| {
                let encode_ns = costs.table.least_ns(kind, len);
                let fraction = LEAST_FRACTION.max(costs.table.shortest_fraction(len));
                let best = Packed { fraction, encode_ns, decode_ns: 0.0 };
                costs.time_ns(best, len) + LOOKS_NS < costs.raw_ns(len) || reads_all
            };
            SizeClass::all().map(SizeClass::start).find(|&len| may_gain(len)).unwrap_or(usize::MAX)
        });
    }
}
