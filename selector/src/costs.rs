//! The cost to send a message, computed from what is known of codecs and network; shared by all strategies that decide by cost.

use crate::bandwidth::Observed;
use crate::decision::{Admitted, Choice, Decision, Offer};
use crate::estimate::{Packed, Transfer};
use crate::heuristics::Behaviour;
use crate::link::{DEFAULT_LINK, Link};
use crate::sample::Level;
use crate::selector::Offered;
use crate::table::Table;
use mpress_codec::Kind;

#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Costs {
    pub(crate) network: Observed,
    pub(crate) transfer: Transfer,
    pub(crate) table: Table,
}

impl Costs {
    /// As for [`Selector::new`](crate::Selector::new).
    pub(crate) fn new(
        offers: &[Offered<'_>],
        behaviours: &[Behaviour<'_>],
        link: Link,
        transfer: Transfer,
    ) -> Self {
        let link = if link.is_sane() { link } else { DEFAULT_LINK };
        Self { table: Table::new(offers, behaviours), network: Observed::new(link), transfer }
    }

    #[inline]
    pub(crate) fn raw_ns(&self, len: usize) -> f64 {
        self.network.link.time_ns(len.cast_signed() as f64)
    }

    #[inline(never)]
    pub(crate) fn time_ns(&self, took: Packed, len: usize) -> f64 {
        took.time_ns(self.transfer, &self.network.link, len)
    }

    /// The fastest way expected for a message of this level, and the chosen candidate. For an unknown codec, a better result is hoped for if coding
    /// takes less than the fraction `tried` of the raw time. There is one copy of this code: the program's own work has evicted it from the caches,
    /// and loading it takes longer than running it.
    #[inline(never)]
    pub(crate) fn least(
        &self,
        Admitted { kind, len }: Admitted,
        level: Level,
        tried: f64,
    ) -> (Decision, Option<usize>) {
        let mut decision = Decision::raw(kind, len, Some(level), self.raw_ns(len));
        let (mut least_ns, mut best) = (decision.raw_ns, None);
        for (at, offer) in self.table.of_kind(kind) {
            let took = self.table.expected(kind, level, at, len, tried * decision.raw_ns);
            let ns = self.time_ns(took, len);
            if ns < least_ns {
                (least_ns, best) = (ns, Some(at));
                decision.choice = Choice::Encode(offer);
            }
        }
        if let Some(at) = best {
            // The expectation excludes what is merely hoped for.
            decision.expected_ns = self.time_ns(self.table.expected(kind, level, at, len, 0.0), len);
        }
        (decision, best)
    }

    /// As for [`Selector::chunk_of`](crate::Selector::chunk_of).
    pub(crate) fn chunk(&self, (kind, level, offer): (Kind, Level, Offer), len: usize) -> Option<usize> {
        let took = match self.table.place(kind, offer) {
            Some(at) => self.table.expected(kind, level, at, len, 0.0),
            None => Table::unknown(len),
        };
        took.chunk(self.transfer, &self.network.link, len)
    }

    /// The gain, in nanoseconds, from encoding a message with the codec of this cell to `wire_len` bytes in `ns` nanoseconds; `None` if the codec is
    /// not a candidate.
    pub(crate) fn gain_ns(
        &self,
        cell: (Kind, Level, Offer),
        len: usize,
        wire_len: usize,
        ns: f64,
    ) -> Option<f64> {
        let decode_ns = self.table.decode_ns(cell, len)?;
        if wire_len >= len {
            return Some(-ns);
        }
        let took = Packed { fraction: fraction(wire_len, len), encode_ns: ns, decode_ns };
        Some(self.raw_ns(len) - self.time_ns(took, len))
    }
}

/// The fraction of a message that is sent; 1 if its codec does not make it shorter.
pub(crate) fn fraction(wire_len: usize, len: usize) -> f64 {
    (wire_len as f64 / len.max(1) as f64).min(1.0)
}
