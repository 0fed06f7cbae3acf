//! Decisions: the strategy's decision for a message, and reports of the outcome to the selector.

use crate::codecs::{Codec, Setting, Table};
use crate::engine::Destination;
use crate::frame::SHORTEST;
use crate::knowledge::Knowledge;
use crate::memory::Channel;
use crate::settings::{SameNode, Settings};
use crate::stats::RawReason;
use crate::strategy::Strategy;
use crate::traffic::Passage;
use mpress_codec::Kind;
use mpress_selector::{
    Admitted, Behaviour, Choice, Decision, Gain, Guided, Link, Offer, Probe, Ras, Selector, Tally,
    Thresholds, Transfer, TrialResult,
};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Decides for all threads of a process.
pub(crate) struct Decider {
    table: Arc<Table>,
    strategy: Strategy,
    threshold: usize,
    same_node: SameNode,
    /// The length of the shortest message of each kind about which the selector must be asked. Stored here, next to what every strategy needs: most
    /// messages are shorter, and to load another cache line takes longer than a decision.
    least: [AtomicU32; Kind::ALL.len()],
    /// The number and the bytes of shorter messages.
    shorter: [AtomicU64; 2],
    guided: Option<Guided>,
    selector: Mutex<Selector>,
    ras: Mutex<Ras>,
    /// The beginning of the first epoch; `None` if there are no trials by the clock.
    beginning: Option<Instant>,
}

/// A message that is worth reading, of known length; its bytes are not needed yet.
#[derive(Debug)]
pub struct Considered {
    pub(crate) kind: Kind,
    pub(crate) to: Destination,
    pub(crate) len: usize,
    pub(crate) channel: Option<Channel>,
    by: By,
}

impl Considered {
    /// The same message, on this channel: it may refer to an earlier one, if the engine has a [memory](crate::Engine::with_memory). Its frame must
    /// then be sent to the receiver of the channel, and to no other process.
    #[must_use]
    pub fn on(self, channel: Channel) -> Self {
        Self { channel: Some(channel), ..self }
    }

    /// Whether the result is sent; otherwise it is only counted.
    pub(crate) fn is_sent(&self) -> bool {
        !matches!(self.by, By::Selector { send: false, .. })
    }
}

/// The origin of the decision.
#[derive(Debug)]
enum By {
    /// A strategy that has already decided for the codec in this row of the table.
    Rule(Offer),
    /// The selector. `send`: the result is sent; otherwise it is only counted.
    Selector { admitted: Admitted, send: bool },
    /// The Run-time Adaptive Strategy.
    Ras(Admitted),
}

/// The plan for a message.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The row of the codec in the table, if the message is to be encoded.
    pub(crate) codec: Option<Offer>,
    /// Whether to send the result; otherwise it is only counted.
    pub(crate) send: bool,
    /// Whether the message refers to an earlier one.
    pub(crate) refers: bool,
    decided: Decided,
}

/// What the outcome of a plan is reported to.
#[derive(Debug)]
enum Decided {
    /// Nothing: a rule.
    Rule,
    Selector(Decision),
    Ras(Decision),
}

impl Plan {
    fn new(codec: Option<Offer>, send: bool, decided: Decided) -> Self {
        Self { codec, send, refers: false, decided }
    }

    /// Whether a strategy has decided by a rule, without regard to the cost.
    pub(crate) fn is_rule(&self) -> bool {
        matches!(self.decided, Decided::Rule)
    }

    /// Whether the selector has decided, which observes what codecs do.
    pub(crate) fn is_observed(&self) -> bool {
        matches!(self.decided, Decided::Selector(_))
    }

    /// The message refers to an earlier one. The Run-time Adaptive Strategy need not know: it only learns which lengths gain.
    pub(crate) fn refer(&mut self) {
        self.refers = true;
        if let Decided::Selector(decision) = &mut self.decided {
            decision.refers = true;
        }
    }

    /// Why the message is sent raw if it is not encoded: no codec was chosen, or a rule has chosen one that does not encode messages of this kind.
    pub(crate) fn raw_reason(&self) -> RawReason {
        if self.codec.is_none() { RawReason::Estimate } else { RawReason::Settings }
    }

    /// A part of the message to encode before the decision.
    pub(crate) fn probe(&self) -> Option<Probe> {
        match &self.decided {
            Decided::Selector(decision) => decision.probe(),
            _ => None,
        }
    }

    /// The codec of the stream that this message becomes.
    pub(crate) fn of_stream(&self, kind: Kind, table: &Table) -> Option<Setting> {
        table.setting(self.codec.filter(|_| self.send)?, kind)
    }
}

