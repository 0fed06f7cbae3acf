//! Packs words to bits, in pairs of 64-bit lanes: a pair is shifted to its bit position in a byte of the wire and stored whole.

use super::vector::{HALF, Half, load_half, store_half};
use crate::lanes::block::{Block, Body, Group, Widths, packed_bytes};
use crate::lanes::format::GROUP;
use crate::lanes::kernel::scalar;
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::support::avx2::{Bytes, V, VECTOR, load, splat};
use mpress_codec::{Full, Out};

/// For a pair with this number of whole bytes: moves the byte after them to the front and zeroes all other bytes.
static BEHIND: [Half; HALF + 1] = {
    let mut controls = [[0x80; HALF]; HALF + 1];
    let mut bytes = 0;
    while bytes < HALF {
        controls[bytes][0] = bytes as u8;
        bytes += 1;
    }
    controls
};

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: Widths,
    len: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let mut body: Body = [0; size_of::<Body>()];
    let mut end = 0;
    for (i, (group, width)) in residuals.0.iter().zip(widths).enumerate() {
        let bits = scalar::lane_bits::<W>(width);
        match body[end..].first_chunk_mut() {
            // At 63 bits, a pair and the preceding bits of its first byte do not fit in half a vector.
            Some(packed) if bits != 63 => pack_group::<W>(group, width, bits, packed),
            _ => scalar::pack_group::<W>(group, width, &mut body[end..]),
        }
        end += packed_bytes::<W>(len.saturating_sub(i * GROUP).min(GROUP), width);
    }
    out.extend_from_slice(&body[..end])
}

/// Packs lanes of `bits` bits. Bytes past them are arbitrary.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pack_group<W: Word>(group: &Group, width: u8, bits: u32, packed: &mut [u8; 2 * GROUP]) {
    let bit = |pair: usize| pair * 2 * bits as usize;
    let shifts = |pair: usize| {
        let (low, high) = ((bit(pair) % 8) as i64, (bit(pair + 1) % 8) as i64);
        _mm256_setr_epi64x(low, low, high, high)
    };
    let [low, high]: &[Bytes; 2] = group.as_chunks().0.first_chunk().unwrap_or(&[[0; VECTOR]; 2]);
    let low = pairs::<W>(load(low), width, bits, shifts(0));
    let high = pairs::<W>(load(high), width, bits, shifts(2));
    let mut before = _mm256_castsi256_si128(low);
    put(packed, 0, before);
    let others = [
        _mm256_extracti128_si256::<1>(low),
        _mm256_castsi256_si128(high),
        _mm256_extracti128_si256::<1>(high),
    ];
    for (i, pair) in others.into_iter().enumerate() {
        let (start, next) = (bit(i) / 8, bit(i + 1) / 8);
        let shared = _mm_shuffle_epi8(before, load_half(&BEHIND[(next - start).min(HALF)]));
        put(packed, next, _mm_or_si128(pair, shared));
        before = pair;
    }
}

/// The two pairs of lanes of a vector, with `bits` bits per lane, shifted by the counts in `shift`, which are equal in both lanes of a pair.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pairs<W: Word>(v: V, width: u8, bits: u32, shift: V) -> V {
    let v = together::<W>(v, width);
    let (first, second) = (_mm256_unpacklo_epi64(v, v), _mm256_unpackhi_epi64(v, v));
    let start = _mm256_add_epi64(shift, splat(u64::from(bits)));
    // A shift count of 64 and more, or below 0, gives 0: each lane gets only the bits that fall into it.
    let ups = _mm256_setr_epi64x(0, -64, 0, -64);
    let downs = _mm256_setr_epi64x(1 << 32, 64, 1 << 32, 64);
    let first = _mm256_or_si256(
        _mm256_sllv_epi64(first, _mm256_add_epi64(shift, ups)),
        _mm256_srlv_epi64(first, _mm256_sub_epi64(downs, shift)),
    );
    let second = _mm256_or_si256(
        _mm256_sllv_epi64(second, _mm256_add_epi64(start, ups)),
        _mm256_srlv_epi64(second, _mm256_sub_epi64(downs, start)),
    );
    _mm256_or_si256(first, second)
}

/// Compacts the words of each lane, of `width` bits each, at its lower end.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn together<W: Word>(v: V, width: u8) -> V {
    if W::BITS == 64 {
        return v;
    }
    let odd = _mm256_sll_epi64(_mm256_srli_epi64::<32>(v), _mm_cvtsi32_si128(width.into()));
    _mm256_or_si256(_mm256_and_si256(v, splat(0xffff_ffff_u64)), odd)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn put(packed: &mut [u8; 2 * GROUP], byte: usize, pair: __m128i) {
    if let Some(bytes) = packed[byte % GROUP..].first_chunk_mut() {
        store_half(bytes, pair);
    }
}
