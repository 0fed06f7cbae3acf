//! Sends the messages of a file over a simulated link, one after another, under different strategies.

use super::measure::{Caches, Measured, Outcome};
use mpress::selector::{Choice, Link, Mechanism, Offer, Transfer};
use mpress::{Codec, Knowledge, Out};
use mpress_corpus::cold::Work;
use std::cell::RefCell;
use std::hint::black_box;
use std::iter;
use std::time::Instant;

/// How a strategy sends a file.
type Send = fn(&Channel<'_>) -> Sent;

/// The strategies that decide for each message. A new strategy is a row here.
const DECIDING: [(&str, Send); 2] = [("ras", ras), ("adaptive", adaptive)];

/// A file over a link.
pub(super) struct Channel<'a> {
    pub(super) file: &'a Measured<'a>,
    pub(super) knowledge: &'a Knowledge,
    pub(super) link: Link,
    pub(super) transfer: Transfer,
    pub(super) caches: Caches,
    /// Mechanisms of the selector; each is disabled in a separate row.
    pub(super) ablate: &'a [Mechanism],
    /// The time that cold caches add to decisions.
    pub(super) cold_decisions: Decisions<f64>,
}

/// Nanoseconds of decisions, without a sample of the message and with one.
pub(super) type Decisions<T> = [T; 2];

/// The result of a strategy for all messages of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    pub(super) strategy: String,
    /// Nanoseconds.
    pub(super) ns: f64,
    /// The number of messages that are sent compressed.
    pub(super) compressed: usize,
    /// Bytes that are sent.
    pub(super) wire_bytes: usize,
    /// Time of decisions with hot caches, and with cold ones.
    pub(super) deciding: [Decisions<Vec<f64>>; 2],
}

/// The results of all strategies for one or several files.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// The number of messages.
    pub(super) messages: usize,
    pub(super) raw_bytes: usize,
    /// All messages raw.
    pub(super) raw: Sent,
    /// Each codec for all messages that it supports, in the order of reports.
    pub(super) fixed: Vec<Sent>,
    /// The strategies that decide for each message.
    pub(super) deciding: Vec<Sent>,
    /// The best choice for each message in hindsight.
    pub(super) oracle: Sent,
    /// Nanoseconds with the codec that is best for each file.
    pub(super) best_fixed: f64,
}

/// The time of a clock call, which is subtracted from the time of decisions.
fn clock_ns() -> f64 {
    median((0..1001).map(|_| elapsed(Instant::now())).collect()).unwrap_or(0.0)
}

/// The median.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn elapsed(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e9
}

/// Sends a file by all strategies.
pub(super) fn simulate(channel: &Channel<'_>) -> Times {
    let file = channel.file;
    let all = 0..file.messages.len();
    let fixed: Vec<_> = Codec::all().map(|codec| channel.fixed(codec)).collect();
    let mut oracle = Sent { strategy: "oracle".into(), ..Sent::default() };
    for at in all.clone() {
        let of_codec = file.codecs.iter().map(|(_, outcomes)| &outcomes[at]);
        let best =
            of_codec.min_by(|one, other| channel.ns(at, Some(one)).total_cmp(&channel.ns(at, Some(other))));
        let best = best.filter(|outcome| channel.ns(at, Some(outcome)) < channel.ns(at, None));
        oracle.add(channel, at, best);
    }
    let deciding = DECIDING.into_iter().map(|(name, send)| Sent { strategy: name.into(), ..send(channel) });
    let deciding = deciding.chain(channel.ablate.iter().map(|&mechanism| Sent {
        strategy: format!("without {}", mechanism.name()),
        ..adaptive_without(channel, Some(mechanism))
    }));
    let mut raw = Sent { strategy: "raw".into(), ..Sent::default() };
    all.for_each(|at| raw.add(channel, at, None));
    Times {
        messages: file.messages.len(),
        raw_bytes: raw.wire_bytes,
        best_fixed: fixed.iter().map(|sent| sent.ns).fold(f64::INFINITY, f64::min),
        raw,
        fixed,
        deciding: deciding.collect(),
        oracle,
    }
}

impl Channel<'_> {
    /// Nanoseconds of a message, raw or with this outcome of a codec.
    fn ns(&self, at: usize, outcome: Option<&Outcome>) -> f64 {
        let len = self.file.messages[at].len();
        match outcome {
            Some(outcome) => outcome.packed(len, self.caches).time_ns(self.transfer, &self.link, len),
            None => self.link.time_ns(len as f64),
        }
    }

    /// Sends all messages with one codec, as in a job with `MPRESS_STRATEGY=fixed:CODEC`. If the codec is not made for the kind, sends them
    /// raw.
    fn fixed(&self, codec: Codec) -> Sent {
        let mut sent = Sent { strategy: codec.name().into(), ..Sent::default() };
        for at in 0..self.file.messages.len() {
            sent.add(self, at, outcome(self.file, codec, at));
        }
        sent
    }
}

