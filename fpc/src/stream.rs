//! Streams of FPC 1.1, compatible byte for byte (format, section 10): the reference mode.
#![forbid(unsafe_code)]

mod decode;
mod encode;
mod predictor;
mod tables;

pub use decode::Decoder;
pub use encode::Encoder;
use mpress_codec::{Codec, CodecId, MemoryError};

/// Bytes of a value. Streams contain only doubles.
const WIDTH: usize = 8;
/// Length in bytes of a stream's head: the level.
const HEAD: usize = 1;
/// The maximum number of values in a block. It is even, so only the last block can have an odd number of values.
const BLOCK: usize = 32_768;
/// Length in bytes of a block's head: the number of values, and the length of the block including its head, three bytes each.
const BLOCK_HEAD: usize = 6;
/// Precedes a tail; no block has this number of values.
const TAIL_HEAD: [u8; 3] = [0; 3];
/// The bit of a code that selects dfcm's prediction.
const DFCM: u8 = 8;
/// The bits of a code with the index into [`LENGTHS`].
const LENGTH_MASK: u8 = 7;
/// The residual lengths that a code can express, in bytes.
const LENGTHS: [u8; 8] = [0, 1, 2, 3, 5, 6, 7, 8];
/// The number of values processed at once, an even number.
const CHUNK: usize = 512;

/// Length in bytes of a tail and what precedes it. The tail consists of the bytes after the last whole value of a message.
const fn tail_len(raw_len: usize) -> usize {
    match raw_len % WIDTH {
        0 => 0,
        tail => TAIL_HEAD.len() + tail,
    }
}

/// The static description of codec 8: streams of FPC 1.1.
#[derive(Clone, Copy, Debug)]
pub struct FpcStream;

impl Codec for FpcStream {
    const ID: CodecId = CodecId::FPC_STREAM;
    const NAME: &'static str = "fpc-stream";
    const WIDTH: usize = WIDTH;
    const STATEFUL: bool = false;

    type Encoder = Encoder<InlineTables>;
    type Decoder = Decoder<InlineTables>;

    /// With tables of [`TableLevel::CACHED`], in 16 KiB of the encoder itself. The decoder's tables have the same size, so it does not read streams
    /// of higher levels; [`Decoder::new`] takes memory for them.
    fn encoder() -> Self::Encoder {
        Encoder::unchecked([0; CACHED], TableLevel::CACHED)
    }

    fn decoder() -> Self::Decoder {
        Decoder::unchecked([0; CACHED], TableLevel::CACHED)
    }
}

/// Words of memory for tables of [`TableLevel::CACHED`].
const CACHED: usize = TableLevel::CACHED.words();
/// Memory for such tables.
type InlineTables = [u64; CACHED];

/// The level on FPC's command line, called *predsize* there: both tables have 2 to this power entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableLevel(u8);

impl TableLevel {
    /// Level 1: tables of 16 bytes each.
    pub const MIN: Self = Self(1);
    /// Level 10: tables of 8 KiB each, which together stay in the first-level cache.
    pub const CACHED: Self = Self(10);
    /// Level 25: tables of 256 MiB each.
    pub const MAX: Self = Self(25);

    /// The level with this number; `None` if there is none.
    #[must_use]
    pub const fn new(level: u8) -> Option<Self> {
        if level >= Self::MIN.0 && level <= Self::MAX.0 { Some(Self(level)) } else { None }
    }

    /// The level's number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The number of 64-bit words of memory for both tables.
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
