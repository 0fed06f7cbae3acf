//! Streams of FPC 1.1, byte for byte (format, section 10): the reference mode.
#![forbid(unsafe_code)]

mod decode;
mod encode;
mod predictor;
mod tables;

pub use decode::Decoder;
pub use encode::Encoder;
use mpress_codec::{Codec, CodecId, MemoryError};

/// Bytes of a value. Streams are of doubles only.
const WIDTH: usize = 8;
/// Bytes of a stream's head: the level.
const HEAD: usize = 1;
/// The most values of a block. It is even: only the last block can have an odd number of them.
const BLOCK: usize = 32_768;
/// Bytes of a block's head: the number of values, and the length of the block with its head, three bytes each.
const BLOCK_HEAD: usize = 6;
/// In a code: the prediction is that of dfcm.
const DFCM: u8 = 8;
/// In a code: which of [`LENGTHS`] the residual has.
const LENGTH_MASK: u8 = 7;
/// The lengths of residuals that a code can tell, in bytes.
const LENGTHS: [u8; 8] = [0, 1, 2, 3, 5, 6, 7, 8];
/// Values that are worked on at a time, an even number.
const CHUNK: usize = 512;

/// The facts of codec 8: streams of FPC 1.1.
#[derive(Clone, Copy, Debug)]
pub struct FpcStream;

impl Codec for FpcStream {
    const ID: CodecId = CodecId::FPC_STREAM;
    const NAME: &'static str = "fpc-stream";
    const WIDTH: usize = WIDTH;
    const STATEFUL: bool = false;

    /// `raw_len`, half a byte for each value, 6 bytes for each block of 32768 values, and 1 (format, section 10).
    fn max_encoded_len(raw_len: usize) -> Option<usize> {
        let values = raw_len / WIDTH;
        raw_len
            .checked_add(values.div_ceil(2))?
            .checked_add(values.div_ceil(BLOCK) * BLOCK_HEAD)?
            .checked_add(HEAD)
    }
}

/// The level of FPC's command line, called *predsize* there: each of both tables has 2 to this power entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableLevel(u8);

impl TableLevel {
    /// Level 1: tables of 16 bytes.
    pub const MIN: Self = Self(1);
    /// Level 10: tables of 8 KiB, which together stay in the first-level cache.
    pub const CACHED: Self = Self(10);
    /// Level 25: tables of 256 MiB.
    pub const MAX: Self = Self(25);

    /// This level, if it is one.
    #[must_use]
    pub const fn new(level: u8) -> Option<Self> {
        if level >= Self::MIN.0 && level <= Self::MAX.0 { Some(Self(level)) } else { None }
    }

    /// The level's number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// 64-bit words of state memory that both tables take.
    #[must_use]
    pub const fn words(self) -> usize {
        2 << self.0
    }

    /// Whether `memory` has room for such tables.
    fn check(self, memory: &[u64]) -> Result<(), MemoryError> {
        if memory.len() < self.words() {
            return Err(MemoryError::new(self.words(), memory.len()));
        }
        Ok(())
    }
}
