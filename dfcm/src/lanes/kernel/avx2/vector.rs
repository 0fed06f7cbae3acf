//! Vectors of words: one name for the instructions of all word widths, in addition to those of `mpress_codec_support`.

use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::avx2::V;

/// `v` where the `bits` most significant bits of `a` and `b` agree, otherwise 0.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn where_agreed<W: Word>(v: V, a: V, b: V, bits: u32) -> V {
    let differing = _mm256_xor_si256(a, b);
    let zero = _mm256_setzero_si256();
    let rest = _mm_cvtsi32_si128((W::BITS - bits) as i32);
    let agreed = if W::BITS == 64 {
        _mm256_cmpeq_epi64(_mm256_srl_epi64(differing, rest), zero)
    } else {
        _mm256_cmpeq_epi32(_mm256_srl_epi32(differing, rest), zero)
    };
    _mm256_and_si256(v, agreed)
}

/// The indices of the 32-bit parts of two consecutive vectors that form the vector starting at part `from` (0 to 7).
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn starting_at(from: usize) -> V {
    _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(from as i32))
}

/// Selects the parts with the indices `numbers` from [`starting_at`] out of `first` and `second`, which follows it.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn pick(first: V, numbers: V, second: V) -> V {
    let of_second = _mm256_cmpgt_epi32(numbers, _mm256_set1_epi32(7));
    let (first, second) =
        (_mm256_permutevar8x32_epi32(first, numbers), _mm256_permutevar8x32_epi32(second, numbers));
    _mm256_blendv_epi8(first, second, of_second)
}