impl Sent {
    fn add(&mut self, channel: &Channel<'_>, at: usize, outcome: Option<&Outcome>) {
        self.ns += channel.ns(at, outcome);
        let wire_len = outcome.and_then(|outcome| outcome.wire_len);
        self.compressed += usize::from(wire_len.is_some());
        self.wire_bytes += wire_len.unwrap_or(channel.file.messages[at].len());
    }
}

impl Times {
    /// The sum over files.
    pub(super) fn total<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let sum = |total: &mut Sent, sent: &Sent| {
            total.strategy.clone_from(&sent.strategy);
            total.ns += sent.ns;
            total.compressed += sent.compressed;
            total.wire_bytes += sent.wire_bytes;
        };
        all.fold(Self::default(), |mut total, times| {
            total.messages += times.messages;
            total.raw_bytes += times.raw_bytes;
            total.best_fixed += times.best_fixed;
            total.fixed.resize_with(times.fixed.len(), Sent::default);
            total.deciding.resize_with(times.deciding.len(), Sent::default);
            total.all_mut().zip(times.all()).for_each(|(total, sent)| sum(total, sent));
            total
        })
    }

    /// All strategies, in the order of tables.
    pub(super) fn all(&self) -> impl Iterator<Item = &Sent> {
        iter::once(&self.raw).chain(&self.fixed).chain(&self.deciding).chain(iter::once(&self.oracle))
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Sent> {
        let (fixed, deciding) = (&mut self.fixed, &mut self.deciding);
        iter::once(&mut self.raw).chain(fixed).chain(deciding).chain(iter::once(&mut self.oracle))
    }

    /// The adaptive strategy.
    pub(super) fn adaptive(&self) -> Option<&Sent> {
        self.deciding.iter().find(|sent| sent.strategy == "adaptive")
    }

    /// The name of the codec that is best for all messages.
    pub(super) fn best_name(&self) -> &str {
        let best = self.fixed.iter().min_by(|one, other| one.ns.total_cmp(&other.ns));
        best.map_or("", |sent| &sent.strategy)
    }
}

/// Lets the Run-time Adaptive Strategy decide. Its decisions cost about the same as the selector's, and are not charged.
fn ras(channel: &Channel<'_>) -> Sent {
    let Channel { file, caches, .. } = *channel;
    let knowledge = Knowledge { link: channel.link, ..channel.knowledge.clone() };
    let mut ras = knowledge.ras(channel.transfer);
    let mut sent = Sent::default();
    for (at, message) in file.messages.iter().enumerate() {
        let decision = ras.decide(file.kind, message);
        let chosen = match decision.choice {
            Choice::Raw => None,
            Choice::Encode(offer) => codec(offer).and_then(|codec| outcome(file, codec, at)),
        };
        sent.add(channel, at, chosen);
        if let Some(outcome) = chosen {
            let wire_len = outcome.wire_len.unwrap_or(message.len());
            ras.encoded(&decision, wire_len, outcome.coding(caches).encode_ns);
        }
    }
    sent
}

/// Lets the selector decide.
fn adaptive(channel: &Channel<'_>) -> Sent {
    adaptive_without(channel, None)
}

fn adaptive_without(channel: &Channel<'_>, mechanism: Option<Mechanism>) -> Sent {
    let mut sent = select(channel, mechanism, |_| false);
    if channel.caches == Caches::Cold {
        let hot = &sent.deciding[0];
        sent.ns += hot.iter().zip(channel.cold_decisions).map(|(all, ns)| all.len() as f64 * ns).sum::<f64>();
    }
    sent
}

/// The number of decisions that are timed with cold caches.
const COLD: usize = 192;

