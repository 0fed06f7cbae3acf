//! The time of a message, raw and compressed.

use crate::link::Link;

/// Nanoseconds that the processor takes for each byte of an exchange in the network stack, for sending and receiving together. Coding does not overlap
/// with these. Of TCP and MPI, 0.57 (`benches/record/npb.txt`); of TCP alone, 0.3 at best (Cai, Chaudhary, Vuppalapati, Hwang and Agarwal,
/// *Understanding Host Network Stack Overheads*, SIGCOMM 2021, section 3: a core receives 42 Gbit/s, and sends twice that). A network that takes less
/// time for a byte than this has a stack that does, too.
const STACK_NS: f64 = 0.4;

/// How coding and transfer overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Serially: a message is encoded, sent, decoded.
    Serial,
    /// In chunks of this size, so that one chunk is transferred while others are coded (cMPI, section 2.4).
    Pipelined {
        /// Raw bytes of a chunk, but at most a quarter of the message.
        chunk: usize,
        /// Shorter messages are sent as [`Serial`](Self::Serial) ones.
        from: usize,
    },
}

impl Transfer {
    /// The chunk length in bytes, if a message of this length is sent in chunks.
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
    /// Nanoseconds until the receiver has the message. With chunks, there are two stages: the network, and the processor, which decodes incoming data
    /// while it encodes, and moves bytes to and from the network: in most exchanges a rank receives as much as it sends. The slower stage works all the
    /// time, and coding or the network adds its time for one chunk; that of the network stack is in the time of a raw message, too.
    #[inline]
    #[must_use]
    pub fn time_ns(&self, transfer: Transfer, link: &Link, len: usize) -> f64 {
        let (coding, all) = (self.encode_ns + self.decode_ns, link.time_ns(len as f64 * self.fraction));
        match transfer.chunk(len) {
            Some(chunk) => {
                // Each chunk is a message, but the latencies of all but one overlap with the transfer.
                let (start, part) = (link.time_ns(0.0), chunk as f64 / len as f64);
                let wire = all - start;
                let processor = coding + wire.min(STACK_NS * len as f64 * self.fraction);
                start + processor.max(wire) + coding.min(wire) * part
            }
            None => coding + all,
        }
    }
}
