//! Packs groups to bits and back: eight lanes of one width, by shifts within lanes and byte shuffles within pairs of lanes.

use crate::decode::rebuild::Packed;
use crate::format::{BLOCK, GROUP, GROUPS};
use crate::kernel::block::{Block, Group, Groups, Widths, window};
use crate::kernel::scalar::{ROOM, packed_len, used};
use crate::word::Word;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use mpress_codec::support::avx2::{V, VECTOR, load, load_lane, splat, store, store_lane, sub};
use mpress_codec::{Full, Out};

/// The bytes of lanes of one width in a packed group. A pair of lanes starts in the byte in which its first lane starts, and spans at most 16 bytes.
/// The bits that a lane loses when it is shifted to its position in that byte are added to the next lane.
#[repr(align(64))]
struct Lanes {
    /// For each byte of a packed pair: its source byte in the shifted lanes.
    together: Group,
    /// For each byte of the lanes: its source byte in the packed pair.
    apart: Group,
}

/// The bit of its first byte at which a lane starts, for widths modulo 8.
#[repr(align(64))]
struct Shifts([[[u8; 8]; 8]; 8]);

static SHIFTS: Shifts = {
    let mut shifts = [[[0; 8]; 8]; 8];
    let mut i = 0;
    while i < 64 {
        shifts[i / 8][i % 8][0] = (i / 8 * (i % 8) % 8) as u8;
        i += 1;
    }
    Shifts(shifts)
};

static LANES: [Lanes; 65] = {
    let mut lanes = [const { Lanes::new(0) }; 65];
    let mut width = 1;
    while width <= 64 {
        lanes[width] = Lanes::new(width);
        width += 1;
    }
    lanes
};

impl Lanes {
    const fn new(width: usize) -> Self {
        let mut layout = Self { together: [0x80; GROUP], apart: [0; GROUP] };
        let mut lane = 0;
        while lane < 8 {
            let byte = lane * width / 8;
            let pair = lane / 2;
            let start = 2 * pair * width / 8;
            let mut i = 0;
            while i < 8 {
                // The second lane of a pair is written later and takes the shared byte.
                layout.together[pair * 16 + byte - start + i] = (lane % 2 * 8 + i) as u8;
                layout.apart[lane * 8 + i] = (byte - start + i) as u8;
                i += 1;
            }
            lane += 1;
        }
        layout
    }
}

/// Both halves of a table row or of a group.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn load_both(group: &Group) -> [V; 2] {
    let [low, high] = halves(group);
    [load(low), load(high)]
}

#[inline(always)]
fn halves(group: &Group) -> [&[u8; VECTOR]; 2] {
    let (low, high) = (group.first_chunk(), group.last_chunk());
    [low.unwrap_or(&[0; VECTOR]), high.unwrap_or(&[0; VECTOR])]
}

/// The shift counts of lanes of these bits.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn shifts(bits: u32) -> [V; 2] {
    load_both(SHIFTS.0[bits as usize % 8].as_flattened().first_chunk().unwrap_or(&[0; GROUP]))
}