impl Knowledge {
    /// A selector that starts from this knowledge and chooses among the engine's own codecs in this build. Offers are the indices of
    /// [`Codec::at`](crate::Codec::at).
    #[must_use]
    pub fn selector(&self, transfer: Transfer) -> Selector {
        self.selector_of(&Table::default(), transfer)
    }

    /// The same for the codecs of a table.
    fn selector_of(&self, table: &Table, transfer: Transfer) -> Selector {
        let offers = table.offers(Codec::adaptive_kinds);
        let selector = Selector::new(&offers, &self.behaviours_of(table), self.link, transfer);
        selector.with_shortest_frame(SHORTEST)
    }

    /// PRAcTICaL-MPI's Run-time Adaptive Strategy from this knowledge, with the codecs of that paper (section 2).
    #[must_use]
    pub fn ras(&self, transfer: Transfer) -> Ras {
        let kinds = |codec: Codec| if codec.is_of_practical() { &Kind::ALL[..] } else { &[] };
        Ras::new(&Table::default().offers(kinds), &self.behaviours(), self.link, transfer)
    }

    /// The behaviours that are known, and the priors of codecs without any.
    fn behaviours_of(&self, table: &Table) -> Vec<Behaviour<'_>> {
        let mut known = self.behaviours();
        known.extend(table.priors(&known));
        known
    }
}

impl Decider {
    pub(crate) fn new(
        settings: &Settings,
        knowledge: &Knowledge,
        guided: Option<Guided>,
        table: Arc<Table>,
    ) -> Self {
        let decider = Self {
            strategy: settings.strategy,
            threshold: settings.threshold,
            same_node: settings.same_node,
            least: Default::default(),
            shorter: Default::default(),
            guided,
            selector: Mutex::new(knowledge.selector_of(&table, Transfer::Serial)),
            ras: Mutex::new(knowledge.ras(Transfer::Serial)),
            beginning: settings.clock.then(Instant::now),
            table,
        };
        decider.tell(|_| ());
        decider
    }

    /// Tells the selector something that may change the lengths of messages that gain.
    fn tell(&self, news: impl FnOnce(&mut Selector)) {
        let mut selector = self.selector();
        news(&mut selector);
        for (least, kind) in self.least.iter().zip(Kind::ALL) {
            let shortest = selector.shortest(kind);
            least.store(u32::try_from(shortest).unwrap_or(u32::MAX), Relaxed);
        }
    }

    /// The same, with epochs that began at this moment.
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

    fn ras(&self) -> MutexGuard<'_, Ras> {
        self.ras.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether messages to this destination are passed on without being considered.
    pub(crate) fn passes(&self, to: Destination) -> bool {
        to == Destination::SameNode && self.same_node == SameNode::Pass
    }

    /// Decides whether to read a message: by this strategy, or by that of the process. Otherwise returns why not.
    pub(crate) fn consider(
        &self,
        strategy: Option<Strategy>,
        kind: Kind,
        to: Destination,
        len: usize,
    ) -> Result<Considered, RawReason> {
        if len < self.threshold || self.passes(to) {
            return Err(RawReason::Settings);
        }
        let is_short = || len < self.least[kind as usize].load(Relaxed) as usize;
        let by = match strategy.unwrap_or(self.strategy) {
            Strategy::Off => return Err(RawReason::Settings),
            Strategy::Adaptive | Strategy::Measure if is_short() => {
                self.shorter
                    .iter()
                    .zip([1, len as u64])
                    .for_each(|(sum, one)| _ = sum.fetch_add(one, Relaxed));
                return Err(RawReason::Short);
            }
            Strategy::Fixed(codec) => By::Rule(self.table.index(codec).ok_or(RawReason::Settings)?),
            Strategy::Guided => {
                let decided = self.guided.as_ref().and_then(|guided| codec(guided.decide(kind, len)));
                By::Rule(decided.ok_or(RawReason::Settings)?)
            }
            Strategy::Adaptive => {
                let now_ns = self.now_ns();
                let mut selector = self.selector();
                let admitted = match now_ns {
                    Some(now_ns) => selector.admit_at(kind, len, now_ns),
                    None => selector.admit(kind, len),
                };
                let Some(admitted) = admitted else {
                    let by_the_clock = now_ns.is_some_and(|now_ns| selector.sends_raw(now_ns));
                    return Err(if by_the_clock { RawReason::Clock } else { RawReason::Idle });
                };
                By::Selector { admitted, send: true }
            }
            Strategy::Measure => {
                let admitted = self.selector().admit(kind, len).ok_or(RawReason::Idle)?;
                By::Selector { admitted, send: false }
            }
            Strategy::Ras => By::Ras(self.ras().admit(kind, len).ok_or(RawReason::Idle)?),
        };
        Ok(Considered { kind, to, len, channel: None, by })
    }

