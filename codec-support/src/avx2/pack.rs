//! Packs groups to bits and back, by shifts within lanes and byte shuffles within pairs of lanes.

use super::{Bytes, V, VECTOR, load, load_lane, splat, store, store_lane, sub};
use crate::Word;
use crate::pack::{GROUP, Group, ROOM, SHIFTS, ahead, lane_bits, near_the_end};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;
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
    let halves: &[Bytes; 2] = group.as_chunks().0.first_chunk().unwrap_or(&[[0; VECTOR]; 2]);
    [load(&halves[0]), load(&halves[1])]
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

/// Room for a packed group.
pub(crate) type Packed = [MaybeUninit<u8>; GROUP + ROOM];

/// Appends groups that `pack` packs, as [`pack`](crate::pack::pack) does.
///
/// # Safety
/// No width exceeds a word's. All groups but the last take `len` bytes or less, and all groups `len` or more. `pack` writes at least the bytes of a group, and none
/// that are uninitialised.
#[inline(always)]
pub(crate) unsafe fn append<W: Word>(
    groups: &[Group],
    widths: &[u8],
    len: usize,
    out: &mut Out<'_>,
    pack: impl Fn(&Group, u8, &mut Packed),
) -> Result<(), Full> {
    let groups = groups.iter().zip(widths);
    if out.remaining() >= len + GROUP + ROOM {
        let (to, mut at) = (out.as_mut_ptr(), out.len());
        for (group, width) in groups {
            debug_assert!(u32::from(*width) <= W::BITS && at - out.len() <= len);
            // SAFETY: the groups before this one are kept whole, so it begins within the `len` bytes, after which there is room for a group. These
            // bytes may be uninitialised, and nothing else refers to them while `pack` writes.
            pack(group, *width, unsafe { &mut *to.add(at).cast() });
            at += lane_bits::<W>(*width) as usize;
        }
        debug_assert!(at - out.len() >= len);
        // SAFETY: the groups have this length, and all of them have been written.
        unsafe { out.assume_written(len) };
        return Ok(());
    }
    without_room_behind::<W>(groups, len, out, pack)
}

/// The same, without room after the groups.
#[cold]
#[inline(never)]
fn without_room_behind<'a, W: Word>(
    groups: impl Iterator<Item = (&'a Group, &'a u8)>,
    len: usize,
    out: &mut Out<'_>,
    pack: impl Fn(&Group, u8, &mut Packed),
) -> Result<(), Full> {
    let mut left = len;
    for (group, width) in groups {
        let mut packed = [MaybeUninit::new(0); GROUP + ROOM];
        pack(group, *width, &mut packed);
        let bytes = (lane_bits::<W>(*width) as usize).min(left);
        // SAFETY: all of it was initialised at first, and `pack` writes no uninitialised bytes.
        out.extend_from_slice(unsafe { packed[..bytes].assume_init_ref() })?;
        left -= bytes;
    }
    Ok(())
}

/// [`pack`](crate::pack::pack), with the same bytes.
///
/// # Safety
/// No width exceeds a word's. All groups but the last take `len` bytes or less, and all groups `len` or more.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub unsafe fn pack<W: Word>(
    groups: &[Group],
    widths: &[u8],
    len: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    // SAFETY: `pack_group` writes what it must; the caller guarantees the rest.
    unsafe { append::<W>(groups, widths, len, out, |group, width, to| pack_group::<W>(group, width, to)) }
}

/// Pairs of lanes start at most 16 bytes apart, and the last one extends past the group.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pack_group<W: Word>(group: &Group, width: u8, to: &mut Packed) {
    let bits = lane_bits::<W>(width);
    let lanes = load_both(group).map(|v| together::<W>(v, width));
    if bits < 8 {
        if let Some(to) = to.first_chunk_mut::<{ size_of::<u64>() }>() {
            to.write_copy_of_slice(&narrow(lanes, bits).to_le_bytes());
        }
        return;
    }
    let Some(layout) = LANES.get(bits as usize) else { return };
    for (i, pair) in packed(lanes, layout, bits).into_iter().enumerate() {
        if let Some(to) = to.get_mut(start(i, bits)..).and_then(|rest| rest.first_chunk_mut()) {
            store_lane(to, pair);
        }
    }
}

/// The packed pairs of lanes of at least 8 bits. Each byte is shared by at most two lanes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn packed([a, b]: [V; 2], layout: &Lanes, bits: u32) -> [__m128i; 4] {
    // The previous lane of each lane. The first lane has none, but takes no bits from it.
    let before_a = _mm256_permute4x64_epi64::<0x93>(a);
    let before_b = _mm256_blend_epi32::<3>(_mm256_permute4x64_epi64::<0x93>(b), before_a);
    // As many bits of the previous lane precede the byte that they share; its other bits are inserted below the lane.
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

/// Whether a packed lane may span nine bytes: only lanes of 59, 61, 62 and 63 bits begin so late in a byte.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn spans_nine<W: Word>(widths: &Bytes) -> bool {
    let is = |bits: u8| _mm256_cmpeq_epi8(load(widths), _mm256_set1_epi8(bits as i8));
    let some = match W::PER_LANE {
        1 => _mm256_or_si256(_mm256_or_si256(is(59), is(61)), _mm256_or_si256(is(62), is(63))),
        2 => is(31),
        _ => return false,
    };
    _mm256_testz_si256(some, some) == 0
}

/// [`unpack`](crate::pack::unpack), with the same groups. `nine`: some lanes may [span nine bytes](spans_nine).
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn unpack<W: Word>(wire: &[u8], widths: &[u8], nine: bool, groups: &mut [Group]) {
    let mut groups = groups.iter_mut();
    unpack_each::<W>(wire, widths, nine, |halves| {
        let Some(group) = groups.next() else { return };
        for (to, v) in group.as_chunks_mut().0.iter_mut().zip(halves) {
            store(to, v);
        }
    });
}

/// The same, but gives each group to `take`.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn unpack_each<W: Word>(wire: &[u8], widths: &[u8], nine: bool, take: impl FnMut([V; 2])) {
    if nine {
        unpack_groups::<W, true>(wire, widths, take);
    } else {
        unpack_groups::<W, false>(wire, widths, take);
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn unpack_groups<W: Word, const NINE: bool>(wire: &[u8], widths: &[u8], mut take: impl FnMut([V; 2])) {
    let (mut at, ahead) = (0, ahead(wire));
    for width in widths {
        let bits = lane_bits::<W>(*width);
        let Some(layout) = LANES.get(bits as usize) else { return };
        _mm_prefetch::<_MM_HINT_T0>(wire.as_ptr().wrapping_add(at + ahead).cast());
        let copy;
        let packed = match wire.get(at..).and_then(|rest| rest.first_chunk()) {
            Some(packed) => packed,
            None => {
                copy = near_the_end(wire, at);
                &copy
            }
        };
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

/// Eight bytes for each lane, starting `behind` bytes after its first byte.
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
