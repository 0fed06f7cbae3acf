//! The time of a message, raw and compressed.

use crate::link::Link;

/// How coding and transfer overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// In sequence: a message is encoded, sent, decoded.
    Serial,
    /// In chunks of this size, so that one chunk is transferred while others are coded (cMPI, section 2.4).
    Pipelined {
        /// Raw bytes of a chunk.
        chunk: usize,
        /// Shorter messages are sent as [`Serial`](Self::Serial) ones.
        from: usize,
    },
}

impl Transfer {
    /// Whether messages of this length are sent in chunks.
    pub(crate) fn is_in_chunks(self, len: usize) -> bool {
        self.chunk(len).is_some()
    }

    /// The bytes of a chunk, if a message of this length goes in chunks.
    fn chunk(self, len: usize) -> Option<usize> {
        match self {
            Self::Pipelined { chunk, from } if len >= from && len > chunk => Some(chunk),
            _ => None,
        }
    }
}

/// The value of a nanosecond of coding in nanoseconds on the network, for a message that is not sent in chunks. The network carries such messages while
/// the program computes and while others are on their way, so time saved there is often not waited for; time in which the processor encodes or
/// decodes is always lost. With 1.0, SP of the NAS benchmarks lost 8 % at 10 Gbit/s (`benches/record/npb.txt`).
pub(crate) const PRICE: f64 = 1.5;

/// How many times longer the receiver takes to get a chunk from the network than the sender to hand it over: some chunks come before they are asked
/// for, and the MPI copies those once more. Measured over TCP: 1.0 to 1.8. Too high a factor forgoes gains; too low a one is found out by the clock.
const TAKING: f64 = 1.25;

/// The result of a codec for a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packed {
    /// Compressed bytes over raw bytes.
    pub fraction: f64,
    /// Nanoseconds of encoding.
    pub encode_ns: f64,
    /// Nanoseconds of decoding.
    pub decode_ns: f64,
    /// Nanoseconds in which the sender's processor hands the compressed chunks of a [`Pipelined`](Transfer::Pipelined) message over to the network.
    /// The receiver is assumed to need a quarter more.
    pub handover_ns: f64,
    /// Nanoseconds in which the same processor decodes chunks that it receives meanwhile. (Taking them from the network is part of the handover.)
    pub receiving_ns: f64,
}

impl Packed {
    /// Nanoseconds until the receiver has the message.
    #[must_use]
    pub fn time_ns(&self, transfer: Transfer, link: &Link, len: usize) -> f64 {
        let all = link.time_ns(len as f64 * self.fraction);
        match transfer.chunk(len) {
            Some(chunk) => {
                // The slowest stage works all the time; each other stage adds its time for one chunk. Each chunk is a message, but the latencies of
                // all but one overlap with the transfer.
                let part = chunk as f64 / len as f64;
                let wire = all - link.time_ns(0.0);
                let sending = self.encode_ns + self.handover_ns + self.receiving_ns;
                let stages = [sending, wire, self.decode_ns + TAKING * self.handover_ns];
                let slowest = stages.into_iter().fold(0.0, f64::max);
                link.time_ns(0.0) + slowest + (stages.iter().sum::<f64>() - slowest) * part
            }
            None => self.encode_ns + all + self.decode_ns,
        }
    }
}

/// Where a message goes, and what its processor does besides.
#[derive(Clone, Copy)]
pub(crate) struct Route<'a> {
    pub(crate) link: &'a Link,
    pub(crate) transfer: Transfer,
    /// The nanoseconds to hand over a byte of a message in chunks.
    pub(crate) handover_ns: f64,
    /// The part of the messages for which this rank receives one as long.
    pub(crate) both_ways: f64,
    /// The [`PRICE`] of coding for decisions, 1 for reports.
    pub(crate) price: f64,
}

