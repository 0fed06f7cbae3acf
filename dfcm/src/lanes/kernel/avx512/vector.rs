//! Vectors of words: one name for the instructions of all word widths, in addition to those of `mpress_codec_support`.

use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::avx512::V;

/// `v` plus, in the lanes where the `bits` most significant bits of `a` and `b` agree, `more`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn add_where_agreed<W: Word>(v: V, more: V, a: V, b: V, bits: u32) -> V {
    let differing = _mm512_xor_si512(a, b);
    if W::BITS == 64 {
        let agreed = _mm512_testn_epi64_mask(differing, _mm512_set1_epi64(-1 << (64 - bits)));
        _mm512_mask_add_epi64(v, agreed, v, more)
    } else {
        let agreed = _mm512_testn_epi32_mask(differing, _mm512_set1_epi32(-1 << (32 - bits)));
        _mm512_mask_add_epi32(v, agreed, v, more)
    }
}

/// Each word or its negative, whichever is smaller.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn magnitude<W: Word>(d: V) -> V {
    if W::BITS == 64 { _mm512_abs_epi64(d) } else { _mm512_abs_epi32(d) }
}

/// The sum of all words, if it is below 2^32.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn sum<W: Word>(v: V) -> u32 {
    if W::BITS == 64 { _mm512_reduce_add_epi64(v) as u32 } else { _mm512_reduce_add_epi32(v) as u32 }
}

/// The indices of the words of two consecutive vectors that form the vector starting at word `from`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn starting_at<W: Word>(from: usize) -> V {
    if W::BITS == 64 {
        _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(from as i64))
    } else {
        let ascending = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        _mm512_add_epi32(ascending, _mm512_set1_epi32(from as i32))
    }
}

/// Selects the words with the indices `numbers` from [`starting_at`] out of `first` and `second`, which follows it.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn pick<W: Word>(first: V, numbers: V, second: V) -> V {
    if W::BITS == 64 {
        _mm512_permutex2var_epi64(first, numbers, second)
    } else {
        _mm512_permutex2var_epi32(first, numbers, second)
    }
}
