//! The adaptive strategy: decisions from estimates, estimates from outcomes (PRAcTICaL-MPI, section 3).

mod network;

use crate::contest::{Contest, Turn};
use crate::context::{Context, NEW_FRACTION};
use crate::decision::{Admitted, Choice, Decision, LookedAt, Offer, Probe};
use crate::epochs::{Epochs, Way};
use crate::estimate::{PRICE, Route, Transfer};
use crate::flow::Flow;
use crate::heuristics::Behaviour;
use crate::ledger::{Gain, Ledger};
use crate::link::{Link, Observed, PEER_CLASSES, Peer, PeerClass};
use crate::priors::{CANDIDATES, Candidate, may_gain};
use crate::sample::{self, Level};
use crate::scales::Scales;
use crate::size::{CLASSES, SizeClass};
use crate::tally::{Tally, all_raw};
use crate::trials::ByTheClock;
use crate::window::{Admission, Thresholds, Window};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use mpress_codec::Kind;

const KINDS: usize = Kind::ALL.len();
const LEVELS: usize = Level::ALL.len();

/// The maximum cost of a sample, as a fraction of the message's raw time; and its cost, in nanoseconds.
const SAMPLE_PART: f64 = 0.003;
const SAMPLE_NS: f64 = 500.0;

/// A codec as it is offered to the selector.
#[derive(Clone, Debug)]
pub struct Offered<'a> {
    /// Its name, as in the heuristics.
    pub name: &'a str,
    /// The kinds of messages for which it may be chosen.
    pub kinds: &'a [Kind],
}

/// Decides for each message. Deterministic: the same calls give the same decisions.
#[derive(Clone, Debug)]
pub struct Selector {
    transfer: Transfer,
    candidates: [Vec<Candidate>; KINDS],
    links: [Observed; PEER_CLASSES],
    windows: Box<[[Window; PEER_CLASSES]; KINDS]>,
    /// The indices of the contexts. Each context is created at the first message of its sort.
    index: Box<[[[Option<u16>; LEVELS]; CLASSES]; KINDS]>,
    contexts: Vec<Context>,
    ledger: Ledger,
    flow: Flow,
    gains: [Gain; PEER_CLASSES],
    epochs: Epochs,
    /// Only of messages in chunks.
    contests: BTreeMap<Sort, Contest>,
}

/// Messages of this kind, class of processes and size class.
type Sort = (usize, usize, usize);

