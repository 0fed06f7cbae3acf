//! The adaptive strategy: content before history, one price, one judge.

use crate::bandwidth::Observed;
use crate::candidate::{CANDIDATES, Candidate, Expected};
use crate::decision::{Admitted, Choice, Decision, Offer};
use crate::estimate::{Packed, Transfer};
use crate::heuristics::Behaviour;
use crate::judge::{ByTheClock, Judge, Way};
use crate::link::{Link, PEER_CLASSES, PeerClass};
use crate::sample;
use crate::size::SizeClass;
use crate::tally::Tally;
use alloc::vec::Vec;
use mpress_codec::Kind;

const KINDS: usize = Kind::ALL.len();

/// No codec compresses to less than this part of a message, for the decision what to look at.
const LEAST_FRACTION: f64 = 0.1;

/// A codec as it is offered to the selector.
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
    /// As expected when the decisions were made.
    pub expected_ns: f64,
    /// With the actual fractions and encoding times.
    pub measured_ns: f64,
    /// The time that all messages would have taken raw, each with the link estimate at the time of sending: the reference for the other two.
    pub raw_ns: f64,
}

/// Decides for each message. Deterministic: the same calls give the same decisions.
#[derive(Clone, Debug)]
pub struct Selector {
    transfer: Transfer,
    candidates: [Vec<Candidate>; KINDS],
    links: [Observed; PEER_CLASSES],
    /// The length of the shortest message that may gain, and the bandwidth for which it was determined.
    shortest: [[usize; KINDS]; PEER_CLASSES],
    priced: [f64; PEER_CLASSES],
    judge: Judge,
    gains: [Gain; PEER_CLASSES],
    tally: Tally,
}

/// If the bandwidth changes by this factor, the lengths that may gain are determined again.
const NEWS: f64 = 1.1;