/// Compacts the words of each 64-bit lane, of `width` bits each, at its lower end.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn together<W: Word>(v: V, width: u8) -> V {
    let width = _mm_cvtsi32_si128(width.into());
    match W::PER_LANE {
        1 => v,
        2 => pairs_together(v, width),
        _ => {
            let even = _mm256_and_si256(v, _mm256_set1_epi32(0xffff));
            let odd = _mm256_sll_epi32(_mm256_srli_epi32::<16>(v), width);
            pairs_together(_mm256_or_si256(even, odd), _mm_add_epi64(width, width))
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pairs_together(v: V, width: __m128i) -> V {
    let even = _mm256_and_si256(v, _mm256_set1_epi64x(0xffff_ffff));
    _mm256_or_si256(even, _mm256_sll_epi64(_mm256_srli_epi64::<32>(v), width))
}

/// The inverse of [`together`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn apart<W: Word>(v: V, width: u8) -> V {
    let count = _mm_cvtsi32_si128(width.into());
    match W::PER_LANE {
        1 => v,
        2 => pairs_apart(v, count, low(width.into())),
        _ => {
            let pairs = pairs_apart(v, _mm_add_epi64(count, count), low(u32::from(width) * 2));
            let even = _mm256_and_si256(pairs, _mm256_set1_epi32(low(width.into()) as i32));
            _mm256_or_si256(even, _mm256_slli_epi32::<16>(_mm256_srl_epi32(pairs, count)))
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pairs_apart(v: V, width: __m128i, low: u64) -> V {
    let even = _mm256_and_si256(v, splat(low));
    _mm256_or_si256(even, _mm256_slli_epi64::<32>(_mm256_srl_epi64(v, width)))
}

/// A mask of the lowest `bits` bits.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn low(bits: u32) -> u64 {
    _bzhi_u64(u64::MAX, bits)
}

/// The byte of a packed group in which a pair starts.
#[inline(always)]
const fn start(pair: usize, bits: u32) -> usize {
    pair * bits as usize / 4
}

/// As the trait's. Without a loop, whose end would be hard to predict in short blocks.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(in crate::kernel) fn sum_and_ends(widths: &Widths, groups: usize) -> (usize, u8, u8) {
    /// From `GROUPS - groups` on, ones for each of the groups and zeros for the others.
    static ONES: [[u8; GROUPS]; 2] = [[u8::MAX; GROUPS], [0; GROUPS]];
    let ones = ONES.as_flattened().get(GROUPS - groups.min(GROUPS)..).and_then(|ones| ones.first_chunk());
    let (ones, all) = (load(ones.unwrap_or(&ONES[0])), load(widths));
    let zero = _mm256_setzero_si256();
    let used = _mm256_and_si256(all, ones);
    let sums = _mm256_sad_epu8(used, zero);
    let sums = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    let sum = _mm_cvtsi128_si64(sums) + _mm_extract_epi64::<1>(sums);
    // The greatest is the complement of the least complement.
    let ends = [
        _mm256_or_si256(used, _mm256_xor_si256(ones, splat(u64::MAX))),
        _mm256_xor_si256(used, splat(u64::MAX)),
    ];
    let [least, most] = ends.map(|v| {
        let v = _mm_min_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
        let pairs = _mm_min_epu8(v, _mm_srli_epi16::<8>(v));
        _mm_cvtsi128_si32(_mm_minpos_epu16(pairs)) as u8
    });
    (sum as usize, least, !most)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: &Widths,
    words: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let used = used::<W>(widths, words);
    let (sum, ..) = sum_and_ends(widths, used.len());
    let len = packed_len::<W>(used, words, sum);
    let room = len + GROUP + ROOM;
    if out.remaining() >= room {
        // Spare room, without filling it with zeros first: that took a noticeable part of the encoding time.
        let at = out.len();
        // SAFETY: `out` has this much spare room; these bytes may be uninitialised, and nothing else refers to them while the slice is in use.
        let to = unsafe { core::slice::from_raw_parts_mut(out.as_mut_ptr().add(at), room) };
        if pack_groups::<W>(residuals, used, to) >= len {
            // SAFETY: exactly `len` bytes of the room have been written.
            unsafe { out.assume_written(len) };
            return Ok(());
        }
    }
    let mut packed = [MaybeUninit::new(0); BLOCK + GROUP + ROOM];
    pack_groups::<W>(residuals, used, &mut packed);
    // SAFETY: the whole array is initialised.
    let packed: &[u8] = unsafe { core::slice::from_raw_parts(packed.as_ptr().cast(), packed.len()) };
    out.extend_from_slice(packed.get(..len).unwrap_or_default())
}

/// Packs groups. Returns the number of bytes, all of which have been written: fewer than the widths imply if `to` lacks a group and [`ROOM`] for one
/// of the groups, or if a width is invalid.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pack_groups<W: Word>(residuals: &Block, widths: &[u8], to: &mut [MaybeUninit<u8>]) -> usize {
    let mut at = 0;
    for (group, width) in residuals.groups().iter().zip(widths) {
        let room: Option<&mut [MaybeUninit<u8>; GROUP + ROOM]> =
            to.get_mut(at..).and_then(|rest| rest.first_chunk_mut());
        let bits = u32::from(*width) * W::PER_LANE;
        let (Some(to), Some(layout)) = (room, LANES.get(bits as usize)) else { return at };
        let [a, b] = load_both(group);
        let lanes = [together::<W>(a, *width), together::<W>(b, *width)];
        if bits < 8 {
            if let Some(to) = to.first_chunk_mut::<{ size_of::<u64>() }>() {
                to.write_copy_of_slice(&narrow(lanes, bits).to_le_bytes());
            }
        } else {
            // Pairs start at most 16 bytes apart, and the last one extends past the group's `bits` bytes.
            for (i, pair) in packed(lanes, layout, bits).into_iter().enumerate() {
                let Some(to) = to.get_mut(start(i, bits)..).and_then(|rest| rest.first_chunk_mut()) else {
                    return at;
                };
                store_lane(to, pair);
            }
        }
        at += bits as usize;
    }
    at
}

/// The packed pairs of lanes of at least 8 bits. Each byte is shared by at most two lanes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn packed([a, b]: [V; 2], layout: &Lanes, bits: u32) -> [__m128i; 4] {
    // The previous lane of each lane. The first lane has none, but takes no bits from it.
    let before_a = _mm256_permute4x64_epi64::<0x93>(a);
    let before_b = _mm256_blend_epi32::<3>(_mm256_permute4x64_epi64::<0x93>(b), before_a);
    // As many bits of the previous lane lie before the byte that they share; its other bits are inserted below the lane.
    let ([shift_a, shift_b], all) = (shifts(bits), splat(u64::from(bits)));
    let [spilt_a, spilt_b] = [sub::<u64>(all, shift_a), sub::<u64>(all, shift_b)];
    let [together_a, together_b] = load_both(&layout.together);
    let a = _mm256_or_si256(_mm256_sllv_epi64(a, shift_a), _mm256_srlv_epi64(before_a, spilt_a));
    let b = _mm256_or_si256(_mm256_sllv_epi64(b, shift_b), _mm256_srlv_epi64(before_b, spilt_b));
    let (a, b) = (_mm256_shuffle_epi8(a, together_a), _mm256_shuffle_epi8(b, together_b));
    [
        _mm256_castsi256_si128(a),
        _mm256_extracti128_si256::<1>(a),
        _mm256_castsi256_si128(b),
        _mm256_extracti128_si256::<1>(b),
    ]
}