impl Selector {
    /// A selector that may choose among these codecs, of which the first eight for a kind are used. It starts from this knowledge of codecs and
    /// links; implausible entries are ignored.
    #[must_use]
    pub fn new(
        offers: &[Offered<'_>],
        behaviours: &[Behaviour<'_>],
        links: &[Link; PEER_CLASSES],
        transfer: Transfer,
    ) -> Self {
        let candidates = Kind::ALL.map(|kind| {
            let suitable = (0..=Offer::MAX).zip(offers).filter(|(_, offered)| offered.kinds.contains(&kind));
            suitable
                .take(CANDIDATES)
                .map(|(at, offered)| Candidate::new(at, offered.name, kind, behaviours))
                .collect()
        });
        let defaults = &crate::heuristics::DEFAULT_LINKS;
        let link = |at: usize| Observed::new(if links[at].is_sane() { links[at] } else { defaults[at] });
        let mut selector = Self {
            transfer,
            candidates,
            links: core::array::from_fn(link),
            windows: Box::new(core::array::from_fn(|_| core::array::from_fn(|_| Window::new()))),
            index: Box::new([[[None; LEVELS]; CLASSES]; KINDS]),
            contexts: Vec::new(),
            ledger: Ledger::default(),
            flow: Flow::default(),
            gains: [Gain::default(); PEER_CLASSES],
            epochs: Epochs::new(),
            contests: BTreeMap::new(),
        };
        PeerClass::all().for_each(|peer| selector.reset_windows(peer));
        selector
    }

    /// Sets how messages are sent from now on.
    pub fn set_transfer(&mut self, transfer: Transfer) {
        self.transfer = transfer;
    }

    /// Decides what to do with a message.
    pub fn decide(&mut self, kind: Kind, peer: impl Into<Peer>, message: &[u8]) -> Decision {
        let peer = peer.into();
        match self.admit(kind, peer, message.len()) {
            Some(admitted) => self.weigh(admitted, message),
            None => Decision::outside(kind, peer.class, message.len()),
        }
    }

    /// Decides whether a message of this length is worth reading: the first half of [`decide`](Self::decide), for which its bytes are not yet needed.
    /// `None`: send it unchanged.
    pub fn admit(&mut self, kind: Kind, peer: impl Into<Peer>, len: usize) -> Option<Admitted> {
        let Peer { class: peer, node } = peer.into();
        let size = SizeClass::of(len);
        let link = &self.links[peer.index()];
        let own = link.own(node);
        let raw_ns = own.as_ref().unwrap_or(link.link()).time_ns(len as f64);
        self.ledger.sends(raw_ns);
        self.gains[peer.index()].raw_ns += raw_ns;
        let of_class = self.windows[kind as usize][peer.index()].admits(size);
        let admission = match &own {
            // The window is that of other nodes. But what is inside it is counted by contests, on all ranks alike.
            Some(own) if may_gain(&self.candidates[kind as usize], own, size) => Admission::Inside,
            _ => of_class,
        };
        let reopened = match admission {
            // A contest needs all messages of its size.
            Admission::Outside if self.has_contest(kind, peer, size, len) => false,
            Admission::Outside => return None,
            Admission::Inside => false,
            Admission::Reopened => true,
        };
        Some(Admitted { kind, peer, own, len, size, raw_ns, reopened, now_ns: None, contest_ns: None })
    }

    /// The same for a message that is sent now, with trials by the clock: in some short epochs all messages are sent raw, without being read. All
    /// processes must be in the same epoch. `now_ns`: the nanoseconds since a moment that is the same for all processes, as far as possible; a
    /// difference of several milliseconds does no harm.
    pub fn admit_at(
        &mut self,
        kind: Kind,
        peer: impl Into<Peer>,
        len: usize,
        now_ns: u64,
    ) -> Option<Admitted> {
        // Every message counts, inside the window or not: otherwise one way would seem to carry more.
        match self.epochs.way(len, now_ns) {
            Way::Raw => None,
            Way::Decided => {
                self.admit(kind, peer, len).map(|admitted| Admitted { now_ns: Some(now_ns), ..admitted })
            }
        }
    }

    /// Whether a trial by the clock sends messages at this time differently than usual. Their outcome does not apply to other messages.
    #[must_use]
    pub fn is_on_trial(&self, now_ns: u64) -> bool {
        self.epochs.are_odd(now_ns)
    }

    /// The comparison of messages as decided with raw ones by the clock; `None` while there were too few trials.
    #[must_use]
    pub fn by_the_clock(&self) -> Option<ByTheClock> {
        self.epochs.by_the_clock()
    }

    /// The second half of [`decide`](Self::decide), for a message that was admitted.
    pub fn weigh(&mut self, admitted: Admitted, message: &[u8]) -> Decision {
        let Admitted { kind, peer, own, len, size, raw_ns, reopened, now_ns, contest_ns } = admitted;
        let level =
            if raw_ns * SAMPLE_PART < SAMPLE_NS { Level::Unknown } else { sample::level(kind, message) };
        let mut decision =
            Decision { own, raw_ns, expected_ns: raw_ns, ..Decision::outside(kind, peer, len) };
        let Some(at) = self.context(kind, size, level) else { return decision };
        decision.looked_at = Some(LookedAt { context: at, size, level });
        let context = &mut self.contexts[usize::from(at)];
        if reopened {
            context.try_now();
        }
        let (due, class, peer) = (context.is_due(), peer, peer.index());
        let visits = context.visit();

        let (candidates, ledger) = (&self.candidates[kind as usize], &self.ledger);
        let route = route(&self.links[peer], &own, self.transfer, &self.flow);
        let mut scales = Scales { candidates, context, route, level, len, raw_ns };
        decision.contest_ns = contest_ns;
        if let Some(now_ns) = now_ns.filter(|_| self.transfer.is_in_chunks(len)) {
            // Its own contest does not matter: if that is in a trial, it does not begin one.
            let may_begin = !self.contests.values().any(Contest::is_in_trial);
            let contest = self.contests.entry(sort(kind, class, size)).or_default();
            let turn =
                contest.turn(|| own.is_none() && scales.are_doubtful(), may_begin, (len, raw_ns), now_ns);
            // The result is that of all nodes together, most of which are unlike this one.
            let applies = own.is_none() || contest.is_in_trial();
            match if applies { turn } else { Turn::Estimated } {
                Turn::Compressed if scales.may_gain() => decision.contest_ns = Some(contest.gain() * raw_ns),
                Turn::Compressed | Turn::Estimated => {}
                Turn::Raw => {
                    context.choose(peer, None);
                    return decision;
                }
            }
        }
        if decision.contest_ns.is_some() {
            scales.raw_ns = f64::INFINITY;
        }
        let raw_ns = scales.raw_ns;
        let best = scales.best(scales.context.current(peer));
        let affordable = |at: &usize| ledger.covers(scales.probe_ns(*at));
        if let Some((at, ns)) = best.filter(|&(at, _)| scales.is_risky(at))
            && ledger.covers(ns + scales.probe_ns(at) - raw_ns)
        {
            decision.probe = Some(Probe::somewhere(candidates[at].offer, len, scales.probe_len(), visits));
            decision.is_tentative = true;
            return decision;
        }
        // It may gain, but the possible loss may exceed what the gains so far allow.
        let certain =
            best.filter(|&(at, _)| !scales.is_risky(at) && ledger.covers(scales.time_ns(at, 1.0) - raw_ns));
        // A codec that may be better is tried on the message itself, or one that only handing chunks over and decoding others keeps from gaining, as
        // that may have changed.
        let rival = match best {
            Some(_) => certain.filter(|_| due).and_then(|best| Some((scales.rival(best)?, best.1))),
            None if due && route.handover_ns + route.both_ways > 0.0 => {
                let alone = Scales { route: Route { handover_ns: 0.0, both_ways: 0.0, ..route }, ..scales };
                alone.best(None).map(|(at, _)| (at, raw_ns))
            }
            None => None,
        };
        let risky = rival.map(|(at, _)| at).filter(|&at| scales.is_risky(at));
        let trial = rival
            .filter(|&(at, without_ns)| {
                risky.is_none() && ledger.covers(scales.time_ns(at, 1.0) - without_ns)
            })
            .map(|(at, _)| (at, scales.time_ns(at, 0.0)));
        let probed = match best {
            _ if risky.is_some() => risky.filter(affordable),
            None if due && trial.is_none() => scales.hopeful().filter(affordable),
            Some((at, _)) if certain.is_none() => Some(at).filter(affordable),
            Some((at, _)) if due && rival.is_none() && scales.is_long() && scales.context.is_settled() => {
                scales.forgotten(at).filter(affordable)
            }
            _ => None,
        };
        if let Some((at, _)) = trial.or(certain) {
            let told = Scales { route: route.unpriced(), ..scales };
            decision.choice = Choice::Encode(candidates[at].offer);
            decision.expected_ns = match decision.contest_ns {
                Some(gain_ns) => decision.raw_ns - gain_ns,
                None => told.time_ns(at, 0.0),
            };
        }
        decision.probe =
            probed.map(|at| Probe::somewhere(candidates[at].offer, len, scales.probe_len(), visits));

        let context = &mut self.contexts[usize::from(at)];
        // What is in use for most nodes is not for this one.
        if own.is_none() && (certain.is_some() || best.is_none()) {
            context.choose(peer, certain.map(|(at, _)| at));
        }
        if due && (certain.is_some() || trial.is_some() || probed.is_some()) {
            context.wait();
        }
        if certain.is_none() && trial.is_none() && own.is_none() {
            self.windows[kind as usize][peer].gained(size, false);
        }
        decision
    }

    /// Decides once more about a message whose first decision was [tentative](Decision::is_tentative), after its probe was reported. That can be
    /// tentative, too. Returns a final decision unchanged.
    pub fn decide_again(&mut self, tentative: &Decision, message: &[u8]) -> Decision {
        if !tentative.is_tentative {
            return tentative.clone();
        }
        let Decision { kind, peer, own, len, raw_ns, contest_ns, .. } = *tentative;
        let (size, reopened, now_ns) = (SizeClass::of(len), false, None);
        let admitted = Admitted { kind, peer, own, len, size, raw_ns, reopened, now_ns, contest_ns };
        self.weigh(admitted, message)
    }

    /// Whether there are contests of these messages.
    fn has_contest(&self, kind: Kind, peer: PeerClass, size: SizeClass, len: usize) -> bool {
        let contest = || self.contests.get(&sort(kind, peer, size));
        self.transfer.is_in_chunks(len) && contest().is_some_and(Contest::is_on)
    }

    /// The context of these messages; `None` if the table is full, which does not happen.
    fn context(&mut self, kind: Kind, size: SizeClass, level: Level) -> Option<u16> {
        let place = &mut self.index[kind as usize][size.index()][level as usize];
        if place.is_none() {
            *place = u16::try_from(self.contexts.len()).ok();
            self.contexts.push(Context::new());
        }
        *place
    }

    /// Reports that the message was encoded with the chosen codec, to `wire_len` bytes in `ns` nanoseconds. If that is shorter than the message, it
    /// was sent compressed, otherwise raw.
    pub fn encoded(&mut self, decision: &Decision, wire_len: usize, ns: f64) {
        let (Choice::Encode(offer), Some(at)) = (decision.choice, decision.looked_at) else { return };
        let fraction = wire_len as f64 / decision.len.max(1) as f64;
        let packs = wire_len < decision.len;
        let Some(Learned { own_ns, decode_ns }) =
            self.learn(decision, at, offer, (decision.len, fraction, ns))
        else {
            return;
        };
        let decode_ns = if packs { decode_ns } else { 0.0 };
        self.flow.sent(decision.len);
        let route = route(&self.links[decision.peer.index()], &decision.own, self.transfer, &self.flow);
        let gain_of = |route: Route<'_>| {
            decision.raw_ns - route.time_ns(decision.len, fraction.min(1.0), own_ns, decode_ns)
        };
        let (gain_ns, told_ns) = match decision.contest_ns.filter(|_| packs) {
            // The clock has settled it.
            Some(contest_ns) => (0.0, contest_ns),
            None => (gain_of(route), gain_of(route.unpriced())),
        };
        self.ledger.settle(gain_ns);
        let gain = &mut self.gains[decision.peer.index()];
        gain.expected_ns += decision.expected_gain_ns();
        gain.measured_ns += told_ns;
        if decision.own.is_none() {
            self.windows[decision.kind as usize][decision.peer.index()].gained(at.size, gain_ns > 0.0);
        }
    }

    /// Reports that the probe was encoded to `wire_len` bytes in `ns` nanoseconds.
    pub fn probed(&mut self, decision: &Decision, wire_len: usize, ns: f64) {
        let (Some(probe), Some(at)) = (&decision.probe, decision.looked_at) else { return };
        let fraction = wire_len as f64 / probe.window.len().max(1) as f64;
        let before = self.expected(decision, at, probe.offer);
        let len = probe.window.len();
        let learned = self.learn(decision, at, probe.offer, (len, fraction, ns));
        let Some(Learned { own_ns: cost_ns, .. }) = learned else { return };
        self.ledger.pay(cost_ns);
        self.gains[decision.peer.index()].measured_ns -= cost_ns;
        if before.is_some_and(|before| fraction < before - NEW_FRACTION) {
            // The situation has changed: the next messages are weighed, too.
            self.windows[decision.kind as usize][decision.peer.index()].gained(at.size, true);
        }
    }

    /// The expected fraction of a codec.
    fn expected(&self, decision: &Decision, at: LookedAt, offer: Offer) -> Option<f64> {
        let candidates = &self.candidates[decision.kind as usize];
        let place = candidates.iter().position(|candidate| candidate.offer == offer)?;
        Some(
            self.contexts.get(usize::from(at.context))?.fraction(place, candidates[place].fraction(at.level)),
        )
    }

    /// Learns that `len` bytes of a message were compressed to this fraction in this number of nanoseconds.
    fn learn(
        &mut self,
        decision: &Decision,
        at: LookedAt,
        offer: Offer,
        (len, fraction, ns): (usize, f64, f64),
    ) -> Option<Learned> {
        let candidates = &mut self.candidates[decision.kind as usize];
        let place = candidates.iter().position(|candidate| candidate.offer == offer)?;
        let candidate = &mut candidates[place];
        let expected = candidate.fraction(at.level);
        let own_ns = candidate.own_encode_ns(at.level, len, ns);
        candidate.observe_fraction(at.level, fraction);
        // An encoder that fails may have stopped early: its time can only show that it is slower than expected.
        if fraction < 1.0 || ns > candidate.encode_ns(at.level, len) {
            candidate.observe_encode(at.level, len, ns);
        } else {
            candidate.clear_surprise(at.level);
        }
        let decode_ns = candidate.decode_ns(at.level, len);
        self.contexts.get_mut(usize::from(at.context))?.observe(place, expected, fraction);
        Some(Learned { own_ns, decode_ns })
    }

    /// Reports that a message of this kind was decoded to `len` bytes in `ns` nanoseconds. Its receiver is assumed to need the same time.
    pub fn decoded(&mut self, kind: Kind, offer: Offer, len: usize, ns: f64) {
        self.flow.received(len);
        if let Some(candidate) = self.candidates[kind as usize].iter_mut().find(|c| c.offer == offer) {
            candidate.observe_decode(len, ns);
        }
    }

    /// The compression window of a kind and peer class, and its history.
    #[must_use]
    pub fn window(&self, kind: Kind, peer: PeerClass) -> (Thresholds, &[Thresholds]) {
        let window = &self.windows[kind as usize][peer.index()];
        (window.thresholds(), window.history())
    }

    /// The gain of compression by peer class.
    #[must_use]
    pub fn gain(&self, peer: PeerClass) -> Gain {
        self.gains[peer.index()]
    }

    /// The number of times that each choice was made, without trials. If the clock has shown that raw messages are faster, this is the choice for
    /// all.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let raw = self.epochs.in_use() == Way::Raw;
        let mut tally = Tally::new(self.candidates.each_ref().map(|c| c.iter().map(|c| c.offer).collect()));
        for kind in Kind::ALL {
            for size in SizeClass::all() {
                for context in self.index[kind as usize][size.index()].iter().flatten() {
                    for peer in PeerClass::all() {
                        let chosen = self.contexts[usize::from(*context)].chosen[peer.index()];
                        tally.add(kind, peer, size, &if raw { all_raw(&chosen) } else { chosen });
                    }
                }
            }
        }
        tally
    }
}

/// What an encoded message, or a part of one, has cost.
struct Learned {
    /// Nanoseconds of encoding, without an interruption of the rank.
    own_ns: f64,
    /// Nanoseconds of decoding, as expected.
    decode_ns: f64,
}

fn sort(kind: Kind, peer: PeerClass, size: SizeClass) -> Sort {
    (kind as usize, peer.index(), size.index())
}

/// The way of messages to these processes, or to a node among them that has its own link.
fn route<'a>(to: &'a Observed, own: &'a Option<Link>, transfer: Transfer, flow: &Flow) -> Route<'a> {
    let both_ways = flow.both_ways();
    let link = own.as_ref().unwrap_or(to.link());
    Route { link, transfer, handover_ns: to.handover_ns(), both_ways, price: PRICE }
}
