//! Packs groups to bits and back, lane by lane.

use super::lanes;
use crate::format::{BLOCK, GROUP, GROUPS};
use crate::kernel::block::{Block, Group, Groups, Widths, window};
use crate::word::Word;
use mpress_codec::support::Word as _;
use mpress_codec::{Full, Out};

/// The number of bytes past a packed group that may be written or read.
pub(in crate::kernel) const ROOM: usize = 24;

pub(super) fn spread(packed: u64, bits: u32) -> u64 {
    (0..8).fold(0, |spread, i| spread | (packed >> (i * bits) & ((1 << bits) - 1)) << (8 * i))
}

pub(super) fn gather(spread: u64, bits: u32) -> u64 {
    (0..8).fold(0, |packed, i| packed | (spread >> (8 * i) & ((1 << bits) - 1)) << (i * bits))
}

/// Compacts the words of a 64-bit lane, of `width` bits each, at its lower end.
#[inline(always)]
fn together<W: Word>(lane: u64, width: u32) -> u64 {
    match W::PER_LANE {
        1 => lane,
        2 => lane & 0xffff_ffff | lane >> 32 << width,
        _ => {
            let pairs = lane & 0x0000_ffff_0000_ffff | (lane >> 16 & 0x0000_ffff_0000_ffff) << width;
            pairs & 0xffff_ffff | pairs >> 32 << (2 * width)
        }
    }
}

/// The inverse of [`together`].
#[inline(always)]
fn apart<W: Word>(lane: u64, width: u32) -> u64 {
    let low = |bits: u32| 1_u64.checked_shl(bits).unwrap_or(0).wrapping_sub(1);
    match W::PER_LANE {
        1 => lane,
        2 => lane & low(width) | (lane >> width) << 32,
        _ => {
            let pairs = lane & low(2 * width) | (lane >> (2 * width)) << 32;
            let low = low(width) | low(width) << 32;
            pairs & low | (pairs >> width & low) << 16
        }
    }
}

/// The sum, the least and the greatest of the widths of the first `groups` groups: 0, 255 and 0 if there are none.
#[inline(always)]
pub(in crate::kernel) fn sum_and_ends(widths: &Widths, groups: usize) -> (usize, u8, u8) {
    let all = |widths: &[u8]| {
        let sum: u16 = widths.iter().map(|width| u16::from(*width)).sum();
        let least = widths.iter().fold(u8::MAX, |least, width| least.min(*width));
        (usize::from(sum), least, widths.iter().fold(0, |greatest, width| greatest.max(*width)))
    };
    // Nearly always a whole block, whose length the compiler then knows.
    if groups >= GROUPS { all(widths) } else { all(&widths[..groups]) }
}

/// The widths of the groups of the first `words` residuals.
#[inline(always)]
pub(in crate::kernel) fn used<W: Word>(widths: &Widths, words: usize) -> &[u8] {
    &widths[..words.div_ceil(W::LANES).min(GROUPS)]
}

/// The packed length in bytes of groups of `words` residuals, of these widths, whose sum is `sum`.
#[inline(always)]
pub(in crate::kernel) fn packed_len<W: Word>(widths: &[u8], words: usize, sum: usize) -> usize {
    let missing = (widths.len() * W::LANES).saturating_sub(words);
    let last = widths.last().map_or(0, |last| usize::from(*last));
    sum * W::PER_LANE as usize - last * missing / 8
}

/// Appends the groups of the first `words` residuals. `pack` packs them; it gets their widths and a buffer with room for them, one [`GROUP`] and
/// [`ROOM`].
#[inline(always)]
fn append<W: Word>(
    widths: &Widths,
    words: usize,
    out: &mut Out<'_>,
    pack: impl FnOnce(&[u8], &mut [u8]),
) -> Result<(), Full> {
    let (sum, ..) = sum_and_ends(widths, words.div_ceil(W::LANES));
    let widths = used::<W>(widths, words);
    let len = packed_len::<W>(widths, words, sum);
    let from = out.len();
    if let Ok(all) = out.extend_zeroed(len + GROUP + ROOM) {
        pack(widths, all.get_mut(from..).unwrap_or(&mut []));
        out.truncate(from + len);
        return Ok(());
    }
    let mut packed = [0; BLOCK + GROUP + ROOM];
    pack(widths, &mut packed);
    out.extend_from_slice(packed.get(..len).unwrap_or(&[]))
}

pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: &Widths,
    words: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    append::<W>(widths, words, out, |widths, to| {
        let mut at = 0;
        for (group, width) in residuals.groups().iter().zip(widths) {
            let Some(to) = to.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) else { return };
            pack_group::<W>(group, u32::from(*width), to);
            at += usize::from(*width) * W::PER_LANE as usize;
        }
    })
}

#[inline(always)]
fn pack_group<W: Word>(group: &Group, width: u32, to: &mut [u8; GROUP + ROOM]) {
    let bits = width * W::PER_LANE;
    if bits < 8 {
        let packed =
            lanes(group).iter().rev().fold(0, |packed, lane| packed << bits | together::<W>(*lane, width));
        packed.store(to, 0);
        return;
    }
    // Each lane is shifted to its start in a byte and merged with the bits of the previous lane in that byte.
    let (mut start, mut before) = (0, 0);
    for lane in lanes(group) {
        let lane = together::<W>(lane, width);
        let (byte, shift) = (start / 8, start % 8);
        let shared = before >> 1 >> (bits - 1 - shift);
        (lane << shift | shared).store(to, byte as usize % GROUP);
        before = lane;
        start += bits;
    }
}

pub(super) fn unpack<W: Word>(wire: &[u8], widths: &Widths, words: usize, residuals: &mut Groups) {
    let (_, _, greatest) = sum_and_ends(widths, words.div_ceil(W::LANES));
    let widths = used::<W>(widths, words);
    // A lane of this many bits and the bits before it in its first byte may span nine bytes.
    if u32::from(greatest) * W::PER_LANE > 64 - 7 {
        unpack_groups::<W, true>(wire, widths, residuals);
    } else {
        unpack_groups::<W, false>(wire, widths, residuals);
    }
}

#[inline(always)]
fn unpack_groups<W: Word, const NINE: bool>(wire: &[u8], widths: &[u8], residuals: &mut Groups) {
    let mut at = 0;
    let mut spare = [0; GROUP + 8];
    for (group, width) in residuals.iter_mut().zip(widths) {
        let bits = u32::from(*width) * W::PER_LANE;
        let packed = window(wire, at, &mut spare);
        let low = 1_u64.checked_shl(bits).unwrap_or(0).wrapping_sub(1);
        let mut start = 0;
        for lane in group.as_chunks_mut().0 {
            let (byte, bit) = ((start / 8) as usize % GROUP, start % 8);
            let mut value = u64::load(packed, byte) >> bit;
            if NINE {
                value |= u64::from(packed[byte + 8]) << 1 << (63 - bit);
            }
            *lane = apart::<W>(value & low, u32::from(*width)).to_le_bytes();
            start += bits;
        }
        at += bits as usize;
    }
}
