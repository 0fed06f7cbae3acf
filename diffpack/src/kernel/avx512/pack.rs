//! Packs groups to bits and back: eight lanes of one width, by shifts within lanes and byte permutations across them.

use crate::block::{Block, Widths};
use crate::format::{GROUP, GROUPS};
use crate::kernel::scalar::group_bytes;
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::support::avx512::{Layout, load, load_to_the_end, store};
use mpress_codec::{Full, Out};

/// A mask of the lowest `width` bits in each of eight bytes.
const fn byte_bits(width: u32) -> u64 {
    0x0101_0101_0101_0101 * ((1 << width) - 1)
}

/// Whether one permutation can pack the lanes of every width: none is below 8 bits or above 56. Reads eight widths at a time, as they were stored;
/// widths past the last group may make it `false`.
#[inline(always)]
fn is_plain<W: Word>(widths: &Widths, groups: usize) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let least = 8 / W::PER_LANE as u64;
    let greatest = 56 / W::PER_LANE as u64;
    let mut bad = 0;
    for eight in &widths.as_chunks().0[..groups.div_ceil(8)] {
        let eight = u64::from_le_bytes(*eight);
        // Widths past the last group are arbitrary; the mask prevents carries.
        let low = eight & (EACH * 127);
        bad |= !(low + EACH * (128 - least)) | (low + EACH * (127 - greatest)) | eight;
    }
    bad & (EACH * 128) == 0
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: &Widths,
    words: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let groups = words.div_ceil(W::LANES).min(GROUPS);
    if is_plain::<W>(widths, groups) {
        pack_groups::<W, true>(residuals, &widths[..groups], words, out)
    } else {
        pack_groups::<W, false>(residuals, &widths[..groups], words, out)
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pack_groups<W: Word, const PLAIN: bool>(
    residuals: &Block,
    widths: &[u8],
    words: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let mut packed = [0; GROUP];
    for (i, (group, width)) in residuals.groups().iter().zip(widths).enumerate() {
        let lanes = Layout::together::<W>(load(group), *width);
        let bits = u32::from(*width) * W::PER_LANE;
        let layout = Layout::of::<W>(*width);
        // Also the number of bytes: there are eight lanes.
        let mut len = bits as usize;
        if i + 1 == widths.len() {
            len = group_bytes::<W>(*width, words - i * W::LANES);
        }
        if !PLAIN && bits < 8 {
            let low = _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(lanes)) as u64;
            let narrow = _pext_u64(low, byte_bits(bits)).to_le_bytes();
            out.store(&narrow, len)?;
        } else {
            store(&mut packed, layout.packed::<PLAIN>(lanes));
            out.store(&packed, len)?;
        }
    }
    Ok(())
}

/// Whether one permutation can unpack the lanes of every width: none is above 56 bits. Reads eight widths at a time, as they were stored; widths past
/// the last group may make it `false`.
#[inline(always)]
pub(super) fn is_narrow<W: Word>(widths: &Widths) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let greatest = 56 / W::PER_LANE as u64;
    let mut bad = 0;
    for eight in widths.as_chunks().0 {
        let eight = u64::from_le_bytes(*eight);
        // Widths past the last group are arbitrary; the mask prevents carries.
        bad |= ((eight & (EACH * 127)) + EACH * (127 - greatest)) | eight;
    }
    bad & (EACH * 128) == 0
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn unpack<W: Word>(wire: &[u8], widths: &Widths, words: usize, residuals: &mut Block) {
    let groups = words.div_ceil(W::LANES).min(GROUPS);
    let mut at = 0;
    for (group, width) in residuals.groups_mut().iter_mut().zip(&widths[..groups]) {
        let layout = Layout::of::<W>(*width);
        store(group, layout.apart::<W, false>(load_to_the_end(wire, at), *width));
        at += layout.bytes();
    }
}
