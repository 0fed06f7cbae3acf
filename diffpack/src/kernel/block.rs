//! The unit of work: 2 KiB of words or residuals, as 32 groups of 64 bytes.
#![forbid(unsafe_code)]

use super::SAMPLE;
use crate::format::{BLOCK, GROUP, GROUPS};
pub(crate) use mpress_codec_support::pack::{Group, window};

/// The bytes of a block in an unaligned message.
pub(crate) type Bytes = [u8; BLOCK];
/// The groups of a block.
pub(crate) type Groups = [Group; GROUPS];
/// The widths of a block's groups.
pub(crate) type Widths = [u8; GROUPS];

/// A bit for each word of a block.
pub(crate) type Mask = [u8; BLOCK / 2 / 8];

/// A one in each byte.
pub(crate) const EACH: u64 = 0x0101_0101_0101_0101;

/// A mask of the lowest `bits` bits, 0 to 8, in each of eight bytes.
#[cfg(target_arch = "x86_64")]
pub(crate) const fn byte_bits(bits: u32) -> u64 {
    EACH * ((1 << bits) - 1)
}

/// A block of zeros.
pub(crate) static ZEROS: Bytes = [0; BLOCK];

/// A block in one of the codec's buffers, aligned to vectors.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Block(pub(crate) Bytes);

impl Block {
    pub(crate) const ZERO: Self = Self([0; BLOCK]);

    /// The bytes as groups; always [`GROUPS`] of them.
    #[inline(always)]
    pub(crate) fn groups(&self) -> &Groups {
        groups(&self.0)
    }

    #[inline(always)]
    pub(crate) fn groups_mut(&mut self) -> &mut Groups {
        groups_mut(&mut self.0)
    }
}

/// The groups of a block.
#[inline(always)]
pub(crate) fn groups(bytes: &Bytes) -> &Groups {
    parts(bytes)
}

/// A block or a sample as groups or as vectors.
#[inline(always)]
pub(crate) fn parts<const BYTES: usize, const PART: usize, const N: usize>(
    bytes: &[u8; BYTES],
) -> &[[u8; PART]; N] {
    bytes.as_chunks().0.first_chunk().unwrap_or(&[[0; PART]; N])
}

#[inline(always)]
pub(crate) fn groups_mut(bytes: &mut [u8]) -> &mut Groups {
    match bytes.as_chunks_mut().0.first_chunk_mut() {
        Some(groups) => groups,
        None => unreachable!(),
    }
}

/// The first groups of a block, as many as make whole samples.
#[inline(always)]
pub(crate) fn samples(groups: &Groups, count: usize) -> &[Group] {
    &groups[..count.next_multiple_of(SAMPLE / GROUP).min(GROUPS)]
}

/// The number of set bits.
#[inline(always)]
pub(crate) fn count(mask: &Mask) -> usize {
    mask.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes).count_ones() as usize).sum()
}
