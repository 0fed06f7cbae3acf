//! Vectors of words for AVX2: one name for the instructions of all word widths, and the loads and stores. A vector is half a group.
//!
//! Unsafe code: loads and stores through pointers to arrays.
#![allow(unsafe_code)]

mod pack;

pub(crate) use pack::{Packed, append};
pub use pack::{pack, spans_nine, unpack, unpack_each};

use crate::Word;
use crate::pack::window;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

pub type V = __m256i;

/// Bytes of a vector.
pub const VECTOR: usize = 32;
/// The bytes of a vector.
pub type Bytes = [u8; VECTOR];

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn load(bytes: &Bytes) -> V {
    // SAFETY: the 32 bytes of the array are readable; the load requires no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn store(bytes: &mut Bytes, v: V) {
    // SAFETY: the 32 bytes of the array are writable; the store requires no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), v) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn load_lane(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the 16 bytes of the array are readable; the load requires no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn store_lane(bytes: &mut [MaybeUninit<u8>; 16], v: __m128i) {
    // SAFETY: the 16 bytes of the array are writable; the store requires no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), v) }
}

/// The vector at byte `at`; zeros if it is not entirely in `bytes`.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn load_at(bytes: &[u8], at: usize) -> V {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => load(bytes),
        None => _mm256_setzero_si256(),
    }
}

/// The vector at byte `at`, with zeros past the end.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn load_part(bytes: &[u8], at: usize) -> V {
    if at + VECTOR <= bytes.len() {
        return load_at(bytes, at);
    }
    let mut spare = [0; VECTOR];
    load(window(bytes, at, &mut spare))
}

/// Stores as much of `v` at byte `at` as fits.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn store_part(bytes: &mut [u8], at: usize, v: V) {
    match bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        Some(vector) => store(vector, v),
        None => {
            let mut vector = [0; VECTOR];
            store(&mut vector, v);
            for (to, from) in bytes.iter_mut().skip(at).zip(vector) {
                *to = from;
            }
        }
    }
}

/// `word` in every lane.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn splat<W: Word>(word: W) -> V {
    match W::BITS {
        64 => _mm256_set1_epi64x(word.to_u64() as i64),
        32 => _mm256_set1_epi32(word.to_u64() as i32),
        16 => _mm256_set1_epi16(word.to_u64() as i16),
        _ => _mm256_set1_epi8(word.to_u64() as i8),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn add<W: Word>(a: V, b: V) -> V {
    match W::BITS {
        64 => _mm256_add_epi64(a, b),
        32 => _mm256_add_epi32(a, b),
        16 => _mm256_add_epi16(a, b),
        _ => _mm256_add_epi8(a, b),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn sub<W: Word>(a: V, b: V) -> V {
    match W::BITS {
        64 => _mm256_sub_epi64(a, b),
        32 => _mm256_sub_epi32(a, b),
        16 => _mm256_sub_epi16(a, b),
        _ => _mm256_sub_epi8(a, b),
    }
}

/// Maps words to the form that [`max`] takes, and back: words of 64 bits can only be compared as signed.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn ordered<W: Word>(v: V) -> V {
    match W::BITS {
        64 => _mm256_xor_si256(v, splat(1_u64 << 63)),
        _ => v,
    }
}

/// The maximum of words that are [`ordered`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn max<W: Word>(a: V, b: V) -> V {
    match W::BITS {
        64 => _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(b, a)),
        32 => _mm256_max_epu32(a, b),
        _ => _mm256_max_epu16(a, b),
    }
}

/// All ones where the words are equal.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn equal<W: Word>(a: V, b: V) -> V {
    match W::BITS {
        64 => _mm256_cmpeq_epi64(a, b),
        32 => _mm256_cmpeq_epi32(a, b),
        _ => _mm256_cmpeq_epi16(a, b),
    }
}

