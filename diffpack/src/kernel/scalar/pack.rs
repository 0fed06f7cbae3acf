//! Packs the groups of a block to bits and back.

use crate::format::GROUPS;
use crate::kernel::block::{Block, Groups, Widths};
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::pack::{self, packed_len};

pub(super) fn spread(packed: u64, bits: u32) -> u64 {
    (0..8).fold(0, |spread, i| spread | (packed >> (i * bits) & ((1 << bits) - 1)) << (8 * i))
}

pub(super) fn gather(spread: u64, bits: u32) -> u64 {
    (0..8).fold(0, |packed, i| packed | (spread >> (8 * i) & ((1 << bits) - 1)) << (i * bits))
}

#[inline(always)]
pub(super) fn joined(eights: [u64; GROUPS / 8]) -> Widths {
    *eights.map(u64::to_le_bytes).as_flattened().first_chunk().unwrap_or(&[0; GROUPS])
}

#[inline(always)]
pub(super) fn sum_and_ends(widths: &Widths, groups: usize) -> (usize, u8, u8) {
    let all = |widths: &[u8]| {
        let sum: u16 = widths.iter().map(|width| u16::from(*width)).sum();
        let least = widths.iter().fold(u8::MAX, |least, width| least.min(*width));
        (usize::from(sum), least, widths.iter().fold(0, |greatest, width| greatest.max(*width)))
    };
    // Nearly always a whole block, so the compiler then knows its length.
    if groups >= GROUPS { all(widths) } else { all(&widths[..groups]) }
}

/// The widths of the groups of the first `words` residuals.
#[inline(always)]
pub(in crate::kernel) fn used<W: Word>(widths: &Widths, words: usize) -> &[u8] {
    &widths[..words.div_ceil(W::LANES).min(GROUPS)]
}

pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: &Widths,
    words: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let used = used::<W>(widths, words);
    let (sum, ..) = sum_and_ends(widths, used.len());
    pack::pack::<W>(residuals.groups(), used, packed_len::<W>(used, words, sum), out)
}

pub(super) fn unpack<W: Word>(wire: &[u8], widths: &Widths, words: usize, residuals: &mut Groups) {
    let used = used::<W>(widths, words);
    let (_, _, greatest) = sum_and_ends(widths, used.len());
    pack::unpack::<W>(wire, used, u32::from(greatest) * W::PER_LANE > 64 - 7, residuals);
}
