//! Whether it pays to keep the messages of a channel, so that later ones refer to them.

use crate::Link;

/// What it takes to keep a message and to refer to another one, at both ends together, in nanoseconds a byte: two copies, and slower encoding
/// (`benches/record/diffpack.txt`). It is not measured here: what a few encodings take says more of interrupts than of that.
const PRICE_NS: f64 = 0.4;
/// The least part of the wire that must be saved.
const LEAST: f64 = 0.01;
/// A judgement needs this number of messages with a reference.
const ENOUGH: u32 = 4;
/// Every message with this number refers to nothing, though it could, so that the two can be compared.
const COMPARED: u32 = 64;
/// If this number of messages was kept, and the receiver never said so, no answers come.
const UNANSWERED: u32 = 16;
/// Messages that are not kept after the first judgement against it; after each other one twice as many, up to the greatest number.
const REST: u32 = 64;
const LONGEST_REST: u32 = 1 << 14;

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recalled {
    /// It is encoded as if there was no memory.
    Nothing,
    /// It is kept at both ends.
    Kept,
    /// It is kept, and refers to an earlier one.
    Referring,
}

/// What messages take on the wire, with a reference or without.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    count: u32,
    /// Bytes for each byte of the message.
    wire: f64,
}

impl Mean {
    fn add(&mut self, wire: f64) {
        self.count = self.count.saturating_add(1);
        self.wire += (wire - self.wire) / f64::from(self.count.min(8));
    }
}

/// Decides for the messages of one channel, from what they take with a reference and without.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recall {
    plain: Mean,
    referring: Mean,
    /// Messages since the last rest.
    turn: u32,
    /// Messages for which nothing is kept.
    rest: u32,
    last_rest: u32,
}

impl Recall {
    /// Decides for the next message; `has_reference`: whether there is one that it could refer to.
    pub fn next(&mut self, has_reference: bool) -> Recalled {
        if self.rest > 0 {
            self.rest -= 1;
            return Recalled::Nothing;
        }
        self.turn = self.turn.wrapping_add(1);
        if !has_reference {
            if self.turn > UNANSWERED && self.referring.count == 0 {
                self.pause();
            }
            return Recalled::Kept;
        }
        if self.turn.is_multiple_of(COMPARED) || self.plain.count == 0 {
            Recalled::Kept
        } else {
            Recalled::Referring
        }
    }

    /// Reports that a message that was kept was encoded. Judges then whether the link to other processes takes longer for the bytes that are saved than
    /// it takes to save them; without a link, whether any are.
    pub fn encoded(&mut self, referring: bool, raw_len: usize, wire_len: usize, link: Option<Link>) {
        let mean = if referring { &mut self.referring } else { &mut self.plain };
        mean.add(wire_len as f64 / raw_len.max(1) as f64);
        if self.referring.count < ENOUGH || self.plain.count == 0 {
            return;
        }
        let saved = self.plain.wire - self.referring.wire;
        let is_too_dear = |link: Link| saved * 1e3 / link.bandwidth_mb_s < PRICE_NS;
        if saved < LEAST * self.plain.wire || link.is_some_and(is_too_dear) {
            self.pause();
        } else {
            self.last_rest = 0;
        }
    }

    /// The receiver does not answer: nothing is kept for some time.
    pub fn pause(&mut self) {
        let rest = if self.last_rest == 0 { REST } else { (2 * self.last_rest).min(LONGEST_REST) };
        *self = Self { rest, last_rest: rest, ..Self::default() };
    }

    /// Whether nothing is kept for now.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.rest > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABIT: Link = crate::DEFAULT_LINK;

    /// The number of 1,000 messages that refer to an earlier one, if that makes their wires this much shorter.
    fn referring(saved: usize, link: Link) -> usize {
        let mut recall = Recall::default();
        (0..1000)
            .filter(|i| {
                let what = recall.next(*i > 2);
                let refers = what == Recalled::Referring;
                if what != Recalled::Nothing {
                    let wire = if refers { 6000 - saved } else { 6000 };
                    recall.encoded(refers, 10_000, wire, Some(link));
                }
                refers
            })
            .count()
    }

    #[test]
    fn what_gains_refers_and_what_does_not_soon_rests() {
        assert!(referring(3000, GIGABIT) > 950);
        assert!((4..40).contains(&referring(0, GIGABIT)));
        assert!((4..40).contains(&referring(50, GIGABIT)));
    }

    #[test]
    fn on_a_fast_link_copies_cost_more_than_bytes() {
        let fast = Link { bandwidth_mb_s: 100.0 * GIGABIT.bandwidth_mb_s, ..GIGABIT };
        assert!(referring(1000, GIGABIT) > 950 && referring(1000, fast) < 40);
    }

    #[test]
    fn a_channel_without_answers_rests() {
        let mut recall = Recall::default();
        let kept = (0..1000).filter(|_| recall.next(false) == Recalled::Kept).count();
        assert!(kept < 100, "{kept}");
    }
}
