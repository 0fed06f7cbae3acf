//! Packs words to bits and back, by permutations of bytes.
//!
//! A group is eight 64-bit lanes here: each is one double, or two single floats, which are compacted first. A lane then has 0 or 8 to 64 bits, so a
//! byte of the wire has bits of at most two lanes.

use super::vector::{V, load, store};
use crate::lanes::block::{Block, Body, Group, Widths, packed_bytes};
use crate::lanes::format::GROUP;
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::{Full, Out};

/// The bit positions of lanes of one width in the packed group.
#[repr(align(64))]
struct Layout {
    /// In each lane's first byte: the bit of a byte at which the lane starts.
    shift: Group,
    /// For each packed byte: the byte of the shifted lanes with its lower bits, and the one with its upper bits (the same one if all bits belong to
    /// one lane).
    lower: Group,
    upper: Group,
    /// A shifted lane may lose bits at its top. For each packed byte: the byte of the down-shifted lanes with these bits, or a zero byte.
    lost: Group,
    /// For each byte of the lanes: the packed byte in which it starts.
    from: Group,
    /// In each lane's first byte: the packed byte after these.
    behind: Group,
}

static LAYOUTS: [Layout; 65] = {
    let mut layouts = [const { Layout::new(0) }; 65];
    let mut width = 8;
    while width <= 64 {
        layouts[width] = Layout::new(width);
        width += 1;
    }
    layouts
};

impl Layout {
    const fn new(width: usize) -> Self {
        const LAST: usize = GROUP - 1;
        let mut layout = Self {
            shift: [0; GROUP],
            lower: [0; GROUP],
            upper: [0; GROUP],
            lost: [1; GROUP],
            from: [0; GROUP],
            behind: [0; GROUP],
        };
        let mut byte = 0;
        // As many bytes as a lane has bits: there are eight lanes.
        while byte < width {
            let (first, last) = (8 * byte / width, (8 * byte + 7) / width);
            let place = byte - first * width / 8;
            layout.upper[byte] = (8 * last + byte - last * width / 8) as u8;
            if place < 8 {
                layout.lower[byte] = (8 * first + place) as u8;
            } else {
                layout.lower[byte] = layout.upper[byte];
                layout.lost[byte] = (8 * first) as u8;
            }
            byte += 1;
        }
        let mut i = 0;
        while i < GROUP {
            let (start, place) = (i / 8 * width, i % 8);
            let from = start / 8 + place;
            layout.from[i] = if from < LAST { from } else { LAST } as u8;
            if place == 0 {
                layout.shift[i] = (start % 8) as u8;
                layout.behind[i] = if from + 8 < LAST { from + 8 } else { LAST } as u8;
            }
            i += 1;
        }
        layout
    }

    /// The layout for words of this width.
    #[inline(always)]
    fn of<W: Word>(width: u8) -> &'static Self {
        &LAYOUTS[lane_bits::<W>(width)]
    }
}

/// The bits of a lane with words of this width.
#[inline(always)]
fn lane_bits<W: Word>(width: u8) -> usize {
    (usize::from(width) * (64 / W::BITS as usize)).min(64)
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: Widths,
    len: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let mut packed = [0; GROUP];
    for (i, (group, width)) in residuals.0.iter().zip(widths).enumerate() {
        store(&mut packed, pack_group::<W>(load(group), width));
        out.store(&packed, packed_bytes::<W>(len.saturating_sub(i * GROUP).min(GROUP), width))?;
    }
    Ok(())
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn unpack<W: Word>(body: &Body, widths: Widths, residuals: &mut Block) {
    let mut rest: &[u8] = body;
    for (group, width) in residuals.0.iter_mut().zip(widths) {
        store(group, unpack_group::<W>(load(rest.first_chunk().unwrap_or(&[0; GROUP])), width));
        rest = &rest[packed_bytes::<W>(GROUP, width)..];
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pack_group<W: Word>(group: V, width: u8) -> V {
    let layout = Layout::of::<W>(width);
    let lanes = together::<W>(group, width);
    let shift = load(&layout.shift);
    let shifted = _mm512_sllv_epi64(lanes, shift);
    let lost = _mm512_srlv_epi64(lanes, _mm512_sub_epi64(_mm512_set1_epi64(64), shift));
    let lower = _mm512_permutexvar_epi8(load(&layout.lower), shifted);
    let upper = _mm512_permutexvar_epi8(load(&layout.upper), shifted);
    let lost = _mm512_permutexvar_epi8(load(&layout.lost), lost);
    _mm512_or_si512(_mm512_or_si512(lower, upper), lost)
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn unpack_group<W: Word>(packed: V, width: u8) -> V {
    let layout = Layout::of::<W>(width);
    let bytes = _mm512_permutexvar_epi8(load(&layout.from), packed);
    let behind = _mm512_permutexvar_epi8(load(&layout.behind), packed);
    apart::<W>(_mm512_shrdv_epi64(bytes, behind, load(&layout.shift)), width)
}

/// Compacts the words of each lane, of `width` bits each, at its lower end.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn together<W: Word>(v: V, width: u8) -> V {
    if W::BITS == 64 {
        return v;
    }
    let even = _mm512_and_si512(v, _mm512_set1_epi64(0xffff_ffff));
    let odd = _mm512_sll_epi64(_mm512_srli_epi64::<32>(v), _mm_cvtsi32_si128(width.into()));
    _mm512_or_si512(even, odd)
}

/// The inverse of [`together`]. Bits above the words may be set; they are cleared.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn apart<W: Word>(v: V, width: u8) -> V {
    let low = _bzhi_u64(u64::MAX, width.into()) as i64;
    if W::BITS == 64 {
        return _mm512_and_si512(v, _mm512_set1_epi64(low));
    }
    let odd = _mm512_srl_epi64(v, _mm_cvtsi32_si128(width.into()));
    let words = _mm512_mask_blend_epi32(0xaaaa, v, _mm512_slli_epi64::<32>(odd));
    _mm512_and_si512(words, _mm512_set1_epi32(low as i32))
}
