//! Packs groups to bits and back: eight lanes of one width, by shifts within lanes and byte permutations across them.

use super::{V, load, load_to_the_end, load_unchecked, store, store_uninit};
use crate::Word;
use crate::avx2::{Packed, append};
use crate::pack::{GROUP, Group, SHIFTS, ahead, lane_bits};
use core::arch::x86_64::*;
use mpress_codec::{Full, Out};

/// The layout of lanes of one width in a packed group. Lane `i` starts at bit `i * width % 8` of byte `i * width / 8`.
#[repr(align(64))]
pub struct Layout {
    /// For each packed byte: the byte of the shifted lanes with its lower bits, and the one with its upper bits (the same one if all bits belong to
    /// one lane).
    lower: Group,
    upper: Group,
    /// With more than 56 bits, a shifted lane may lose bits at its top. For each packed byte: the byte of the down-shifted lanes with these bits, or
    /// a zero byte.
    lost: Group,
    /// For each byte of the lanes: the packed byte in which it starts.
    from: Group,
    /// For each lane, in its first byte: the packed byte after these.
    behind: Group,
}

/// The masks of a lane's bits.
static LOW: [u64; 65] = {
    let mut low = [u64::MAX; 65];
    let mut width = 0;
    while width < 64 {
        low[width] = (1 << width) - 1;
        width += 1;
    }
    low
};

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
            lower: [0; GROUP],
            upper: [0; GROUP],
            lost: [1; GROUP],
            from: [0; GROUP],
            behind: [0; GROUP],
        };
        let last = GROUP - 1;
        let mut lane = 0;
        while lane < 8 {
            let (byte, shift) = (lane * width / 8, lane * width % 8);
            let mut i = 0;
            while i < 8 {
                layout.from[lane * 8 + i] = if byte + i < last { byte + i } else { last } as u8;
                i += 1;
            }
            layout.behind[lane * 8] = if byte + 8 < last { byte + 8 } else { last } as u8;
            // The bytes that hold bits of this lane. The entries for bytes shared with the previous lane are already set.
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
        2 => pairs_apart(v, count, LOW[usize::from(width) % 64]),
        _ => {
            let low = LOW[usize::from(width) % 64];
            let pairs = pairs_apart(v, _mm_add_epi64(count, count), LOW[usize::from(width) * 2 % 64]);
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

/// The shift counts of lanes of these bits.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn shifts(bits: usize) -> V {
    load(SHIFTS.0[bits % 8].as_flattened().first_chunk().unwrap_or(&[0; GROUP]))
}

impl Layout {
    /// The layout for groups of words of this width.
    #[inline(always)]
    pub fn of<W: Word>(width: u8) -> &'static Self {
        LAYOUTS.get(usize::from(width) * W::PER_LANE as usize).unwrap_or(&LAYOUTS[0])
    }

    /// The words of a packed group. `NARROW`: no lane [spans nine bytes](crate::avx2::spans_nine).
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub fn apart<W: Word, const NARROW: bool>(&self, packed: V, width: u8) -> V {
        let bits = usize::from(width) * W::PER_LANE as usize;
        let shift = shifts(bits);
        let bytes = _mm512_permutexvar_epi8(load(&self.from), packed);
        let lanes = if NARROW {
            _mm512_srlv_epi64(bytes, shift)
        } else {
            _mm512_shrdv_epi64(bytes, _mm512_permutexvar_epi8(load(&self.behind), packed), shift)
        };
        apart::<W>(_mm512_and_si512(lanes, _mm512_set1_epi64(LOW[bits.min(64)] as i64)), width)
    }

    /// The packed group of these lanes, which are [`together`] and have 8 bits or more, or none. `PLAIN`: none [spans nine
    /// bytes](crate::avx2::spans_nine).
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn packed<W: Word, const PLAIN: bool>(&self, lanes: V, width: u8) -> V {
        let shift = shifts(usize::from(width) * W::PER_LANE as usize);
        let shifted = _mm512_sllv_epi64(lanes, shift);
        let v = _mm512_or_si512(
            _mm512_permutexvar_epi8(load(&self.lower), shifted),
            _mm512_permutexvar_epi8(load(&self.upper), shifted),
        );
        if PLAIN {
            return v;
        }
        let lost = _mm512_srlv_epi64(lanes, _mm512_sub_epi64(_mm512_set1_epi64(64), shift));
        _mm512_or_si512(v, _mm512_permutexvar_epi8(load(&self.lost), lost))
    }
}

/// As [`pack`](crate::pack::pack), with the same bytes. `PARTS`: some lanes may have 1 to 7 bits. `plain`: all lanes have 8 bits or more, and none
/// [spans nine bytes](crate::avx2::spans_nine).
///
/// # Safety
/// As for [`avx2::pack`](crate::avx2::pack).
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub unsafe fn pack<W: Word, const PARTS: bool>(
    groups: &[Group],
    widths: &[u8],
    len: usize,
    plain: bool,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let pack = |group: &Group, width: u8, to: &mut Packed| {
        let lanes = together::<W>(load(group), width);
        let (bits, layout) = (lane_bits::<W>(width), Layout::of::<W>(width));
        // One permutation packs the lanes.
        let packed = if plain {
            layout.packed::<W, true>(lanes, width)
        } else if PARTS && bits < 8 {
            let low = _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(lanes)) as u64;
            let bytes = _pext_u64(low, 0x0101_0101_0101_0101 * ((1 << bits) - 1));
            _mm512_zextsi128_si512(_mm_cvtsi64_si128(bytes as i64))
        } else {
            layout.packed::<W, false>(lanes, width)
        };
        if let Some(to) = to.first_chunk_mut() {
            store_uninit(to, packed);
        }
    };
    // SAFETY: `pack` writes a vector, which is as long as the longest group; the caller guarantees the rest.
    unsafe { append::<W>(groups, widths, len, out, pack) }
}

/// [`unpack`](crate::pack::unpack), with the same groups. `nine`: some lanes may [span nine bytes](crate::avx2::spans_nine).
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn unpack<W: Word>(wire: &[u8], widths: &[u8], nine: bool, groups: &mut [Group]) {
    if nine {
        unpack_groups::<W, false>(wire, widths, groups);
    } else {
        unpack_groups::<W, true>(wire, widths, groups);
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn unpack_groups<W: Word, const NARROW: bool>(wire: &[u8], widths: &[u8], groups: &mut [Group]) {
    let (mut at, ahead, end) = (0, ahead(wire), (wire.len() + 1).saturating_sub(GROUP));
    for (group, width) in groups.iter_mut().zip(widths) {
        // Bound here, so that nothing else needs a check.
        let width = (*width).min(W::BITS as u8);
        _mm_prefetch::<_MM_HINT_T0>(wire.as_ptr().wrapping_add(at + ahead).cast());
        // SAFETY: from a position before `end`, a whole vector is left.
        let packed = if at < end { unsafe { load_unchecked(wire, at) } } else { load_to_the_end(wire, at) };
        store(group, Layout::of::<W>(width).apart::<W, NARROW>(packed, width));
        at += lane_bits::<W>(width) as usize;
    }
}
