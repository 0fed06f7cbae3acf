//! Groups of words, packed to bits and back: portable code, which defines the bytes. `avx2` and `avx512` write the same.
//!
//! A group is eight lanes of 64 bits. The words of a lane, all of one width, are compacted at its lower end. Lane `i` of `bits` bits starts at bit `i * bits % 8` of byte
//! `i * bits / 8`, so a group takes `bits` bytes.
//!
#![forbid(unsafe_code)]

use crate::Word;
use mpress_codec::{Full, Out};

/// Bytes of a group, which fills a vector of AVX-512.
pub const GROUP: usize = 64;
/// The bytes of a group.
pub type Group = [u8; GROUP];

/// The number of bytes past a group's 64 that may be written or read.
pub(crate) const ROOM: usize = 24;

/// The length of the part of a wire that is prefetched: the processor itself does not prefetch past the end of a page.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 2 << 10;

/// How many bytes ahead to prefetch in a wire that is long enough; never past its end.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn ahead(wire: &[u8]) -> usize {
    if wire.len() > 2 * AHEAD { AHEAD } else { 0 }
}

/// A group as 64-bit lanes.
#[inline(always)]
pub fn lanes(group: &Group) -> [u64; 8] {
    let mut lanes = [0; 8];
    for (lane, bytes) in lanes.iter_mut().zip(group.as_chunks().0) {
        *lane = u64::from_le_bytes(*bytes);
    }
    lanes
}

/// The bits of a lane with words of this width.
#[inline(always)]
pub(crate) fn lane_bits<W: Word>(width: u8) -> u32 {
    u32::from(width) * W::PER_LANE
}

/// The bit of its first byte at which each lane starts, as words: equal for widths that are equal modulo 8.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
pub(crate) struct Shifts(pub(crate) [[[u8; 8]; 8]; 8]);

#[cfg(target_arch = "x86_64")]
pub(crate) static SHIFTS: Shifts = {
    let mut shifts = [[[0; 8]; 8]; 8];
    let mut i = 0;
    while i < 64 {
        shifts[i / 8][i % 8][0] = (i / 8 * (i % 8) % 8) as u8;
        i += 1;
    }
    Shifts(shifts)
};

/// The packed length in bytes of groups of `words` words, of these widths, whose sum is `sum`.
#[inline(always)]
pub fn packed_len<W: Word>(widths: &[u8], words: usize, sum: usize) -> usize {
    let missing = (widths.len() * GROUP / W::WIDTH).saturating_sub(words);
    let last = widths.last().map_or(0, |last| usize::from(*last));
    sum * W::PER_LANE as usize - last * missing / 8
}

/// Appends groups of words of 16 bits or more, of these widths, packed to `len` bytes: those of all groups, except that the last one may be cut off.
///
/// # Errors
/// If there is no room; some of the bytes may have been added then.
#[inline]
pub fn pack<W: Word>(groups: &[Group], widths: &[u8], len: usize, out: &mut Out<'_>) -> Result<(), Full> {
    let from = out.len();
    if let Ok(all) = out.extend_zeroed(len + GROUP + ROOM) {
        let mut at = from;
        for (group, width) in groups.iter().zip(widths) {
            let Some(to) = all.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) else { break };
            pack_group::<W>(group, *width, to);
            at += lane_bits::<W>(*width) as usize;
        }
        out.truncate(from + len);
        return Ok(());
    }
    // The last groups, near the end of the room.
    let mut left = len;
    for (group, width) in groups.iter().zip(widths) {
        let mut packed = [0; GROUP + ROOM];
        pack_group::<W>(group, *width, &mut packed);
        let bytes = (lane_bits::<W>(*width) as usize).min(left);
        out.extend_from_slice(packed.get(..bytes).unwrap_or_default())?;
        left -= bytes;
    }
    Ok(())
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

/// A mask of the lowest `bits` bits.
#[inline(always)]
fn low(bits: u32) -> u64 {
    !u64::MAX.checked_shl(bits).unwrap_or(0)
}

#[inline(always)]
fn pack_group<W: Word>(group: &Group, width: u8, to: &mut [u8; GROUP + ROOM]) {
    let (width, bits) = (width.into(), lane_bits::<W>(width));
    if bits < 8 {
        let lanes = lanes(group);
        let packed = lanes.iter().rev().fold(0, |packed, lane| packed << bits | together::<W>(*lane, width));
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

/// The inverse of [`pack`]: reads groups of words of these widths from the front of `wire`; bytes past its end are zeros. `nine`: some lanes may span
/// nine bytes, counting the bits before them in their first byte.
#[inline]
pub fn unpack<W: Word>(wire: &[u8], widths: &[u8], nine: bool, groups: &mut [Group]) {
    if nine {
        unpack_groups::<W, true>(wire, widths, groups);
    } else {
        unpack_groups::<W, false>(wire, widths, groups);
    }
}

#[inline(always)]
fn unpack_groups<W: Word, const NINE: bool>(wire: &[u8], widths: &[u8], groups: &mut [Group]) {
    let mut at = 0;
    for (group, width) in groups.iter_mut().zip(widths) {
        let bits = lane_bits::<W>(*width);
        let copy;
        let packed: &[u8; GROUP + 8] = match wire.get(at..).and_then(|rest| rest.first_chunk()) {
            Some(packed) => packed,
            None => {
                copy = near_the_end(wire, at);
                &copy
            }
        };
        for (lane, start) in group.as_chunks_mut().0.iter_mut().zip((0..8).map(|i| i * bits)) {
            let (byte, bit) = ((start / 8) as usize % GROUP, start % 8);
            let mut value = u64::load(packed, byte) >> bit;
            if NINE {
                value |= u64::from(packed[byte + 8]) << 1 << (63 - bit);
            }
            *lane = apart::<W>(value & low(bits), (*width).into()).to_le_bytes();
        }
        at += bits as usize;
    }
}

/// The `N` bytes from byte `at`. Bytes past the end are zero; `spare` holds the copy that this needs.
#[inline(always)]
pub fn window<'a, const N: usize>(bytes: &'a [u8], at: usize, spare: &'a mut [u8; N]) -> &'a [u8; N] {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(window) => window,
        None => {
            *spare = near_the_end(bytes, at);
            spare
        }
    }
}

#[cold]
#[inline(never)]
pub(crate) fn near_the_end<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut window = [0; N];
    let rest = bytes.get(at..).unwrap_or_default();
    if let Some(to) = window.get_mut(..rest.len()) {
        to.copy_from_slice(rest);
    }
    window
}
