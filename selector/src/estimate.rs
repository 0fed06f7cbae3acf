//! The time of a message, raw and compressed.

use crate::link::Link;

/// Nanoseconds that the processor takes for each byte of an exchange in the network stack, for sending and receiving together. Coding does not overlap
/// with these. Of TCP and MPI, 0.57 (`benches/record/npb.txt`); of TCP alone, 0.3 at best (Cai, Chaudhary, Vuppalapati, Hwang and Agarwal,
/// *Understanding Host Network Stack Overheads*, SIGCOMM 2021, section 3: a core receives 42 Gbit/s, and sends twice that). A network that takes less
/// time for a byte than this has a stack that does, too.
const STACK_NS: f64 = 0.4;

/// Nanoseconds that the processor takes for each chunk, and for each byte of a message in chunks: the calls of the MPI, which copies short messages, the
/// interrupts, and caches that one side's chunk has emptied for the other's (`benches/record/streams.txt`).
const CHUNK_NS: f64 = 35e3;
const CHUNKED_NS: f64 = 0.25;

/// How messages may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Serially: a message is encoded, sent, decoded.
    Serial,
    /// Serially, or in chunks, so that one chunk is transferred while others are coded (cMPI, section 2.4): as is faster.
    Pipelined {
        /// Bytes of a chunk on the wire that an MPI sends without asking the receiver.
        chunk: usize,
        /// Shorter messages are sent as [`Serial`](Self::Serial) ones.
        from: usize,
    },
}

impl Transfer {
    /// The raw bytes of a chunk of a message of this length that becomes this fraction: what fits on the wire, with an eighth to spare, but at least
    /// the length on the wire and at most four times that or a quarter of the message. `None` if the message is not sent in chunks.
    fn chunk(self, len: usize, fraction: f64) -> Option<usize> {
        match self {
            Self::Pipelined { chunk, from } if len >= from => {
                let raw = (0.875 * chunk as f64 / fraction.max(0.1)) as usize;
                Some(raw.clamp(chunk, chunk.saturating_mul(4)).min(len / 4).next_multiple_of(8))
            }
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
    /// Nanoseconds until the receiver has the message, in the faster way.
    #[inline]
    #[must_use]
    pub fn time_ns(&self, transfer: Transfer, link: &Link, len: usize) -> f64 {
        let serial = self.serial_ns(link, len);
        match transfer.chunk(len, self.fraction) {
            Some(chunk) => serial.min(self.pipelined_ns(chunk, link, len)),
            None => serial,
        }
    }

    /// The length of chunks in bytes of the raw message, a multiple of 8, if chunks are faster.
    #[must_use]
    pub fn chunk(&self, transfer: Transfer, link: &Link, len: usize) -> Option<usize> {
        let chunk = transfer.chunk(len, self.fraction)?;
        (self.pipelined_ns(chunk, link, len) < self.serial_ns(link, len)).then_some(chunk)
    }

    fn serial_ns(&self, link: &Link, len: usize) -> f64 {
        self.encode_ns + self.decode_ns + link.time_ns(len as f64 * self.fraction)
    }

    /// With chunks, there are two stages: the network, and the processor, which decodes incoming data while it encodes, and moves bytes to and from the
    /// network: in most exchanges a rank receives as much as it sends. The slower stage works all the time, and coding or the network adds its time
    /// for one chunk; that of the network stack is in the time of a raw message, too.
    fn pipelined_ns(&self, chunk: usize, link: &Link, len: usize) -> f64 {
        let (coding, bytes) = (self.encode_ns + self.decode_ns, len as f64);
        // Each chunk is a message, but the latencies of all but one overlap with the transfer.
        let (start, part) = (link.time_ns(0.0), chunk as f64 / bytes);
        let wire = link.time_ns(bytes * self.fraction) - start;
        let processor = coding + CHUNK_NS / part + bytes * CHUNKED_NS;
        let stack = wire.min(STACK_NS * bytes * self.fraction);
        start + (processor + stack).max(wire) + coding.min(wire) * part
    }
}
