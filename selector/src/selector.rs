//! The adaptive strategy: decisions from estimates, estimates from outcomes (PRAcTICaL-MPI, section 3).

use crate::context::{Context, NEW_FRACTION};
use crate::decision::{Admitted, Choice, Decision, LookedAt, Offer, Probe};
use crate::epochs::{Epochs, Way};
use crate::estimate::{Packed, Transfer};
use crate::heuristics::Behaviour;
use crate::ledger::Ledger;
use crate::link::{Link, Observed, PEER_CLASSES, PeerClass};
use crate::priors::{CANDIDATES, Candidate};
use crate::sample::{self, Level};
use crate::scales::Scales;
use crate::size::{CLASSES, SizeClass};
use crate::tally::{CHOICES, Tally};
use crate::trials::ByTheClock;
use crate::window::{Admission, Thresholds, Window};
use alloc::boxed::Box;
use alloc::vec::Vec;
use mpress_codec::Kind;

const KINDS: usize = Kind::ALL.len();
const LEVELS: usize = Level::ALL.len();

/// The most that a sample may cost, as a fraction of the time that the message takes raw; and what it costs, in nanoseconds.
const SAMPLE_PART: f64 = 0.003;
const SAMPLE_NS: f64 = 500.0;
/// A bandwidth that has changed by this factor makes old knowledge of message lengths worthless.
const NEWS: f64 = 1.25;

/// A codec as it is offered to the selector.
#[derive(Clone, Debug)]
pub struct Offered<'a> {
    /// Its name, as heuristics have it.
    pub name: &'a str,
    /// The kinds of messages that it may be chosen for.
    pub kinds: &'a [Kind],
}

/// Decides message by message. Deterministic: the same calls give the same decisions.
#[derive(Clone, Debug)]
pub struct Selector {
    transfer: Transfer,
    candidates: [Vec<Candidate>; KINDS],
    links: [Observed; PEER_CLASSES],
    windows: Box<[[Window; PEER_CLASSES]; KINDS]>,
    /// The places of the contexts. Each is made at the first message of its sort.
    index: Box<[[[Option<u16>; LEVELS]; CLASSES]; KINDS]>,
    contexts: Vec<Context>,
    ledger: Ledger,
    gains: [Gain; PEER_CLASSES],
    epochs: Epochs,
}

/// What compression has gained over sending raw, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gain {
    /// As it was expected when the decisions were taken.
    pub expected_ns: f64,
    /// With the fraction and the encoding time that came out; what probes cost is taken off.
    pub measured_ns: f64,
    /// What all messages would have taken raw, each as the link was known when it was sent: the whole of which the others are a part.
    pub raw_ns: f64,
}

