//! Groups to bits and back: eight lanes of one width, each stored or loaded as eight bytes that overlap the next ones.

use crate::block::{Block, Group, Widths, window};
use crate::format::{BLOCK, GROUP};
use crate::kernel::scalar::group_bytes;
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::{Full, Out};

type V = __m256i;

/// How lanes of one width lie in a packed group.
#[repr(align(64))]
struct Layout {
    /// The bit of its byte that a lane starts at.
    shift: [u64; 8],
    /// Bits of the lane before that are not in that byte: the others are put in front of the lane.
    spilt: [u64; 8],
    /// The byte that a lane starts in.
    byte: [u8; 8],
}

static LAYOUTS: [Layout; 65] = {
    let mut layouts = [const { Layout { shift: [0; 8], spilt: [0; 8], byte: [0; 8] } }; 65];
    let mut width = 1;
    while width <= 64 {
        let layout = &mut layouts[width];
        let mut lane = 0;
        while lane < 8 {
            let start = lane * width;
            layout.shift[lane] = start as u64 % 8;
            layout.spilt[lane] = (width as u64).saturating_sub(start as u64 % 8);
            layout.byte[lane] = (start / 8) as u8;
            lane += 1;
        }
        width += 1;
    }
    layouts
};

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn load(lanes: &[u8; 32]) -> V {
    // SAFETY: the 32 bytes of the array are readable; the load asks for no alignment.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn load_words(words: &[u64; 4]) -> V {
    // SAFETY: the 32 bytes of the array are readable; the load asks for no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn store(lanes: &mut [u8; 32], v: V) {
    // SAFETY: the 32 bytes of the array are writable; the store asks for no alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), v) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn load_low(bytes: &[u8; 8]) -> __m128i {
    // SAFETY: the 8 bytes of the array are readable; the load asks for no alignment.
    unsafe { _mm_loadl_epi64(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn load_high(low: __m128i, bytes: &[u8; 8]) -> __m128i {
    // SAFETY: the 8 bytes of the array are readable; the load asks for no alignment.
    unsafe { _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(low), bytes.as_ptr().cast())) }
}

/// Both halves of eight words, or of a group.
fn halves<T, const N: usize, const H: usize>(all: &[T; N]) -> [&[T; H]; 2] {
    match (all.first_chunk(), all.last_chunk()) {
        (Some(low), Some(high)) => [low, high],
        _ => unreachable!(),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn load_both(words: &[u64; 8]) -> [V; 2] {
    let [a, b] = halves(words);
    [load_words(a), load_words(b)]
}

/// Moves the words of each 64-bit lane, of `width` bits each, together at its lower end.
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
    let even = _mm256_and_si256(v, _mm256_set1_epi64x(low as i64));
    _mm256_or_si256(even, _mm256_slli_epi64::<32>(_mm256_srl_epi64(v, width)))
}

/// So many bits.
const fn low(bits: u32) -> u64 {
    if bits < 64 { (1 << bits) - 1 } else { u64::MAX }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: &Widths,
    words: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    // All groups first, then one append: the lanes' stores overlap.
    let mut packed = [0; BLOCK + 8];
    let (mut at, mut len) = (0, 0);
    for ((group, width), start) in residuals.groups().iter().zip(widths).zip((0..words).step_by(W::LANES)) {
        let bits = usize::from(*width) * W::PER_LANE as usize;
        let lanes = lanes_of::<W>(group, *width, LAYOUTS.get(bits).unwrap_or(&LAYOUTS[0]));
        if bits < 8 {
            let together = lanes.iter().rev().fold(0, |together, lane| together << bits | lane);
            put(&mut packed, at, together);
        } else {
            let layout = LAYOUTS.get(bits).unwrap_or(&LAYOUTS[0]);
            for (lane, byte) in lanes.into_iter().zip(layout.byte) {
                put(&mut packed, at + usize::from(byte), lane);
            }
        }
        len = at + group_bytes::<W>(*width, words - start);
        at += bits;
    }
    out.extend_from_slice(packed.get(..len).unwrap_or(&[]))
}

#[inline(always)]
fn put(packed: &mut [u8; BLOCK + 8], at: usize, lane: u64) {
    if let Some(to) = packed.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *to = lane.to_le_bytes();
    }
}

/// The lanes of a group; those of at least 8 bits, which share a byte with no more than one other, shifted to where
/// they start in a byte and with what the lane before has in that byte.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn lanes_of<W: Word>(group: &Group, width: u8, layout: &Layout) -> [u64; 8] {
    let [a, b] = halves(group);
    let (mut a, mut b) = (together::<W>(load(a), width), together::<W>(load(b), width));
    if u32::from(width) * W::PER_LANE >= 8 {
        // The lane before each: of the first one none, but it has no bits to get from it.
        let before_a = _mm256_permute4x64_epi64::<0x93>(a);
        let before_b = _mm256_blend_epi32::<3>(_mm256_permute4x64_epi64::<0x93>(b), before_a);
        let [shift_a, shift_b] = load_both(&layout.shift);
        let [spilt_a, spilt_b] = load_both(&layout.spilt);
        a = _mm256_or_si256(_mm256_sllv_epi64(a, shift_a), _mm256_srlv_epi64(before_a, spilt_a));
        b = _mm256_or_si256(_mm256_sllv_epi64(b, shift_b), _mm256_srlv_epi64(before_b, spilt_b));
    }
    let mut lanes = [0; 8];
    for (pair, half) in lanes.as_chunks_mut::<2>().0.iter_mut().zip([
        _mm256_castsi256_si128(a),
        _mm256_extracti128_si256::<1>(a),
        _mm256_castsi256_si128(b),
        _mm256_extracti128_si256::<1>(b),
    ]) {
        *pair = [_mm_cvtsi128_si64(half) as u64, _mm_extract_epi64::<1>(half) as u64];
    }
    lanes
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn unpack<W: Word>(wire: &[u8], widths: &Widths, words: usize, residuals: &mut Block) {
    let mut at = 0;
    let mut spare = [0; GROUP + 8];
    for ((group, width), _) in residuals.groups_mut().iter_mut().zip(widths).zip((0..words).step_by(W::LANES))
    {
        let bits = u32::from(*width) * W::PER_LANE;
        let layout = LAYOUTS.get(bits as usize).unwrap_or(&LAYOUTS[0]);
        let packed = window(wire, at, &mut spare);
        let mut v = lanes(packed, layout, 0);
        let shifts = load_both(&layout.shift);
        for (v, shift) in v.iter_mut().zip(shifts) {
            *v = _mm256_srlv_epi64(*v, shift);
        }
        if bits > 56 {
            // Lanes may reach into a ninth byte: what is a byte further on, shifted up, agrees where they overlap.
            let behind = lanes(packed, layout, 1);
            for ((v, behind), shift) in v.iter_mut().zip(behind).zip(shifts) {
                let up = _mm256_sub_epi64(_mm256_set1_epi64x(8), shift);
                *v = _mm256_or_si256(*v, _mm256_sllv_epi64(behind, up));
            }
        }
        for (to, v) in group.as_chunks_mut().0.iter_mut().zip(v) {
            store(to, apart::<W>(_mm256_and_si256(v, _mm256_set1_epi64x(low(bits) as i64)), *width));
        }
        at += bits as usize;
    }
}

/// Eight bytes for each lane, from `behind` bytes behind where it starts.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn lanes(packed: &[u8; GROUP + 8], layout: &Layout, behind: usize) -> [V; 2] {
    let at = |lane: usize| {
        let byte = usize::from(layout.byte[lane]) % GROUP + behind;
        packed[byte..].first_chunk().unwrap_or(&[0; 8])
    };
    let pair = |lane: usize| load_high(load_low(at(lane)), at(lane + 1));
    [_mm256_set_m128i(pair(2), pair(0)), _mm256_set_m128i(pair(6), pair(4))]
}