impl Route<'_> {
    /// The same without a price of coding.
    pub(crate) fn unpriced(self) -> Self {
        Self { price: 1.0, ..self }
    }

    /// Nanoseconds until the receiver has a message of `len` bytes that is compressed to this fraction, with the price of coding.
    #[inline]
    pub(crate) fn time_ns(&self, len: usize, fraction: f64, encode_ns: f64, decode_ns: f64) -> f64 {
        let price = if self.transfer.is_in_chunks(len) { 1.0 } else { self.price };
        let (encode_ns, decode_ns) = (price * encode_ns, price * decode_ns);
        let handover_ns = self.handover_ns * fraction * len as f64;
        let receiving_ns = self.both_ways * decode_ns;
        Packed { fraction, encode_ns, decode_ns, handover_ns, receiving_ns }.time_ns(
            self.transfer,
            self.link,
            len,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN_GBIT: Link = Link { latency_us: 0.0, bandwidth_mb_s: 1250.0 };

    /// A codec of this ratio and these speeds in MB/s, for a message of 1 MB.
    fn codec(ratio: f64, encode: f64, decode: f64) -> Packed {
        let (encode_ns, decode_ns) = (1e9 / encode, 1e9 / decode);
        Packed { fraction: 1.0 / ratio, encode_ns, decode_ns, handover_ns: 0.0, receiving_ns: 0.0 }
    }

    #[test]
    fn serial_gains_from_the_speed_that_theory_says() {
        // 1 / (1 / encode + 1 / decode) > bandwidth * ratio / (ratio - 1): 3750 MB/s here.
        let raw = TEN_GBIT.time_ns(1e6);
        assert!(codec(1.5, 7600.0, 7600.0).time_ns(Transfer::Serial, &TEN_GBIT, 1_000_000) < raw);
        assert!(codec(1.5, 7400.0, 7400.0).time_ns(Transfer::Serial, &TEN_GBIT, 1_000_000) > raw);
    }

    #[test]
    fn coding_has_a_price_unless_it_overlaps_with_the_transfer() {
        // Saves 100 us on the network, and takes 80 us.
        let gain = |transfer, price| {
            let route = Route { link: &TEN_GBIT, transfer, handover_ns: 0.0, both_ways: 0.0, price };
            let ns = [route, route.unpriced()].map(|route| route.time_ns(1_000_000, 0.875, 40e3, 40e3));
            ns.map(|ns| TEN_GBIT.time_ns(1e6) - ns)
        };
        let [priced, unpriced] = gain(Transfer::Serial, PRICE);
        assert!(priced < 0.0 && (unpriced - 20e3).abs() < 1.0, "{priced} {unpriced}");
        let [priced, unpriced] = gain(Transfer::Pipelined { chunk: 10_000, from: 0 }, PRICE);
        assert!(priced > 90e3 && priced == unpriced, "{priced} {unpriced}");
    }

    #[test]
    fn pipelined_gains_up_to_the_ratio() {
        let transfer = Transfer::Pipelined { chunk: 1000, from: 0 };
        let raw = TEN_GBIT.time_ns(1e6);
        let gain = |codec: Packed| raw / codec.time_ns(transfer, &TEN_GBIT, 1_000_000);
        assert!((gain(codec(1.5, 7000.0, 7000.0)) - 1.5).abs() < 0.01);
        assert!((gain(codec(3.0, 2500.0, 7000.0)) - 2.0).abs() < 0.01, "bounded by the encoder");
        assert!(gain(codec(1.5, 1000.0, 7000.0)) < 1.0);
        let busy = Packed { handover_ns: 300e3, receiving_ns: 100e3, ..codec(3.0, 2500.0, 7000.0) };
        assert!((gain(busy) - 1.0).abs() < 0.01, "one processor does all of it");
        // A message of one chunk is coded like any other.
        let short = codec(1.5, 7000.0, 7000.0);
        let serial = short.time_ns(Transfer::Serial, &TEN_GBIT, 1_000_000);
        for (chunk, from) in [(1_000_000, 0), (1000, 1_000_001)] {
            assert_eq!(short.time_ns(Transfer::Pipelined { chunk, from }, &TEN_GBIT, 1_000_000), serial);
        }
    }
}