impl Selector {
    /// A selector that may choose among these codecs, of which the first eight for a kind count. It starts from what is known
    /// of codecs and links; entries that no codec or network can have are passed over.
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
            gains: [Gain::default(); PEER_CLASSES],
            epochs: Epochs::new(),
        };
        PeerClass::all().for_each(|peer| selector.reset_windows(peer));
        selector
    }

    /// From now on messages are sent in this way.
    pub fn set_transfer(&mut self, transfer: Transfer) {
        self.transfer = transfer;
    }

    /// Lets into the windows the size classes that would gain if codecs left nothing of a message.
    fn reset_windows(&mut self, peer: PeerClass) {
        let link = self.links[peer.index()].link();
        for (candidates, windows) in self.candidates.iter().zip(self.windows.iter_mut()) {
            windows[peer.index()].reset(|size| {
                let len = size.start();
                let vanishes =
                    |c: &Candidate| c.least_coding_ns(len) + link.time_ns(0.0) < link.time_ns(len as f64);
                candidates.iter().any(vanishes)
            });
        }
    }

    /// Decides what to do with a message.
    pub fn decide(&mut self, kind: Kind, peer: PeerClass, message: &[u8]) -> Decision {
        match self.admit(kind, peer, message.len()) {
            Some(admitted) => self.weigh(admitted, message),
            None => Decision::outside(kind, peer, message.len()),
        }
    }

    /// Whether a message of this length is worth looking at: the first half of [`decide`](Self::decide), for which its bytes
    /// are not needed yet. `None`: send it as it is.
    pub fn admit(&mut self, kind: Kind, peer: PeerClass, len: usize) -> Option<Admitted> {
        let size = SizeClass::of(len);
        let raw_ns = self.links[peer.index()].link().time_ns(len as f64);
        self.ledger.sends(raw_ns);
        self.gains[peer.index()].raw_ns += raw_ns;
        let reopened = match self.windows[kind as usize][peer.index()].admits(size) {
            Admission::Outside => return None,
            Admission::Inside => false,
            Admission::Reopened => true,
        };
        Some(Admitted { kind, peer, len, size, raw_ns, reopened })
    }

    /// The same for a message that is sent now, with trials by the clock: in some short epochs all messages go raw, and are not looked at. All
    /// processes must be in the same epoch. `now_ns`: the nanoseconds since a moment that is the same for all processes, as far as possible; a
    /// difference of some milliseconds does no harm.
    pub fn admit_at(&mut self, kind: Kind, peer: PeerClass, len: usize, now_ns: u64) -> Option<Admitted> {
        // Every message counts, inside the window or not: else one way would seem to carry more.
        match self.epochs.way(len, now_ns) {
            Way::Raw => None,
            Way::Decided => self.admit(kind, peer, len),
        }
    }

    /// Whether messages go another way at this time, for a trial by the clock, than they do most of the time. What comes of them says nothing of
    /// others.
    #[must_use]
    pub fn is_on_trial(&self, now_ns: u64) -> bool {
        self.epochs.are_odd(now_ns)
    }

    /// What the clock says of messages as decided against raw ones; `None` while there were too few trials.
    #[must_use]
    pub fn by_the_clock(&self) -> Option<ByTheClock> {
        self.epochs.by_the_clock()
    }

    /// The second half of [`decide`](Self::decide), given the message that was admitted.
    pub fn weigh(&mut self, admitted: Admitted, message: &[u8]) -> Decision {
        let Admitted { kind, peer, len, size, raw_ns, reopened } = admitted;
        let level =
            if raw_ns * SAMPLE_PART < SAMPLE_NS { Level::Unknown } else { sample::level(kind, message) };
        let mut decision = Decision { raw_ns, expected_ns: raw_ns, ..Decision::outside(kind, peer, len) };
        let Some(at) = self.context(kind, size, level) else { return decision };
        decision.looked_at = Some(LookedAt { context: at, size, level });
        let context = &mut self.contexts[usize::from(at)];
        if reopened {
            context.try_now();
        }
        let (due, peer) = (context.is_due(), peer.index());
        let visits = context.visit();

        let (candidates, link, ledger) =
            (&self.candidates[kind as usize], self.links[peer].link(), &self.ledger);
        let scales = Scales { candidates, context, link, transfer: self.transfer, level, len, raw_ns };
        let affordable = |at: &usize| ledger.covers(scales.probe_ns(*at));
        let best = scales.best(scales.context.current(peer));
        // It may gain, but the possible loss may be larger than what has been gained so far allows.
        let certain =
            best.filter(|&(at, _)| !ledger.in_debt() && ledger.covers(scales.time_ns(at, 1.0) - raw_ns));
        let probed = match best {
            None if due => scales.hopeful().filter(affordable),
            Some((at, _)) if certain.is_none() => Some(at).filter(affordable),
            _ => None,
        };
        // One that may be better is tried on the message itself.
        let trial = certain.filter(|_| due).and_then(|best| {
            let loss_ns = |at: usize| scales.time_ns(at, 1.0) - best.1;
            let rival = scales.rival(best).filter(|&at| ledger.covers(loss_ns(at)))?;
            Some((rival, scales.time_ns(rival, 0.0)))
        });
        if let Some((at, ns)) = trial.or(certain) {
            (decision.choice, decision.expected_ns) = (Choice::Encode(candidates[at].offer), ns);
        }
        decision.probe =
            probed.map(|at| Probe::somewhere(candidates[at].offer, len, scales.probe_len(), visits));

        let context = &mut self.contexts[usize::from(at)];
        if certain.is_some() || best.is_none() {
            context.choose(peer, certain.map(|(at, _)| at));
            if due && (certain.is_some() || probed.is_some()) {
                context.wait();
            }
        }
        if certain.is_none() {
            self.windows[kind as usize][peer].gained(size, false);
        }
        decision
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

    /// The message was encoded with the chosen codec, to `wire_len` bytes in `ns` nanoseconds. If these are
    /// fewer than the message has, it was sent compressed, otherwise raw.
    pub fn encoded(&mut self, decision: &Decision, wire_len: usize, ns: f64) {
        let (Choice::Encode(offer), Some(at)) = (decision.choice, decision.looked_at) else { return };
        let fraction = wire_len as f64 / decision.len.max(1) as f64;
        let packs = wire_len < decision.len;
        let Some(candidate) = self.learn(decision, at, offer, (decision.len, fraction, ns)) else { return };
        let decode_ns = if packs { candidate.decode_ns(at.level, decision.len) } else { 0.0 };
        let encode_ns = candidate.own_encode_ns(at.level, decision.len, ns);
        let packed = Packed { fraction: fraction.min(1.0), encode_ns, decode_ns };
        let link = self.links[decision.peer.index()].link();
        let gain_ns = decision.raw_ns - packed.time_ns(self.transfer, link, decision.len);
        self.ledger.settle(gain_ns);
        let gain = &mut self.gains[decision.peer.index()];
        gain.expected_ns += decision.expected_gain_ns();
        gain.measured_ns += gain_ns;
        self.windows[decision.kind as usize][decision.peer.index()].gained(at.size, gain_ns > 0.0);
    }

    /// The probe was encoded to `wire_len` bytes in `ns` nanoseconds.
    pub fn probed(&mut self, decision: &Decision, wire_len: usize, ns: f64) {
        let (Some(probe), Some(at)) = (&decision.probe, decision.looked_at) else { return };
        let fraction = wire_len as f64 / probe.window.len().max(1) as f64;
        let before = self.expected(decision, at, probe.offer);
        let len = probe.window.len();
        let Some(candidate) = self.learn(decision, at, probe.offer, (len, fraction, ns)) else { return };
        let cost_ns = candidate.own_encode_ns(at.level, len, ns);
        self.ledger.settle(-cost_ns);
        self.gains[decision.peer.index()].measured_ns -= cost_ns;
        if before.is_some_and(|before| fraction < before - NEW_FRACTION) {
            // Things have changed: the next messages are looked at, too.
            self.windows[decision.kind as usize][decision.peer.index()].gained(at.size, true);
        }
    }

    /// The fraction that is expected of a codec.
    fn expected(&self, decision: &Decision, at: LookedAt, offer: Offer) -> Option<f64> {
        let candidates = &self.candidates[decision.kind as usize];
        let place = candidates.iter().position(|candidate| candidate.offer == offer)?;
        Some(
            self.contexts.get(usize::from(at.context))?.fraction(place, candidates[place].fraction(at.level)),
        )
    }

    /// `len` bytes of a message became this fraction of them in so many nanoseconds.
    fn learn(
        &mut self,
        decision: &Decision,
        at: LookedAt,
        offer: Offer,
        (len, fraction, ns): (usize, f64, f64),
    ) -> Option<&Candidate> {
        let candidates = &mut self.candidates[decision.kind as usize];
        let place = candidates.iter().position(|candidate| candidate.offer == offer)?;
        let candidate = &mut candidates[place];
        let expected = candidate.fraction(at.level);
        candidate.observe_fraction(at.level, fraction);
        // An encoder that does not succeed may have given up early: of such it is only learned that they are slower than expected.
        if fraction < 1.0 || ns > candidate.encode_ns(at.level, len) {
            candidate.observe_encode(at.level, len, ns);
        }
        self.contexts.get_mut(usize::from(at.context))?.observe(place, expected, fraction);
        Some(candidate)
    }

    /// A message of this kind was decoded to `len` bytes in `ns` nanoseconds. Its receiver is taken to need as long.
    pub fn decoded(&mut self, kind: Kind, offer: Offer, len: usize, ns: f64) {
        if let Some(candidate) = self.candidates[kind as usize].iter_mut().find(|c| c.offer == offer) {
            candidate.observe_decode(len, ns);
        }
    }

    /// The network took `ns` nanoseconds for `bytes` bytes to a process of this class.
    pub fn transferred(&mut self, peer: PeerClass, bytes: usize, ns: f64) {
        let change = self.links[peer.index()].transferred(bytes, ns);
        self.bandwidth_changed(peer, change);
    }

    /// `bytes` bytes went to or came from processes of this class in `elapsed_ns`, of which this rank waited `waited_ns`. The bandwidth is at
    /// least bytes over elapsed time: they did pass, while the rank waited or computed. It may have waited for other ranks, too; so the
    /// bandwidth is believed to be at most four times bytes over time waited.
    pub fn passed(&mut self, peer: PeerClass, bytes: usize, waited_ns: f64, elapsed_ns: f64) {
        let change = self.links[peer.index()].passed(bytes, waited_ns, elapsed_ns);
        self.bandwidth_changed(peer, change);
    }

    fn bandwidth_changed(&mut self, peer: PeerClass, factor: f64) {
        if !(1.0 / NEWS..NEWS).contains(&factor) {
            self.reset_windows(peer);
        }
    }

    /// What is believed of a link.
    #[must_use]
    pub fn link(&self, peer: PeerClass) -> Link {
        *self.links[peer.index()].link()
    }

    /// The compression window of a kind and peer class, and how it came to be.
    #[must_use]
    pub fn window(&self, kind: Kind, peer: PeerClass) -> (Thresholds, &[Thresholds]) {
        let window = &self.windows[kind as usize][peer.index()];
        (window.thresholds(), window.history())
    }

    /// What compression has gained by peer class.
    #[must_use]
    pub fn gain(&self, peer: PeerClass) -> Gain {
        self.gains[peer.index()]
    }

    /// How often each choice was made, without trials. Where the clock has found that raw messages are faster, that is the choice for all.
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

    /// Says what was measured of a link after the selector was made. What cannot be a link is passed over.
    pub fn set_link(&mut self, peer: PeerClass, link: Link) {
        if link.is_sane() {
            self.links[peer.index()] = Observed::new(link);
            self.reset_windows(peer);
        }
    }
}

/// The same decisions, if all had been for raw messages.
fn all_raw(chosen: &[u32; CHOICES]) -> [u32; CHOICES] {
    let all = chosen.iter().fold(0, |sum: u32, count| sum.saturating_add(*count));
    core::array::from_fn(|choice| if choice == 0 { all } else { 0 })
}
