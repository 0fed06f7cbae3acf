//! The time of a message, raw and compressed.

use crate::link::Link;

/// How coding and transfer overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// In sequence: a message is encoded, sent, decoded.
    Serial,
    /// In chunks of this size, so that one chunk is transferred while others are coded (cMPI, section 2.4).
    Pipelined {
        /// Raw bytes of a chunk; of a quarter of the message, if that is less.
        chunk: usize,
        /// Shorter messages are sent as [`Serial`](Self::Serial) ones.
        from: usize,
    },
}

impl Transfer {
    /// The bytes of a chunk, if a message of this length goes in chunks.
    fn chunk(self, len: usize) -> Option<usize> {
        match self {
            Self::Pipelined { chunk, from } if len >= from => Some(chunk.min(len / 4)),
            _ => None,
        }
    }
}

/// The result of a codec for a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packed {
    /// Compressed bytes over raw bytes.
    pub fraction: f64,
    /// Nanoseconds of encoding.
    pub encode_ns: f64,
    /// Nanoseconds of decoding.
    pub decode_ns: f64,
}

impl Packed {
    /// Nanoseconds until the receiver has the message. In chunks the slowest stage works all the time, and each other stage adds its time for one chunk.
    /// One stage is the processor, which decodes what comes while it encodes: in most exchanges a rank receives as much as it sends.
    #[inline]
    #[must_use]
    pub fn time_ns(&self, transfer: Transfer, link: &Link, len: usize) -> f64 {
        let (coding, all) = (self.encode_ns + self.decode_ns, link.time_ns(len as f64 * self.fraction));
        match transfer.chunk(len) {
            Some(chunk) => {
                // Each chunk is a message, but the latencies of all but one overlap with the transfer.
                let (start, part) = (link.time_ns(0.0), chunk as f64 / len as f64);
                let wire = all - start;
                start + coding.max(wire) + coding.min(wire) * part
            }
            None => coding + all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN_GBIT: Link = Link { latency_us: 0.0, bandwidth_mb_s: 1250.0 };

    /// A codec of this ratio and these speeds in MB/s, for a message of 1 MB.
    fn codec(ratio: f64, encode: f64, decode: f64) -> Packed {
        Packed { fraction: 1.0 / ratio, encode_ns: 1e9 / encode, decode_ns: 1e9 / decode }
    }

    #[test]
    fn serial_gains_from_the_speed_that_theory_says() {
        // 1 / (1 / encode + 1 / decode) > bandwidth * ratio / (ratio - 1): 3750 MB/s here.
        let raw = TEN_GBIT.time_ns(1e6);
        assert!(codec(1.5, 7600.0, 7600.0).time_ns(Transfer::Serial, &TEN_GBIT, 1_000_000) < raw);
        assert!(codec(1.5, 7400.0, 7400.0).time_ns(Transfer::Serial, &TEN_GBIT, 1_000_000) > raw);
    }

    #[test]
    fn pipelined_gains_up_to_the_ratio() {
        let transfer = Transfer::Pipelined { chunk: 1000, from: 0 };
        let raw = TEN_GBIT.time_ns(1e6);
        let gain = |codec: Packed| raw / codec.time_ns(transfer, &TEN_GBIT, 1_000_000);
        assert!((gain(codec(1.5, 7000.0, 7000.0)) - 1.5).abs() < 0.01);
        assert!((gain(codec(3.0, 5000.0, 5000.0)) - 2.0).abs() < 0.01, "bounded by the processor");
        assert!(gain(codec(1.5, 1000.0, 7000.0)) < 1.0);
        // Shorter ones are coded as a whole.
        let short = codec(1.5, 7000.0, 7000.0);
        let serial = short.time_ns(Transfer::Serial, &TEN_GBIT, 1_000_000);
        let transfer = Transfer::Pipelined { chunk: 1000, from: 1_000_001 };
        assert_eq!(short.time_ns(transfer, &TEN_GBIT, 1_000_000), serial);
    }
}