/// The candidates for each kind, by the heuristics.
pub(crate) fn candidates(offers: &[Offered<'_>], behaviours: &[Behaviour<'_>]) -> [Vec<Candidate>; KINDS] {
    Kind::ALL.map(|kind| {
        let suitable = (0..=Offer::MAX).zip(offers).filter(|(_, offered)| offered.kinds.contains(&kind));
        let candidate =
            |(at, offered): (Offer, &Offered<'_>)| Candidate::new(at, offered.name, kind, behaviours);
        suitable.take(CANDIDATES).map(candidate).collect()
    })
}

/// The links from which to start: implausible ones are replaced by the defaults.
pub(crate) fn sane(links: &[Link; PEER_CLASSES]) -> [Link; PEER_CLASSES] {
    let defaults = &crate::heuristics::DEFAULT_LINKS;
    core::array::from_fn(|at| if links[at].is_sane() { links[at] } else { defaults[at] })
}

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
        let candidates = candidates(offers, behaviours);
        let mut selector = Self {
            transfer,
            tally: Tally::new(candidates.each_ref().map(|all| all.iter().map(|c| c.offer).collect())),
            candidates,
            links: sane(links).map(Observed::new),
            shortest: [[0; KINDS]; PEER_CLASSES],
            priced: [0.0; PEER_CLASSES],
            judge: Judge::new(),
            gains: [Gain::default(); PEER_CLASSES],
        };
        PeerClass::all().for_each(|peer| selector.price(peer));
        selector
    }

    /// Sets how messages are sent from now on.
    pub fn set_transfer(&mut self, transfer: Transfer) {
        self.transfer = transfer;
        self.priced = [0.0; PEER_CLASSES];
        PeerClass::all().for_each(|peer| self.price(peer));
    }

    /// Decides what to do with a message.
    pub fn decide(&mut self, kind: Kind, peer: PeerClass, message: &[u8]) -> Decision {
        match self.admit(kind, peer, message.len()) {
            Some(admitted) => self.weigh(admitted, message),
            None => Decision::outside(kind, peer, message.len()),
        }
    }

    /// Decides whether a message of this length is worth reading: the first half of [`decide`](Self::decide), for which its bytes are not yet needed.
    /// `None`: send it unchanged.
    #[inline]
    pub fn admit(&mut self, kind: Kind, peer: PeerClass, len: usize) -> Option<Admitted> {
        let at = peer.index();
        self.gains[at].raw_ns += self.links[at].link().time_ns(len as f64);
        (len >= self.shortest[at][kind as usize]).then_some(Admitted { kind, peer, len })
    }

    /// The same for a message that is sent now, with trials by the clock: in some short epochs all messages are sent raw, without being read. All
    /// processes must be in the same epoch. `now_ns`: the nanoseconds since a moment that is the same for all processes, as far as possible; a
    /// difference of several milliseconds does no harm.
    pub fn admit_at(&mut self, kind: Kind, peer: PeerClass, len: usize, now_ns: u64) -> Option<Admitted> {
        // Every message counts: otherwise one way would seem to carry more.
        match self.judge.way(len, now_ns) {
            Way::Raw => None,
            Way::Decided => self.admit(kind, peer, len),
        }
    }

    /// Whether a trial by the clock sends messages at this time differently than usual. Their outcome does not apply to other messages.
    #[must_use]
    pub fn is_on_trial(&self, now_ns: u64) -> bool {
        self.judge.are_odd(now_ns)
    }

    /// The comparison of messages as decided with raw ones by the clock; `None` while there were too few trials.
    #[must_use]
    pub fn by_the_clock(&self) -> Option<ByTheClock> {
        self.judge.by_the_clock()
    }

    /// The second half of [`decide`](Self::decide), for a message that was admitted: the way that takes least, by what a sample of the message says.
    pub fn weigh(&mut self, admitted: Admitted, message: &[u8]) -> Decision {
        let Admitted { kind, peer, len } = admitted;
        let (level, link) = (sample::level(kind, message), self.links[peer.index()].link());
        let raw_ns = link.time_ns(len as f64);
        let (mut best_ns, mut best) = (raw_ns, None);
        for (at, candidate) in self.candidates[kind as usize].iter_mut().enumerate() {
            let ns = packed(candidate.hoped(level, len)).time_ns(self.transfer, link, len);
            if ns < best_ns {
                (best_ns, best) = (ns, Some((at, candidate.offer)));
            }
            candidate.forget(level);
        }
        self.tally.count(kind, peer, SizeClass::of(len), best.map(|(at, _)| at));
        let choice = best.map_or(Choice::Raw, |(_, offer)| Choice::Encode(offer));
        Decision { choice, kind, peer, len, level: Some(level), raw_ns, expected_ns: best_ns }
    }

    /// Reports that the message was encoded with the chosen codec, to `wire_len` bytes in `ns` nanoseconds. If that is shorter than the message, it
    /// was sent compressed, otherwise raw.
    pub fn encoded(&mut self, decision: &Decision, wire_len: usize, ns: f64) {
        let Decision { choice: Choice::Encode(offer), kind, peer, len, level: Some(level), .. } = *decision
        else {
            return;
        };
        let of_kind = &mut self.candidates[kind as usize];
        let Some(candidate) = of_kind.iter_mut().find(|candidate| candidate.offer == offer) else { return };
        let fraction = (wire_len as f64 / len.max(1) as f64).min(1.0);
        candidate.encoded(level, len, fraction, ns);
        let decode_ns = if wire_len < len { candidate.expected(level, len).decode_ns } else { 0.0 };
        let took = Packed { fraction, encode_ns: ns, decode_ns };
        let gain = &mut self.gains[peer.index()];
        gain.expected_ns += decision.expected_gain_ns();
        gain.measured_ns +=
            decision.raw_ns - took.time_ns(self.transfer, self.links[peer.index()].link(), len);
    }

    /// Reports that a message of this kind was decoded to `len` bytes in `ns` nanoseconds. Its receiver is assumed to need the same time.
    pub fn decoded(&mut self, kind: Kind, offer: Offer, len: usize, ns: f64) {
        if let Some(candidate) = self.candidates[kind as usize].iter_mut().find(|c| c.offer == offer) {
            candidate.decoded(len, ns);
        }
    }

    /// Sets a link that was measured after the selector was made. Implausible values are ignored.
    pub fn set_link(&mut self, peer: PeerClass, link: Link) {
        if link.is_sane() {
            self.links[peer.index()] = Observed::new(link);
            self.price(peer);
        }
    }

    /// Reports that `bytes` bytes from this process, or from several of its class, came within `ns` nanoseconds, in which this process only waited for
    /// them, and that they were sent within `sent_ns`. If they took longer to come than to be sent, this shows the bandwidth, otherwise only that it is
    /// not less. The network is assumed to send as fast as it receives.
    pub fn came(&mut self, peer: PeerClass, bytes: usize, ns: f64, sent_ns: f64) {
        self.links[peer.index()].came(bytes, ns, sent_ns);
        self.price(peer);
    }

    /// Reports that `bytes` bytes were exchanged with processes of this class in `elapsed_ns`, of which this rank waited `waited_ns`. The bandwidth
    /// is at least bytes over elapsed time: this number was transferred, while the rank waited or computed. It may also have waited for other ranks,
    /// so the bandwidth is assumed to be at most four times bytes over waiting time.
    pub fn passed(&mut self, peer: PeerClass, bytes: usize, waited_ns: f64, elapsed_ns: f64) {
        self.links[peer.index()].passed(bytes, waited_ns, elapsed_ns);
        self.price(peer);
    }

    /// The current estimate of the link to processes of a class.
    #[must_use]
    pub fn link(&self, peer: PeerClass) -> Link {
        *self.links[peer.index()].link()
    }

    /// The length in bytes of the shortest message of a kind that may gain; `usize::MAX` if none does.
    #[must_use]
    pub fn shortest(&self, kind: Kind, peer: PeerClass) -> usize {
        self.shortest[peer.index()][kind as usize]
    }

    /// The gain of compression by peer class.
    #[must_use]
    pub fn gain(&self, peer: PeerClass) -> Gain {
        self.gains[peer.index()]
    }

    /// The number of times that each choice was made. If the clock has shown that raw messages are faster, this is the choice for all.
    #[must_use]
    pub fn tally(&self) -> Tally {
        match self.judge.in_use() {
            Way::Decided => self.tally.clone(),
            Way::Raw => self.tally.all_raw(),
        }
    }

    /// Determines what may gain, if the bandwidth has changed much since that was done.
    fn price(&mut self, peer: PeerClass) {
        let at = peer.index();
        let (link, transfer) = (self.links[at].link(), self.transfer);
        if (1.0 / NEWS..NEWS).contains(&(link.bandwidth_mb_s / self.priced[at])) {
            return;
        }
        self.priced[at] = link.bandwidth_mb_s;
        for (candidates, shortest) in self.candidates.iter().zip(&mut self.shortest[at]) {
            let may_gain = |len: usize| {
                candidates.iter().any(|candidate| {
                    let best = Packed {
                        fraction: LEAST_FRACTION,
                        encode_ns: candidate.least_ns(len),
                        decode_ns: 0.0,
                    };
                    best.time_ns(transfer, link, len) < link.time_ns(len as f64)
                })
            };
            let class = SizeClass::all().find(|class| may_gain(class.start()));
            *shortest = class.map_or(usize::MAX, SizeClass::start);
        }
    }
}

/// The result of a codec as it is expected.
#[inline]
pub(crate) fn packed(expected: Expected) -> Packed {
    let Expected { fraction, encode_ns, decode_ns } = expected;
    Packed { fraction, encode_ns, decode_ns }
}
