//! Whether it pays to keep the messages of a channel, so that later ones can refer to them.

use crate::Link;

/// The time that it takes to keep a message and to refer to another one, at both ends together, in nanoseconds per byte: two copies, and slower
/// encoding (`benches/record/diffpack.txt`). It is not measured here, because the times of a few encodings say more about interrupts.
const PRICE_NS: f64 = 0.4;
/// The minimum fraction of the wire that must be saved.
const LEAST: f64 = 0.01;
/// The first messages of a cycle are a trial: those with a set bit refer to nothing, for comparison. The bits are the Thue-Morse sequence, which
/// suits programs that send two or four kinds of messages in turn. Shorter trials were misled by messages that grow.
const TRIAL: u32 = 8;
const PLAIN: u32 = 0b1001_0110;
const CYCLE: u32 = 512;
/// If more messages than this in a row were kept, and the receiver has reported none of them as kept, no answers are expected.
const UNANSWERED: u32 = 16;
/// The number of messages that are not kept after the first judgement against it. Each further judgement doubles it, up to the maximum.
const REST: u32 = 64;
const LONGEST_REST: u32 = 1 << 14;

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recalled {
    /// It is encoded as if there were no memory.
    Nothing,
    /// It is kept at both ends.
    Kept,
    /// It is kept, and refers to an earlier one.
    Referring,
}

/// The bytes of the messages of a trial, with a reference or without.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u32,
    raw: f64,
    wire: f64,
}

impl Sum {
    /// Wire bytes per byte of the messages.
    fn fraction(&self) -> f64 {
        self.wire / self.raw.max(1.0)
    }
}

/// Decides for the messages of one channel, from their lengths on the wire with a reference and without.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recall {
    plain: Sum,
    referring: Sum,
    /// The number of messages of the cycle for which there was a reference.
    turn: u32,
    /// The number of messages in a row for which there was none.
    without: u32,
    /// The number of further messages for which nothing is kept.
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
        if !has_reference {
            self.without += 1;
            if self.without > UNANSWERED {
                self.pause();
            }
            return Recalled::Kept;
        }
        self.without = 0;
        let turn = self.turn;
        self.turn = (turn + 1) % CYCLE;
        if turn < TRIAL && PLAIN >> turn & 1 == 1 { Recalled::Kept } else { Recalled::Referring }
    }

    /// Reports that a kept message was encoded. After a trial, judges whether references save enough bytes, and, with a link to other processes,
    /// whether the link would take longer for the saved bytes than it takes to save them.
    pub fn encoded(&mut self, referring: bool, raw_len: usize, wire_len: usize, link: Option<Link>) {
        if self.turn == 0 || self.turn > TRIAL {
            return;
        }
        let sum = if referring { &mut self.referring } else { &mut self.plain };
        *sum = Sum { count: sum.count + 1, raw: sum.raw + raw_len as f64, wire: sum.wire + wire_len as f64 };
        if self.turn < TRIAL {
            return;
        }
        let [plain, referring] = [self.plain, self.referring];
        (self.plain, self.referring) = (Sum::default(), Sum::default());
        if plain.count.min(referring.count) < TRIAL / 4 {
            return;
        }
        let saved = plain.fraction() - referring.fraction();
        let is_too_dear = |link: Link| saved * 1e3 / link.bandwidth_mb_s < PRICE_NS;
        if saved < LEAST * plain.fraction() || link.is_some_and(is_too_dear) {
            self.pause();
        } else {
            self.last_rest = 0;
        }
    }

    /// Stops keeping messages for some time, for example because the receiver does not answer.
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

    /// How many of 1,000 messages refer to an earlier one, if a reference makes their wires this much shorter.
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
