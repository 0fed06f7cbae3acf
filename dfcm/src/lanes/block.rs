//! A block: eight groups of words, each as long as a vector.
#![forbid(unsafe_code)]

use super::format::{BLOCK, GROUP, GROUPS};
use crate::word::Word;
use mpress_codec_support::pack;

/// The bytes of a group of words, little-endian.
pub(super) type Group = [u8; GROUP];

/// The groups of a block.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Block(pub(super) [Group; GROUPS]);

impl Block {
    pub(super) const ZERO: Self = Self([[0; GROUP]; GROUPS]);

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.as_flattened_mut()
    }
}

/// The width in bits of each group's words.
pub(super) type Widths = [u8; GROUPS];

/// Consecutive packed groups with room after them: the bytes of two groups can be accessed wherever a group starts.
pub(super) type Body = [u8; BLOCK + GROUP];

/// The widths of the groups of a block's first `len` raw bytes.
#[inline(always)]
pub(super) fn used(widths: &Widths, len: usize) -> &[u8] {
    &widths[..len.div_ceil(GROUP).min(GROUPS)]
}

/// The packed length in bytes of the first `len` raw bytes of a block (format, section 10.5). The widths of the groups after them must be 0.
#[inline(always)]
pub(super) fn packed_len<W: Word>(widths: &Widths, len: usize) -> usize {
    let sum = widths.iter().map(|width| usize::from(*width)).sum();
    pack::packed_len::<W>(used(widths, len), len / W::WIDTH, sum)
}