/// The time that cold caches add to decisions, from a sample of all channels.
pub(super) fn cold_decisions(channels: &[Channel<'_>]) -> Decisions<f64> {
    let mut work = Work::default();
    let mut deciding: [Decisions<Vec<f64>>; 2] = Default::default();
    let each = (COLD / channels.len().max(1)).max(1);
    for channel in channels {
        let step = (channel.file.messages.len() / each).max(1);
        let sent = select(channel, None, |at| {
            let is_cold = at % step == step - 1;
            if is_cold {
                work.run();
            }
            is_cold
        });
        for (all, here) in deciding.as_flattened_mut().iter_mut().zip(sent.deciding.as_flattened()) {
            all.extend(here);
        }
    }
    let [hot, cold] = deciding.map(|caches| caches.map(|all| median(all).unwrap_or(f64::NAN)));
    // Kinds of decisions that the sample lacks are rare.
    std::array::from_fn(|sort| (cold[sort] - hot[sort]).max(0.0))
}

/// The same; before each decision, runs `work`, which returns whether the caches are then cold.
fn select(channel: &Channel<'_>, without: Option<Mechanism>, mut work: impl FnMut(usize) -> bool) -> Sent {
    let Channel { file, caches, .. } = *channel;
    let clock_ns = clock_ns();
    let knowledge = Knowledge { link: channel.link, ..channel.knowledge.clone() };
    let mut selector = knowledge.selector(channel.transfer);
    if let Some(mechanism) = without {
        selector = selector.without(mechanism);
    }
    let mut sent = Sent::default();
    for (at, message) in file.messages.iter().enumerate() {
        if message.len() < selector.shortest(file.kind) {
            // The engine passes such messages on without asking the selector, as with the strategy `off`.
            sent.add(channel, at, None);
            continue;
        }
        let is_cold = work(at);
        // Whoever sends the message reads it anyway: the MPI or the codec.
        black_box(message.iter().fold(0, |all, byte| all | byte));
        let start = Instant::now();
        let mut decision = selector.decide(file.kind, message);
        let ns = (elapsed(start) - clock_ns).max(0.0);
        sent.ns += ns;
        let sort = usize::from(decision.level().is_some());
        sent.deciding[usize::from(is_cold)][sort].push(ns);
        // The time to load the code of codecs that encoded a part: a following message with the same codec does not take it again.
        let mut loaded = Vec::new();
        while let Some(probe) = decision.probe()
            && let Some(codec) = codec(probe.offer)
            && let Some(outcome) = outcome(file, codec, at)
        {
            let part = &message[probe.window];
            let hot_ns = outcome.coding(Caches::Hot).encode_ns * part.len() as f64 / message.len() as f64;
            let coded = encode_part(codec, file, part, caches);
            let (wire_len, ns) = coded.unwrap_or((part.len(), hot_ns));
            let start = Instant::now();
            decision = selector.probed(&decision, wire_len, ns, message);
            sent.ns += ns + (elapsed(start) - clock_ns).max(0.0);
            let code_ns = outcome.coding(caches).encode_ns - outcome.coding(Caches::Hot).encode_ns;
            loaded.push((probe.offer, (ns - hot_ns).clamp(0.0, code_ns.max(0.0))));
        }
        let chosen = match decision.choice {
            Choice::Raw => None,
            Choice::Encode(offer) => {
                codec(offer).and_then(|codec| outcome(file, codec, at)).map(|outcome| (offer, outcome))
            }
        };
        sent.add(channel, at, chosen.map(|(_, outcome)| outcome));
        let Some((offer, outcome)) = chosen else { continue };
        sent.ns -= loaded.iter().filter(|(of, _)| *of == offer).map(|(_, ns)| ns).sum::<f64>();
        let coding = outcome.coding(caches);
        selector.encoded(&decision, outcome.wire_len.unwrap_or(message.len()), coding.encode_ns);
        if outcome.wire_len.is_some() {
            // The rank receives as many messages as it sends.
            selector.decoded(file.kind, offer, message.len(), coding.decode_ns);
        }
    }
    sent
}

fn codec(offer: Offer) -> Option<Codec> {
    Codec::at(usize::from(offer))
}

fn outcome<'a>(file: &'a Measured<'_>, codec: Codec, at: usize) -> Option<&'a Outcome> {
    let (_, outcomes) = file.codecs.iter().find(|(one, _)| *one == codec)?;
    outcomes.get(at)
}

/// Encodes a part of a message. Returns its length and the time.
fn encode_part(codec: Codec, file: &Measured<'_>, part: &[u8], caches: Caches) -> Option<(usize, f64)> {
    thread_local! {
        static WORK: RefCell<Work> = RefCell::default();
    }
    let (mut encoder, _) = codec.instances(file.kind)?;
    let mut wire = vec![0; encoder.max_encoded_len(part.len())?];
    let (mut len, mut ns) = (None, 0.0);
    // The first time, the operating system allocates memory for it.
    for _ in 0..2 {
        if caches == Caches::Cold {
            WORK.with_borrow_mut(Work::run);
            // Whoever sends the message reads it anyway.
            black_box(part.iter().fold(0, |all, byte| all | byte));
        }
        let mut out = Out::from_slice(&mut wire);
        let start = Instant::now();
        let result = encoder.encode(part, &mut out);
        ns = elapsed(start);
        len = result.ok().map(|()| out.len());
    }
    Some((len?, ns))
}
