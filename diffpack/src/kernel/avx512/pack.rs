//! Packs groups to bits and back: eight lanes of one width, by shifts within lanes and byte permutations across them.

use super::vector::{V, load, load_to_the_end, store};
use crate::block::{Block, Group, Widths};
use crate::format::{GROUP, GROUPS};
use crate::kernel::scalar::group_bytes;
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::{Full, Out};

/// The layout of lanes of one width in a packed group. Lane `i` starts at bit `shift[i]` of byte `i * width / 8`.
#[repr(align(64))]
pub(super) struct Layout {
    /// The lanes' shift counts, as words.
    shift: [[u8; 8]; 8],
    /// For each packed byte: the byte of the shifted lanes with its lower bits, and the one with its upper bits (the same one if all bits belong to
    /// one lane).
    lower: Group,
    upper: Group,
    /// With more than 56 bits, a shifted lane may lose bits at its top. For each packed byte: the byte of the down-shifted lanes with these bits, or
    /// a zero byte.
    lost: Group,
    /// For each byte of the lanes: the packed byte in which it starts.
    from: Group,
    /// In each lane's first byte: the packed byte after these.
    behind: Group,
    /// The mask of a lane's bits.
    low: u64,
}

static LAYOUTS: [Layout; 65] = {
    let mut layouts = [const { Layout::new(0) }; 65];
    let mut width = 1;
    while width <= 64 {
        layouts[width] = Layout::new(width);
        width += 1;
    }
    layouts
};

impl Layout {
    const fn new(width: usize) -> Self {
        let mut layout = Self {
            shift: [[0; 8]; 8],
            lower: [0; GROUP],
            upper: [0; GROUP],
            lost: [1; GROUP],
            from: [0; GROUP],
            behind: [0; GROUP],
            low: if width == 64 { u64::MAX } else { (1 << width) - 1 },
        };
        let last = GROUP - 1;
        let mut lane = 0;
        while lane < 8 {
            let (byte, shift) = (lane * width / 8, lane * width % 8);
            layout.shift[lane][0] = shift as u8;
            let mut i = 0;
            while i < 8 {
                layout.from[lane * 8 + i] = if byte + i < last { byte + i } else { last } as u8;
                i += 1;
            }
            layout.behind[lane * 8] = if byte + 8 < last { byte + 8 } else { last } as u8;
            // The bytes with bits of this lane. The entries for those shared with the previous lane are already set.
            let mut i = 0;
            while width >= 8 && i < (shift + width).div_ceil(8) {
                let from = (lane * 8 + i) as u8;
                if i == 8 {
                    layout.lost[byte + i] = (lane * 8) as u8;
                } else {
                    layout.upper[byte + i] = from;
                    if i > 0 || shift == 0 || lost_at(lane, width) == byte {
                        layout.lower[byte + i] = from;
                    }
                }
                i += 1;
            }
            lane += 1;
        }
        layout
    }
}

/// The packed byte with the bits that lane `lane - 1` loses; `usize::MAX` if it loses none.
const fn lost_at(lane: usize, width: usize) -> usize {
    if lane == 0 {
        return usize::MAX;
    }
    let bit = (lane - 1) * width;
    if bit % 8 + width > 64 { bit / 8 + 8 } else { usize::MAX }
}

/// Compacts the words of each 64-bit lane, of `width` bits each, at its lower end.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn together<W: Word>(v: V, width: u8) -> V {
    let width = _mm_cvtsi32_si128(width.into());
    match W::PER_LANE {
        1 => v,
        2 => pairs_together(v, width),
        _ => {
            let even = _mm512_and_si512(v, _mm512_set1_epi32(0xffff));
            let odd = _mm512_sll_epi32(_mm512_srli_epi32::<16>(v), width);
            pairs_together(_mm512_or_si512(even, odd), _mm_add_epi64(width, width))
        }
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pairs_together(v: V, width: __m128i) -> V {
    let even = _mm512_and_si512(v, _mm512_set1_epi64(0xffff_ffff));
    _mm512_or_si512(even, _mm512_sll_epi64(_mm512_srli_epi64::<32>(v), width))
}

/// The inverse of [`together`].
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn apart<W: Word>(v: V, width: u8) -> V {
    let count = _mm_cvtsi32_si128(width.into());
    match W::PER_LANE {
        1 => v,
        2 => pairs_apart(v, count, LAYOUTS[usize::from(width) % 64].low),
        _ => {
            let low = LAYOUTS[usize::from(width) % 64].low;
            let pairs = pairs_apart(v, _mm_add_epi64(count, count), LAYOUTS[usize::from(width) * 2 % 64].low);
            let even = _mm512_and_si512(pairs, _mm512_set1_epi32(low as i32));
            _mm512_or_si512(even, _mm512_slli_epi32::<16>(_mm512_srl_epi32(pairs, count)))
        }
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pairs_apart(v: V, width: __m128i, low: u64) -> V {
    let even = _mm512_and_si512(v, _mm512_set1_epi64(low as i64));
    _mm512_or_si512(even, _mm512_slli_epi64::<32>(_mm512_srl_epi64(v, width)))
}

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
        let lanes = together::<W>(load(group), *width);
        let bits = u32::from(*width) * W::PER_LANE;
        let layout = LAYOUTS.get(bits as usize).unwrap_or(&LAYOUTS[0]);
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
            let shift = load(layout.shift.as_flattened().first_chunk().unwrap_or(&[0; GROUP]));
            let shifted = _mm512_sllv_epi64(lanes, shift);
            let mut v = _mm512_or_si512(
                _mm512_permutexvar_epi8(load(&layout.lower), shifted),
                _mm512_permutexvar_epi8(load(&layout.upper), shifted),
            );
            if !PLAIN {
                let lost = _mm512_srlv_epi64(lanes, _mm512_sub_epi64(_mm512_set1_epi64(64), shift));
                v = _mm512_or_si512(v, _mm512_permutexvar_epi8(load(&layout.lost), lost));
            }
            store(&mut packed, v);
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
        at += layout.len();
    }
}

impl Layout {
    /// The layout for groups of words of this width.
    #[inline(always)]
    pub(super) fn of<W: Word>(width: u8) -> &'static Self {
        LAYOUTS.get(usize::from(width) * W::PER_LANE as usize).unwrap_or(&LAYOUTS[0])
    }

    /// Bytes of a packed group, at most 64: as many as a lane has bits, because there are eight lanes.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        64 - self.low.leading_zeros() as usize
    }

    /// The words of a packed group. `NARROW`: [`is_narrow`] is true for the width.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(super) fn apart<W: Word, const NARROW: bool>(&self, packed: V, width: u8) -> V {
        let shift = load(self.shift.as_flattened().first_chunk().unwrap_or(&[0; GROUP]));
        let bytes = _mm512_permutexvar_epi8(load(&self.from), packed);
        let lanes = if NARROW {
            _mm512_srlv_epi64(bytes, shift)
        } else {
            _mm512_shrdv_epi64(bytes, _mm512_permutexvar_epi8(load(&self.behind), packed), shift)
        };
        apart::<W>(_mm512_and_si512(lanes, _mm512_set1_epi64(self.low as i64)), width)
    }
}
