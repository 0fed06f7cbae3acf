//! The layout of samples in a message and in a stream.
#![forbid(unsafe_code)]

use super::option::Ids;

/// The parameters of a stream. The stream does not contain them: the decoder must know them.
///
/// Parameters have the names of the standard and, in brackets, of libaec. A sample takes a whole number of bytes in the message: 1, 2 or 4, or 3
/// with [`with_three_bytes`](Self::with_three_bytes). Unused upper bits must be 0 or, for signed samples, equal to the sign bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    pub(super) bits: u32,
    pub(super) block: usize,
    pub(super) interval: usize,
    pub(super) signed: bool,
    pub(super) preprocessed: bool,
    pub(super) big_endian: bool,
    pub(super) three_bytes: bool,
    pub(super) restricted: bool,
}

impl Parameters {
    /// Samples of 8 bits; otherwise as by [`new`](Self::new).
    pub const BYTES: Self = Self::of(8);

    /// Samples of `bits` bits, the resolution *n* (`bits_per_sample`), 1 to 32. Unsigned, least significant byte first, with the preprocessor, in
    /// blocks of 32 samples, with 128 blocks between reference samples.
    #[must_use]
    pub const fn new(bits: u32) -> Option<Self> {
        if bits < 1 || bits > 32 {
            return None;
        }
        Some(Self::of(bits))
    }

    const fn of(bits: u32) -> Self {
        Self {
            bits,
            block: 32,
            interval: 128,
            signed: false,
            preprocessed: true,
            big_endian: false,
            three_bytes: false,
            restricted: false,
        }
    }

    /// Sets the number of samples per block, *J* (`block_size`): 8, 16, 32 or 64.
    #[must_use]
    pub const fn with_block(self, samples: usize) -> Option<Self> {
        match samples {
            8 | 16 | 32 | 64 => Some(Self { block: samples, ..self }),
            _ => None,
        }
    }

    /// Sets the number of blocks from one reference sample to the next, *r* (`rsi`): 1 to 4096.
    #[must_use]
    pub const fn with_interval(self, blocks: usize) -> Option<Self> {
        match blocks {
            1..=4096 => Some(Self { interval: blocks, ..self }),
            _ => None,
        }
    }

    /// Sets whether samples are signed (`AEC_DATA_SIGNED`).
    #[must_use]
    pub const fn with_signed(self, signed: bool) -> Self {
        Self { signed, ..self }
    }

    /// Sets whether the unit-delay predictor is used (`AEC_DATA_PREPROCESS`).
    #[must_use]
    pub const fn with_preprocessor(self, preprocessed: bool) -> Self {
        Self { preprocessed, ..self }
    }

    /// Sets whether samples in the message have their most significant byte first (`AEC_DATA_MSB`).
    #[must_use]
    pub const fn with_big_endian(self, big_endian: bool) -> Self {
        Self { big_endian, ..self }
    }

    /// Uses samples of three bytes (`AEC_DATA_3BYTE`); only for 17 to 24 bits.
    #[must_use]
    pub const fn with_three_bytes(self) -> Option<Self> {
        match self.bits {
            17..=24 => Some(Self { three_bytes: true, ..self }),
            _ => None,
        }
    }

    /// Uses the restricted set of options (`AEC_RESTRICTED`); only for 1 to 4 bits.
    #[must_use]
    pub const fn with_restricted(self) -> Option<Self> {
        match self.bits {
            1..=4 => Some(Self { restricted: true, ..self }),
            _ => None,
        }
    }

    /// Length in bytes of a sample in the message.
    #[must_use]
    pub const fn sample_len(&self) -> usize {
        match self.bits {
            1..=8 => 1,
            9..=16 => 2,
            _ if self.three_bytes => 3,
            _ => 4,
        }
    }

    /// The maximum stream length in bytes for `raw_len` bytes of samples, when every block is uncompressed and the last one padded; `None` if it
    /// overflows.
    #[must_use]
    pub fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        let blocks = (raw_len / self.sample_len()).div_ceil(self.block);
        let block_bits = self.block * self.bits as usize + self.ids().len as usize;
        // Eight blocks at a time, so that the number of bits overflows only if the number of bytes does.
        let rest = (blocks % 8 * block_bits).div_ceil(8);
        (blocks / 8).checked_mul(block_bits)?.checked_add(rest)
    }

    /// The greatest sample: all bits are ones.
    pub(super) const fn greatest(&self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// The sign bit of signed samples; otherwise 0.
    pub(super) const fn sign(&self) -> u32 {
        if self.signed { 1 << (self.bits - 1) } else { 0 }
    }

    pub(super) const fn ids(&self) -> Ids {
        let len = match self.bits {
            1..=2 if self.restricted => 1,
            3..=4 if self.restricted => 2,
            1..=8 => 3,
            9..=16 => 4,
            _ => 5,
        };
        Ids { len }
    }

    /// The same without unused bits: for messages in which not all samples fit in [`bits`](Self::new) bits.
    pub(super) const fn widened(self) -> Self {
        Self { bits: self.sample_len() as u32 * 8, restricted: false, ..self }
    }
}
