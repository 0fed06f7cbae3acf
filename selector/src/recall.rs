//! Decides whether it pays to keep the messages of a channel, so that later ones can refer to them.

use crate::Link;

/// The time that it takes to keep a message and to refer to another one, at both ends together, in nanoseconds per byte: two copies, and slower
/// encoding (`benches/record/diffpack.txt`). It is not measured here, because the times of a few encodings say more about interrupts.
const PRICE_NS: f64 = 0.4;
/// The minimum fraction of the wire that must be saved.
const LEAST: f64 = 0.01;
/// The number of messages after which it is decided whether further ones refer. One says too little about the others: programs send different fields
/// on one channel.
const TURN: u32 = 4;
/// A message that is as short as any frame, with a reference or without, says less: this number of them count as one.
const LITTLE: u32 = 4;
/// If more messages than this in a row were kept, and the receiver has reported none of them as kept, no answers are expected.
const UNANSWERED: u32 = 16;
/// The number of messages that are not kept after some without gain, which say little about later ones, and after a lack of answers. Each further rest
/// is twice as long, up to the maximum.
const SHORT_REST: u32 = 2;
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

/// Decides for the messages of one channel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recall {
    /// The number of messages reported since the last decision, times [`LITTLE`].
    turn: u32,
    /// The bytes of messages that referred, raw and on the wire, and those saved. The sums are halved after each decision.
    sums: [usize; 3],
    /// The number of messages in a row for which there was no reference.
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
        Recalled::Referring
    }

    /// Reports a message that referred to another one: its length, that on the wire, and the number of bytes saved on the wire. `is_least`: it would be
    /// as short without a reference, because it has the minimum length. Further ones refer if the latest ones together save enough and, with a link to
    /// other processes, if the link would take longer for these bytes than it takes to save them. A report that comes after the channel came to rest
    /// changes nothing.
    pub fn referred(&mut self, [raw_len, wire_len, saved]: [usize; 3], is_least: bool, link: Option<Link>) {
        if self.rests() {
            return;
        }
        let lens = [raw_len, wire_len, saved];
        self.sums.iter_mut().zip(lens).for_each(|(sum, len)| *sum = sum.saturating_add(len));
        self.turn += if is_least { 1 } else { LITTLE };
        if self.turn < TURN * LITTLE {
            return;
        }
        let [raw, wire, saved] = self.sums.map(|sum| sum as f64);
        let in_time = |link: Link| saved * 1e3 / link.bandwidth_mb_s >= PRICE_NS * raw;
        if saved > LEAST * (wire + saved) && link.is_none_or(in_time) {
            (self.turn, self.last_rest) = (0, 0);
            self.sums = self.sums.map(|sum| sum / 2);
        } else {
            self.begin_rest(SHORT_REST);
        }
    }

    /// Stops keeping messages for some time, for example because the receiver does not answer.
    pub fn pause(&mut self) {
        self.begin_rest(REST);
    }

    fn begin_rest(&mut self, least: u32) {
        let rest = (2 * self.last_rest).clamp(least, LONGEST_REST);
        *self = Self { rest, last_rest: rest, ..Self::default() };
    }

    /// Whether nothing is kept for now.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.rest > 0
    }
}