/// Packs eight lanes of less than 8 bits.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn narrow([a, b]: [V; 2], bits: u32) -> u64 {
    // One byte per lane: the lanes of the second half go to the upper half, and so on.
    let halves = _mm256_or_si256(a, _mm256_slli_epi64::<32>(b));
    let (low, high) = (_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
    let quarters = _mm_or_si128(low, _mm_slli_epi64::<16>(high));
    let (even, odd) = (_mm_cvtsi128_si64(quarters) as u64, _mm_extract_epi64::<1>(quarters) as u64);
    _pext_u64(even | odd << 8, 0x0101_0101_0101_0101 * ((1 << bits) - 1))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn unpack<W: Word>(wire: &[u8], widths: &Widths, words: usize, residuals: &mut Groups) {
    let mut groups = residuals.iter_mut();
    unpack_each::<W>(Packed { wire, widths }, words, |halves| {
        let Some(group) = groups.next() else { return };
        for (to, v) in group.as_chunks_mut().0.iter_mut().zip(halves) {
            store(to, v);
        }
    });
}

/// Unpacks the groups of the first `words` residuals, and gives each to `take`.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn unpack_each<W: Word>(packed: Packed<'_>, words: usize, take: impl FnMut([V; 2])) {
    if spans_nine::<W>(packed.widths) {
        unpack_groups::<W, true>(packed, words, take);
    } else {
        unpack_groups::<W, false>(packed, words, take);
    }
}

/// Whether a packed lane may span nine bytes: that one begins so late in a byte only with 59, 61, 62 and 63 bits. Widths past the last group may make it
/// `true`.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(in crate::kernel) fn spans_nine<W: Word>(widths: &Widths) -> bool {
    let is = |bits: u8| _mm256_cmpeq_epi8(load(widths), _mm256_set1_epi8(bits as i8));
    let some = match W::PER_LANE {
        1 => _mm256_or_si256(_mm256_or_si256(is(59), is(61)), _mm256_or_si256(is(62), is(63))),
        2 => is(31),
        _ => return false,
    };
    _mm256_testz_si256(some, some) == 0
}

/// How many bytes ahead to ask for: the processor itself does not look past the end of a page. Nothing past the end of the wire.
#[inline(always)]
pub(in crate::kernel) fn ahead(wire: &[u8]) -> usize {
    if wire.len() > 2 * BLOCK { BLOCK } else { 0 }
}

/// `NINE`: some lanes span nine bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn unpack_groups<W: Word, const NINE: bool>(
    Packed { wire, widths }: Packed<'_>,
    words: usize,
    mut take: impl FnMut([V; 2]),
) {
    let (mut at, ahead) = (0, ahead(wire));
    let mut spare = [0; GROUP + ROOM];
    for width in used::<W>(widths, words) {
        let bits = u32::from(*width) * W::PER_LANE;
        let Some(layout) = LANES.get(bits as usize) else { return };
        let packed = window(wire, at, &mut spare);
        _mm_prefetch::<_MM_HINT_T0>(wire.as_ptr().wrapping_add(at + ahead).cast());
        let mut v = lanes(packed, layout, bits, 0);
        for (v, shift) in v.iter_mut().zip(shifts(bits)) {
            *v = _mm256_srlv_epi64(*v, shift);
        }
        if NINE {
            // The same lanes from one byte later; they agree where they overlap.
            let behind = lanes(packed, layout, bits, 1);
            for ((v, behind), shift) in v.iter_mut().zip(behind).zip(shifts(bits)) {
                *v = _mm256_or_si256(*v, _mm256_sllv_epi64(behind, sub::<u64>(splat(8_u64), shift)));
            }
        }
        take(v.map(|v| apart::<W>(_mm256_and_si256(v, splat(low(bits))), *width)));
        at += bits as usize;
    }
}

/// Eight bytes for each lane, from `behind` bytes after its first byte.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn lanes(packed: &[u8; GROUP + ROOM], layout: &Lanes, bits: u32, behind: usize) -> [V; 2] {
    let pair = |i: usize| {
        let bytes = packed.get(start(i, bits) + behind..).and_then(|rest| rest.first_chunk());
        load_lane(bytes.unwrap_or(&[0; 16]))
    };
    let [apart_a, apart_b] = load_both(&layout.apart);
    [
        _mm256_shuffle_epi8(_mm256_set_m128i(pair(1), pair(0)), apart_a),
        _mm256_shuffle_epi8(_mm256_set_m128i(pair(3), pair(2)), apart_b),
    ]
}
