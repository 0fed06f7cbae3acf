//! Sends the messages of a file over a simulated link, one after another, under different strategies.

use super::measure::{Measured, Outcome};
use mpress::selector::{Choice, Link, PEER_CLASSES, PeerClass, Transfer};
use mpress::{Codec, Knowledge, Out};
use std::time::Instant;

/// Times of a file in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    pub(super) raw: f64,
    /// The one codec that is best if used for all messages.
    pub(super) fixed: f64,
    pub(super) fixed_name: &'static str,
    pub(super) selector: f64,
    /// The best choice for each message in hindsight.
    pub(super) oracle: f64,
    /// The number of messages, and of those that the selector has compressed.
    pub(super) messages: usize,
    pub(super) compressed: usize,
    /// Bytes of the messages, and the bytes that the selector sends.
    pub(super) raw_bytes: usize,
    pub(super) wire_bytes: usize,
    /// The times of decisions: without an estimate of gains, with one, and with a sample of the message in addition.
    pub(super) deciding: [Vec<f64>; 3],
}

impl Times {
    /// The sum over files.
    pub(super) fn total<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        all.fold(Self::default(), |mut total, times| {
            total.raw += times.raw;
            total.fixed += times.fixed;
            total.selector += times.selector;
            total.oracle += times.oracle;
            total.messages += times.messages;
            total.compressed += times.compressed;
            total.raw_bytes += times.raw_bytes;
            total.wire_bytes += times.wire_bytes;
            total
        })
    }

    /// How much longer the selector takes than the oracle, as a part of the oracle's time.
    pub(super) fn regret(&self) -> f64 {
        self.selector / self.oracle - 1.0
    }
}

/// The time of a clock call, which is subtracted from the time of decisions.
fn clock_ns() -> f64 {
    let mut times: Vec<_> = (0..1001).map(|_| elapsed(Instant::now())).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn elapsed(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e9
}

/// Sends a file.
pub(super) fn simulate(file: &Measured<'_>, knowledge: &Knowledge, link: &Link, transfer: Transfer) -> Times {
    let raw_ns = |at: usize| link.time_ns(file.messages[at].len() as f64);
    let coded_ns = |outcome: &Outcome, at: usize| {
        let len = file.messages[at].len();
        outcome.packed(len).time_ns(transfer, link, len)
    };
    let all = 0..file.messages.len();
    let mut times = Times { raw: all.clone().map(raw_ns).sum(), fixed: f64::INFINITY, ..Times::default() };
    for (codec, outcomes) in &file.codecs {
        let ns = outcomes.iter().enumerate().map(|(at, outcome)| coded_ns(outcome, at)).sum();
        if ns < times.fixed {
            (times.fixed, times.fixed_name) = (ns, codec.name());
        }
    }
    times.oracle = all
        .map(|at| {
            file.codecs.iter().map(|(_, outcomes)| coded_ns(&outcomes[at], at)).fold(raw_ns(at), f64::min)
        })
        .sum();
    select(file, knowledge, link, transfer, &mut times);
    times
}

fn select(file: &Measured<'_>, knowledge: &Knowledge, link: &Link, transfer: Transfer, times: &mut Times) {
    let clock_ns = clock_ns();
    let knowledge = Knowledge { links: [*link; PEER_CLASSES], ..knowledge.clone() };
    let mut selector = knowledge.selector(transfer);
    for (at, message) in file.messages.iter().enumerate() {
        let start = Instant::now();
        let mut decision = selector.decide(file.kind, PeerClass::NETWORK, message);
        let ns = (elapsed(start) - clock_ns).max(0.0);
        times.selector += ns;
        times.messages += 1;
        times.raw_bytes += message.len();
        let sort = usize::from(decision.is_estimated()) + usize::from(decision.level().is_some());
        times.deciding[sort].push(ns);
        while let Some(probe) = &decision.probe
            && let Some(outcome) = outcome(file, usize::from(probe.offer), at)
        {
            let window = &message[probe.window.clone()];
            let ns = outcome.encode_ns * window.len() as f64 / message.len() as f64;
            let wire_len = encoded_len(usize::from(probe.offer), file, window).unwrap_or(window.len());
            selector.probed(&decision, wire_len, ns);
            times.selector += ns;
            if !decision.is_tentative() {
                break;
            }
            let start = Instant::now();
            decision = selector.decide_again(&decision, message);
            times.selector += (elapsed(start) - clock_ns).max(0.0);
        }
        let chosen = match decision.choice {
            Choice::Raw => None,
            Choice::Encode(offer) => outcome(file, usize::from(offer), at),
        };
        let Some(outcome) = chosen else {
            times.selector += link.time_ns(message.len() as f64);
            times.wire_bytes += message.len();
            continue;
        };
        let Choice::Encode(offer) = decision.choice else { continue };
        times.compressed += usize::from(outcome.wire_len.is_some());
        times.wire_bytes += outcome.wire_len.unwrap_or(message.len());
        times.selector += outcome.packed(message.len()).time_ns(transfer, link, message.len());
        selector.encoded(&decision, outcome.wire_len.unwrap_or(message.len()), outcome.encode_ns);
        if outcome.wire_len.is_some() {
            // The rank receives as many messages as it sends.
            selector.decoded(file.kind, offer, message.len(), outcome.decode_ns);
        }
    }
}

fn outcome<'a>(file: &'a Measured<'_>, offer: usize, at: usize) -> Option<&'a Outcome> {
    let (_, outcomes) = file.codecs.iter().find(|(codec, _)| codec.index() == offer)?;
    outcomes.get(at)
}

fn encoded_len(offer: usize, file: &Measured<'_>, window: &[u8]) -> Option<usize> {
    let (mut encoder, _) = Codec::at(offer)?.instances(file.kind)?;
    let mut wire = vec![0; encoder.max_encoded_len(window.len())?];
    let mut out = Out::from_slice(&mut wire);
    encoder.encode(window, &mut out).ok()?;
    Some(out.len())
}