/// Fills each word with its highest bit.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn sign<W: Word>(v: V) -> V {
    match W::BITS {
        64 => _mm256_cmpgt_epi64(_mm256_setzero_si256(), v),
        32 => _mm256_srai_epi32::<31>(v),
        _ => _mm256_srai_epi16::<15>(v),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn zigzag<W: Word>(d: V) -> V {
    _mm256_xor_si256(add::<W>(d, d), sign::<W>(d))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn unzigzag<W: Word>(z: V) -> V {
    let sign = sub::<W>(_mm256_setzero_si256(), _mm256_and_si256(z, splat(W::ONE)));
    let mut half = shifted_right::<W>(z, 1);
    if W::BITS == 8 {
        // Shifted as 16 bits.
        half = _mm256_and_si256(half, splat(W::mask(7)));
    }
    _mm256_xor_si256(half, sign)
}

/// All words shifted left by `by` bits; 0 if that is their width or more.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn shifted_left<W: Word>(v: V, by: u32) -> V {
    let by = _mm_cvtsi32_si128(by as i32);
    match W::BITS {
        64 => _mm256_sll_epi64(v, by),
        32 => _mm256_sll_epi32(v, by),
        _ => _mm256_sll_epi16(v, by),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn shifted_right<W: Word>(v: V, by: u32) -> V {
    let by = _mm_cvtsi32_si128(by as i32);
    match W::BITS {
        64 => _mm256_srl_epi64(v, by),
        32 => _mm256_srl_epi32(v, by),
        _ => _mm256_srl_epi16(v, by),
    }
}

/// Words rotated left by one or not at all.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn rotated_left<W: Word, const ROTATION: u32>(v: V) -> V {
    match ROTATION {
        0 => v,
        _ => _mm256_or_si256(add::<W>(v, v), shifted_right::<W>(v, W::BITS - 1)),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn rotated_right<W: Word, const ROTATION: u32>(v: V) -> V {
    match ROTATION {
        0 => v,
        _ => _mm256_or_si256(shifted_right::<W>(v, 1), shifted_left::<W>(v, W::BITS - 1)),
    }
}

/// The maximum of words that are [`ordered`], in every lane.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn greatest<W: Word>(v: V) -> V {
    let mut v = max::<W>(v, _mm256_permute4x64_epi64::<0x4e>(v));
    v = max::<W>(v, _mm256_shuffle_epi32::<0x4e>(v));
    if W::BITS <= 32 {
        v = max::<W>(v, _mm256_shuffle_epi32::<0xb1>(v));
    }
    if W::BITS <= 16 {
        v = max::<W>(v, _mm256_or_si256(_mm256_slli_epi32::<16>(v), _mm256_srli_epi32::<16>(v)));
    }
    v
}

/// The word in the lowest lane.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn lowest<W: Word>(v: V) -> W {
    W::of(_mm_cvtsi128_si64(_mm256_castsi256_si128(v)) as usize)
}

/// The union (bitwise OR) of each of eight groups, from the unions of its halves: in eight 64-bit lanes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn unions(v: [V; 8]) -> [V; 2] {
    let or = |a, b| _mm256_or_si256(a, b);
    let pair = |a, b| or(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    let four = |a, b| or(_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b));
    [four(pair(v[0], v[1]), pair(v[2], v[3])), four(pair(v[4], v[5]), pair(v[6], v[7]))]
}

/// The union of the words in each 64-bit lane.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn union_of_words<W: Word>(mut union: V) -> V {
    if W::BITS <= 32 {
        union = _mm256_or_si256(union, _mm256_srli_epi64::<32>(union));
    }
    if W::BITS <= 16 {
        union = _mm256_or_si256(union, _mm256_srli_epi64::<16>(union));
    }
    _mm256_and_si256(union, splat(W::mask(W::BITS).to_u64()))
}

/// The width of each word.
///
/// AVX2 has no leading-zero count, but the exponent of a float is one. Each half of a word becomes the fraction of a float with the unit of that
/// half; subtracting the float without the fraction leaves the half as a float. No step rounds, so the result does not depend on a rounding mode that
/// the program may have set.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn widths_of<W: Word>(v: V) -> V {
    match W::BITS {
        64 => {
            let (low, high) = (splat((1023_u64 + 52) << 52), splat((1023_u64 + 52 + 32) << 52));
            let low_half = _mm256_blend_epi32::<0xaa>(v, low);
            let high_half = _mm256_or_si256(_mm256_srli_epi64::<32>(v), high);
            let less = |a, b| _mm256_sub_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b));
            let float = _mm256_max_pd(less(low_half, low), less(high_half, high));
            // Zero may be negative.
            let exponent = _mm256_srli_epi64::<53>(_mm256_slli_epi64::<1>(_mm256_castpd_si256(float)));
            _mm256_subs_epu16(exponent, splat(1022_u64))
        }
        32 => {
            let (low, high) = (splat((127_u32 + 23) << 23), splat((127_u32 + 23 + 16) << 23));
            let low_half = _mm256_blend_epi16::<0xaa>(v, low);
            let high_half = _mm256_or_si256(_mm256_srli_epi32::<16>(v), high);
            let less = |a, b| _mm256_sub_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            let float = _mm256_max_ps(less(low_half, low), less(high_half, high));
            let exponent = _mm256_srli_epi32::<24>(_mm256_slli_epi32::<1>(_mm256_castps_si256(float)));
            _mm256_subs_epu16(exponent, splat(126_u32))
        }
        _ => {
            let zero = _mm256_setzero_si256();
            let exponents = |v| _mm256_srli_epi32::<23>(_mm256_castps_si256(_mm256_cvtepi32_ps(v)));
            let (low, high) = (_mm256_unpacklo_epi16(v, zero), _mm256_unpackhi_epi16(v, zero));
            _mm256_subs_epu16(_mm256_packus_epi32(exponents(low), exponents(high)), splat(126_u16))
        }
    }
}

/// The sum of the 64-bit lanes.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn sum(v: V) -> u64 {
    let halves = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
    (_mm_cvtsi128_si64(halves) as u64).wrapping_add(_mm_extract_epi64::<1>(halves) as u64)
}
