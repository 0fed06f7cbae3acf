//! Packs the groups of a block to bits and back.

use crate::decode::rebuild::Packed;
use crate::format::GROUPS;
use crate::kernel::block::{Block, Groups, Widths, byte_bits};
use crate::kernel::scalar::used;
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::{Full, Out};
pub(in crate::kernel) use mpress_codec_support::avx2::spans_nine;
use mpress_codec_support::avx2::{self, V, load, splat, store};
use mpress_codec_support::pack::packed_len;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(in crate::kernel) fn spread(packed: u64, bits: u32) -> u64 {
    _pdep_u64(packed, byte_bits(bits))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(in crate::kernel) fn gather(spread: u64, bits: u32) -> u64 {
    _pext_u64(spread, byte_bits(bits))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(in crate::kernel) fn joined([a, b, c, d]: [u64; GROUPS / 8]) -> Widths {
    let mut widths = [0; GROUPS];
    store(&mut widths, _mm256_set_epi64x(d as i64, c as i64, b as i64, a as i64));
    widths
}

/// As the trait's. Without a loop, because its end would be hard to predict in short blocks.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(in crate::kernel) fn sum_and_ends(widths: &Widths, groups: usize) -> (usize, u8, u8) {
    /// From `GROUPS - groups` on: ones for each of the groups, zeros for the others.
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
    let (sum, _, greatest) = sum_and_ends(widths, used.len());
    if u32::from(greatest) > W::BITS {
        return Err(Full);
    }
    // SAFETY: the condition; and the length is that of these groups.
    unsafe { avx2::pack::<W>(residuals.groups(), used, packed_len::<W>(used, words, sum), out) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn unpack<W: Word>(wire: &[u8], widths: &Widths, words: usize, residuals: &mut Groups) {
    avx2::unpack::<W>(wire, used::<W>(widths, words), spans_nine::<W>(widths), residuals);
}

/// Unpacks the groups of the first `words` residuals, and passes each to `take`. (Widths past the last group may make it
/// slower.)
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn unpack_each<W: Word>(packed: Packed<'_>, words: usize, take: impl FnMut([V; 2])) {
    let nine = spans_nine::<W>(packed.widths);
    avx2::unpack_each::<W>(packed.wire, used::<W>(packed.widths, words), nine, take);
}