    /// Decides what to do with a message. Of a long message, the beginning suffices.
    pub(crate) fn plan(&self, considered: Considered, raw: &[u8]) -> Plan {
        match considered.by {
            By::Rule(codec) => Plan::new(Some(codec), true, Decided::Rule),
            By::Selector { admitted, send } => {
                let decision = self.selector().weigh(admitted, raw);
                Plan::new(codec(decision.choice), send, Decided::Selector(decision))
            }
            By::Ras(admitted) => {
                let decision = self.ras().weigh(admitted, raw);
                Plan::new(codec(decision.choice), true, Decided::Ras(decision))
            }
        }
    }

    /// The length of the chunks in which a message that this plan encodes is best sent; `None` if it is faster in one frame.
    pub(crate) fn chunk(&self, plan: &Plan, kind: Kind, len: usize) -> Option<usize> {
        match &plan.decided {
            Decided::Rule => self.selector().chunk(kind, plan.codec?, len),
            Decided::Selector(decision) => self.selector().chunk_of(decision),
            Decided::Ras(decision) => self.ras().chunk_of(decision),
        }
    }

    /// Reports that the part was encoded to `wire_len` bytes, and decides again about the message that begins with `raw`.
    pub(crate) fn probed(&self, plan: Plan, wire_len: usize, time: Duration, raw: &[u8]) -> Plan {
        let Decided::Selector(decision) = &plan.decided else { return plan };
        let decision = self.selector().probed(decision, wire_len, nanoseconds(time), raw);
        Plan { codec: codec(decision.choice), decided: Decided::Selector(decision), ..plan }
    }

    /// Reports that the message was encoded to `wire_len` bytes, its own length if it is sent raw.
    pub(crate) fn encoded(&self, plan: &Plan, wire_len: usize, time: Duration) {
        let ns = nanoseconds(time);
        match &plan.decided {
            Decided::Rule => {}
            Decided::Selector(decision) => self.selector().encoded(decision, wire_len, ns),
            Decided::Ras(decision) => self.ras().encoded(decision, wire_len, ns),
        }
    }

    /// Reports that a message was decoded by the decoder for frames of this codec.
    pub(crate) fn decoded(&self, kind: Kind, codec: Offer, raw_len: usize, time: Duration) {
        self.selector().decoded(kind, codec, raw_len, nanoseconds(time));
    }

    pub(crate) fn passed(&self, passage: Passage) {
        let Passage { bytes, waited, elapsed } = passage;
        let [waited, elapsed] = [waited, elapsed].map(nanoseconds);
        self.tell(|selector| selector.passed(bytes, waited, elapsed));
    }

    pub(crate) fn arrived(&self, bytes: usize, (time, coding): (Duration, Duration), sent: Duration) {
        let [time, coding, sent] = [time, coding, sent].map(nanoseconds);
        self.tell(|selector| selector.arrived(bytes, (time, coding), sent));
    }

    pub(crate) fn set_link(&self, link: Link) {
        self.tell(|selector| selector.set_link(link));
        self.ras().set_link(link);
    }

    pub(crate) fn set_transfer(&self, transfer: Transfer) {
        self.tell(|selector| selector.set_transfer(transfer));
        self.ras().set_transfer(transfer);
    }

    pub(crate) fn link(&self) -> Link {
        self.selector().link()
    }

    /// The gain; messages that were too short to be asked about are part of the whole.
    pub(crate) fn gain(&self) -> Gain {
        let selector = self.selector();
        let (gain, link) = (selector.gain(), selector.link());
        let [messages, bytes] = self.shorter.each_ref().map(|sum| sum.load(Relaxed) as f64);
        let shorter_ns = messages * link.time_ns(0.0) + link.time_ns(bytes) - link.time_ns(0.0);
        Gain { raw_ns: gain.raw_ns + shorter_ns, ..gain }
    }

    pub(crate) fn trial_result(&self) -> Option<TrialResult> {
        self.selector().trial_result()
    }

    /// The compression window of a kind by the Run-time Adaptive Strategy, and its history.
    pub(crate) fn window(&self, kind: Kind) -> (Thresholds, Vec<Thresholds>) {
        let ras = self.ras();
        let (now, history) = ras.window(kind);
        (now, history.to_vec())
    }

    pub(crate) fn tally(&self) -> Tally {
        self.selector().tally()
    }
}

fn codec(choice: Choice) -> Option<Offer> {
    match choice {
        Choice::Raw => None,
        Choice::Encode(offer) => Some(offer),
    }
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}
