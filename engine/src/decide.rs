//! Decisions: the strategy's decision for a message, and reports of the outcome to the selector.

use crate::codecs::{Codec, Setting, names};
use crate::engine::Destination;
use crate::knowledge::Knowledge;
use crate::settings::{SameNode, Settings};
use crate::strategy::Strategy;
use crate::traffic::Passage;
use mpress_codec::Kind;
use mpress_selector::{
    Admitted, ByTheClock, Choice, Decision, Gain, Guided, Link, Offered, Peer, PeerClass, Probe, Selector,
    Tally, Thresholds, Transfer,
};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Decides for all threads of a process.
pub(crate) struct Decider {
    strategy: Strategy,
    threshold: usize,
    same_node: SameNode,
    guided: Option<Guided>,
    selector: Mutex<Selector>,
    /// The beginning of the first epoch; `None` if there are no trials by the clock.
    beginning: Option<Instant>,
}

/// A message that is worth reading, of known length; its bytes are not needed yet.
#[derive(Debug)]
pub struct Considered {
    pub(crate) kind: Kind,
    pub(crate) to: Destination,
    pub(crate) len: usize,
    by: By,
}

impl Considered {
    /// Whether the result is sent; otherwise it is only counted.
    pub(crate) fn is_sent(&self) -> bool {
        !matches!(self.by, By::Selector { send: false, .. })
    }
}

/// The origin of the decision.
#[derive(Debug)]
enum By {
    /// A strategy that has already decided.
    Rule(Codec),
    /// The selector. `send`: the result is sent; otherwise it is only counted.
    Selector { admitted: Admitted, send: bool },
    /// Its wish to test the network.
    Test,
}

/// The plan for a message.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The codec, if the message is to be encoded.
    pub(crate) codec: Option<Codec>,
    /// Whether to send the result; otherwise it is only counted.
    pub(crate) send: bool,
    /// Whether the message is sent raw, but in chunks, to test the network.
    pub(crate) is_test: bool,
    /// The selector's decision, if it was asked.
    decision: Option<Decision>,
}

impl Plan {
    fn of(decision: Decision, send: bool) -> Self {
        Self { codec: codec(decision.choice), send, is_test: false, decision: Some(decision) }
    }

    /// The codec of the stream that this message becomes.
    pub(crate) fn of_stream(&self, kind: Kind) -> Option<Setting> {
        if self.is_test {
            // A stream has a codec, even if all of its chunks are raw.
            return Codec::all().find_map(|codec| codec.of(kind));
        }
        self.codec.filter(|_| self.send)?.of(kind)
    }

    /// A part of the message to encode only to learn the result.
    pub(crate) fn probe(&self) -> Option<(Codec, &Probe)> {
        let probe = self.decision.as_ref()?.probe.as_ref()?;
        Some((Codec::at(usize::from(probe.offer))?, probe))
    }
}

impl Knowledge {
    /// A selector that starts from this knowledge and chooses among the codecs of this build. A codec's offer is its [`index`](Codec::index).
    #[must_use]
    pub fn selector(&self, transfer: Transfer) -> Selector {
        // A codec of the table that is not in this build is for no kind.
        let kinds = |at: usize| Codec::all().find(|c| c.index() == at).map_or(&[][..], Codec::adaptive_kinds);
        let offers: Vec<_> =
            names().enumerate().map(|(at, name)| Offered { name, kinds: kinds(at) }).collect();
        Selector::new(&offers, &self.behaviours(), &self.links, transfer)
    }
}

impl Decider {
    pub(crate) fn new(settings: &Settings, knowledge: &Knowledge, guided: Option<Guided>) -> Self {
        Self {
            strategy: settings.strategy,
            threshold: settings.threshold,
            same_node: settings.same_node,
            guided,
            selector: Mutex::new(knowledge.selector(Transfer::Serial)),
            beginning: settings.clock.then(Instant::now),
        }
    }

    /// The same with epochs that began at this moment.
    pub(crate) fn begun(self, at: Instant) -> Self {
        Self { beginning: self.beginning.map(|_| at), ..self }
    }

