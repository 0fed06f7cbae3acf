//! Vectors of words: one name for the instructions of all word widths, and the load and the store.

use crate::lanes::block::Group;
use crate::word::Word;
use core::arch::x86_64::*;

pub(super) type V = __m512i;

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn load(group: &Group) -> V {
    // SAFETY: the 64 bytes of the array are readable; the load requires no alignment.
    unsafe { _mm512_loadu_si512(group.as_ptr().cast()) }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn store(group: &mut Group, v: V) {
    // SAFETY: the 64 bytes of the array are writable; the store requires no alignment.
    unsafe { _mm512_storeu_si512(group.as_mut_ptr().cast(), v) }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn add<W: Word>(a: V, b: V) -> V {
    if W::BITS == 64 { _mm512_add_epi64(a, b) } else { _mm512_add_epi32(a, b) }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn sub<W: Word>(a: V, b: V) -> V {
    if W::BITS == 64 { _mm512_sub_epi64(a, b) } else { _mm512_sub_epi32(a, b) }
}

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

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn zigzag<W: Word>(d: V) -> V {
    let sign = if W::BITS == 64 { _mm512_srai_epi64::<63>(d) } else { _mm512_srai_epi32::<31>(d) };
    _mm512_xor_si512(add::<W>(d, d), sign)
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn unzigzag<W: Word>(z: V) -> V {
    let (half, one) = if W::BITS == 64 {
        (_mm512_srli_epi64::<1>(z), _mm512_set1_epi64(1))
    } else {
        (_mm512_srli_epi32::<1>(z), _mm512_set1_epi32(1))
    };
    _mm512_xor_si512(half, sub::<W>(_mm512_setzero_si512(), _mm512_and_si512(z, one)))
}

/// Each word or its negative, whichever is smaller.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn magnitude<W: Word>(d: V) -> V {
    if W::BITS == 64 { _mm512_abs_epi64(d) } else { _mm512_abs_epi32(d) }
}

/// The number of leading zeros of each word.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn zeros<W: Word>(v: V) -> V {
    if W::BITS == 64 { _mm512_lzcnt_epi64(v) } else { _mm512_lzcnt_epi32(v) }
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

/// The unions (bitwise OR) of the words of eight vectors, one 64-bit lane for each vector.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn unions(v: [V; 8]) -> V {
    let or = |a, b| _mm512_or_si512(a, b);
    let pair = |a, b| or(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let halve = |a, b| or(_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xdd>(a, b));
    let four = |a, b, c, d| halve(pair(a, b), pair(c, d));
    halve(four(v[0], v[1], v[2], v[3]), four(v[4], v[5], v[6], v[7]))
}