    /// The nanoseconds since the beginning, if there are trials by the clock.
    fn now_ns(&self) -> Option<u64> {
        let elapsed = self.beginning?.elapsed();
        Some(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Whether messages that the adaptive strategy decides about are currently sent differently than usual.
    pub(crate) fn is_on_trial(&self) -> bool {
        self.now_ns().is_some_and(|now_ns| self.selector().is_on_trial(now_ns))
    }

    fn selector(&self) -> MutexGuard<'_, Selector> {
        self.selector.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether messages to this destination are passed on without being considered.
    pub(crate) fn passes(&self, to: Destination) -> bool {
        to == Destination::SameNode && self.same_node == SameNode::Pass
    }

    /// Decides whether to read a message: by this strategy, or by that of the process.
    pub(crate) fn consider(
        &self,
        strategy: Option<Strategy>,
        kind: Kind,
        (to, node): (Destination, Option<u32>),
        len: usize,
    ) -> Option<Considered> {
        if len < self.threshold || self.passes(to) {
            return None;
        }
        // Messages that are not passed on are treated as if they were sent over the network.
        let peer = network(node);
        let by = match strategy.unwrap_or(self.strategy) {
            Strategy::Off => return None,
            Strategy::Fixed(codec) => By::Rule(codec),
            Strategy::Guided => By::Rule(codec(self.guided.as_ref()?.decide(kind, peer.class, len))?),
            Strategy::Adaptive => {
                let admitted = match self.now_ns() {
                    Some(now_ns) => self.selector().admit_at(kind, peer, len, now_ns)?,
                    None => self.selector().admit(kind, peer, len)?,
                };
                By::Selector { admitted, send: true }
            }
            Strategy::Measure => {
                By::Selector { admitted: self.selector().admit(kind, peer, len)?, send: false }
            }
        };
        Some(Considered { kind, to, len, by })
    }

    /// The same for a message to another node that is to test the network, if one is due.
    pub(crate) fn test(
        &self,
        strategy: Option<Strategy>,
        kind: Kind,
        node: Option<u32>,
        len: usize,
    ) -> Option<Considered> {
        let is_adaptive = strategy.unwrap_or(self.strategy) == Strategy::Adaptive;
        let is_test = is_adaptive
            && len >= self.threshold
            && self.selector().wants_test(kind, network(node), len, self.now_ns());
        is_test.then_some(Considered { kind, to: Destination::OtherNode, len, by: By::Test })
    }

    /// Decides what to do with a message.
    pub(crate) fn plan(&self, considered: Considered, raw: &[u8]) -> Plan {
        match considered.by {
            By::Rule(codec) => Plan { codec: Some(codec), send: true, is_test: false, decision: None },
            By::Test => Plan { codec: None, send: true, is_test: true, decision: None },
            By::Selector { admitted, send } => {
                let decision = self.selector().weigh(admitted, raw);
                Plan::of(decision, send)
            }
        }
    }

    /// The same once more, after the probe of a tentative plan was reported; `None` if the plan was final.
    pub(crate) fn plan_again(&self, plan: &Plan, raw: &[u8]) -> Option<Plan> {
        let tentative = plan.decision.as_ref().filter(|decision| decision.is_tentative())?;
        let decision = self.selector().decide_again(tentative, raw);
        Some(Plan::of(decision, plan.send))
    }

    /// Reports that the message was encoded to `wire_len` bytes, its own length if it is sent raw.
    pub(crate) fn encoded(&self, plan: &Plan, wire_len: usize, time: Duration) {
        if let Some(decision) = &plan.decision {
            self.selector().encoded(decision, wire_len, nanoseconds(time));
        }
    }

    /// Reports that the message was encoded to chunks of `wire_len` bytes together, and that handing them over took this long, if
    /// that is known.
    pub(crate) fn streamed(
        &self,
        plan: &Plan,
        wire_len: usize,
        encoding: Duration,
        handover: Option<Duration>,
    ) {
        if let Some(decision) = &plan.decision {
            let mut selector = self.selector();
            if let Some(handover) = handover {
                selector.handed_over(decision.peer(), wire_len, nanoseconds(handover));
            }
            selector.encoded(decision, wire_len, nanoseconds(encoding));
        }
    }

    /// Reports that the probe was encoded to `wire_len` bytes.
    pub(crate) fn probed(&self, plan: &Plan, wire_len: usize, time: Duration) {
        if let Some(decision) = &plan.decision {
            self.selector().probed(decision, wire_len, nanoseconds(time));
        }
    }

    /// Reports that a message was decoded by the decoder for frames of this codec.
    pub(crate) fn decoded(&self, kind: Kind, codec: Codec, raw_len: usize, time: Duration) {
        if let Ok(offer) = u8::try_from(codec.index()) {
            self.selector().decoded(kind, offer, raw_len, nanoseconds(time));
        }
    }

    pub(crate) fn passed(&self, passage: Passage) {
        let Passage { bytes, waited, elapsed } = passage;
        self.selector().passed(PeerClass::NETWORK, bytes, nanoseconds(waited), nanoseconds(elapsed));
    }

    pub(crate) fn came(&self, node: Option<u32>, bytes: usize, time: Duration, sent: Duration) {
        self.selector().came(network(node), bytes, nanoseconds(time), nanoseconds(sent));
    }

    pub(crate) fn set_link(&self, link: Link) {
        self.selector().set_link(PeerClass::NETWORK, link);
    }

    pub(crate) fn set_transfer(&self, transfer: Transfer) {
        self.selector().set_transfer(transfer);
    }

    pub(crate) fn link(&self) -> Link {
        self.selector().link(PeerClass::NETWORK)
    }

    /// The bandwidths of nodes whose links are unlike most, in MB/s.
    pub(crate) fn unlike(&self) -> Vec<f64> {
        self.selector().unlike(PeerClass::NETWORK).collect()
    }

    pub(crate) fn gain(&self) -> Gain {
        self.selector().gain(PeerClass::NETWORK)
    }

    pub(crate) fn by_the_clock(&self) -> Option<ByTheClock> {
        self.selector().by_the_clock()
    }

    /// The compression window of a kind, and its history.
    pub(crate) fn window(&self, kind: Kind) -> (Thresholds, Vec<Thresholds>) {
        let selector = self.selector();
        let (now, history) = selector.window(kind, PeerClass::NETWORK);
        (now, history.to_vec())
    }

    pub(crate) fn tally(&self) -> Tally {
        self.selector().tally()
    }
}

fn network(node: Option<u32>) -> Peer {
    Peer { class: PeerClass::NETWORK, node }
}

fn codec(choice: Choice) -> Option<Codec> {
    match choice {
        Choice::Raw => None,
        Choice::Encode(offer) => Codec::at(usize::from(offer)),
    }
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}
