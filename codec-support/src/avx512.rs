//! Vectors of words for AVX-512: one name for the instructions of all word widths, and the loads and stores.
//!
//! Unsafe code: loads and stores through pointers to arrays.
#![allow(unsafe_code)]

mod pack;

pub use pack::{Layout, pack, unpack};

use crate::Word;
use crate::pack::{GROUP, Group, window};
use core::arch::x86_64::*;
use core::mem::MaybeUninit;

pub type V = __m512i;

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn load(group: &Group) -> V {
    // SAFETY: the 64 bytes of the array are readable; the load requires no alignment.
    unsafe { _mm512_loadu_si512(group.as_ptr().cast()) }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn store(group: &mut Group, v: V) {
    // SAFETY: the 64 bytes of the array are writable; the store requires no alignment.
    unsafe { _mm512_storeu_si512(group.as_mut_ptr().cast(), v) }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn store_uninit(group: &mut [MaybeUninit<u8>; GROUP], v: V) {
    // SAFETY: the 64 bytes of the array are writable; the store requires no alignment.
    unsafe { _mm512_storeu_si512(group.as_mut_ptr().cast(), v) }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn store_half(half: &mut [u8; 32], v: __m256i) {
    // SAFETY: the 32 bytes of the array are writable; the store requires no alignment.
    unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), v) }
}

/// The group at byte `at`; zeros if it is not entirely in `bytes`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn load_at(bytes: &[u8], at: usize) -> V {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(group) => load(group),
        None => _mm512_setzero_si512(),
    }
}

/// The group at byte `at`.
///
/// # Safety
/// The group ends at or before the end of `bytes`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub unsafe fn load_unchecked(bytes: &[u8], at: usize) -> V {
    debug_assert!(at + GROUP <= bytes.len());
    // SAFETY: the caller guarantees that the 64 bytes are readable; the load requires no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().add(at).cast()) }
}

/// The group at byte `at`, with zeros past the end of `bytes`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn load_to_the_end(bytes: &[u8], at: usize) -> V {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(group) => load(group),
        // SAFETY: only the bytes of `rest`, fewer than 64, are read.
        None => unsafe { _mm512_maskz_loadu_epi8((1 << rest.len()) - 1, rest.as_ptr().cast()) },
    }
}

/// `word` in every lane.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn splat<W: Word>(word: W) -> V {
    match W::BITS {
        64 => _mm512_set1_epi64(word.to_u64() as i64),
        32 => _mm512_set1_epi32(word.to_u64() as i32),
        _ => _mm512_set1_epi16(word.to_u64() as i16),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn add<W: Word>(a: V, b: V) -> V {
    match W::BITS {
        64 => _mm512_add_epi64(a, b),
        32 => _mm512_add_epi32(a, b),
        _ => _mm512_add_epi16(a, b),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn sub<W: Word>(a: V, b: V) -> V {
    match W::BITS {
        64 => _mm512_sub_epi64(a, b),
        32 => _mm512_sub_epi32(a, b),
        _ => _mm512_sub_epi16(a, b),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn max<W: Word>(a: V, b: V) -> V {
    match W::BITS {
        64 => _mm512_max_epu64(a, b),
        32 => _mm512_max_epu32(a, b),
        _ => _mm512_max_epu16(a, b),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn zigzag<W: Word>(d: V) -> V {
    match W::BITS {
        64 => _mm512_xor_si512(_mm512_slli_epi64::<1>(d), _mm512_srai_epi64::<63>(d)),
        32 => _mm512_xor_si512(_mm512_slli_epi32::<1>(d), _mm512_srai_epi32::<31>(d)),
        _ => _mm512_xor_si512(_mm512_slli_epi16::<1>(d), _mm512_srai_epi16::<15>(d)),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn unzigzag<W: Word>(z: V) -> V {
    let zero = _mm512_setzero_si512();
    let sign = sub::<W>(zero, _mm512_and_si512(z, splat(W::of(1))));
    let half = match W::BITS {
        64 => _mm512_srli_epi64::<1>(z),
        32 => _mm512_srli_epi32::<1>(z),
        _ => _mm512_srli_epi16::<1>(z),
    };
    _mm512_xor_si512(half, sign)
}

/// Each word shifted left by its count in `by`; 0 if that is its width or more.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn shifted_left<W: Word>(v: V, by: V) -> V {
    match W::BITS {
        64 => _mm512_sllv_epi64(v, by),
        32 => _mm512_sllv_epi32(v, by),
        _ => _mm512_sllv_epi16(v, by),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn shifted_right<W: Word>(v: V, by: V) -> V {
    match W::BITS {
        64 => _mm512_srlv_epi64(v, by),
        32 => _mm512_srlv_epi32(v, by),
        _ => _mm512_srlv_epi16(v, by),
    }
}

/// Fills each word with its highest bit.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn sign<W: Word>(v: V) -> V {
    match W::BITS {
        64 => _mm512_srai_epi64::<63>(v),
        32 => _mm512_srai_epi32::<31>(v),
        _ => _mm512_srai_epi16::<15>(v),
    }
}

/// The number of leading zeros of words of 64 or 32 bits.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn leading_zeros<W: Word>(v: V) -> V {
    match W::BITS {
        64 => _mm512_lzcnt_epi64(v),
        _ => _mm512_lzcnt_epi32(v),
    }
}

/// Words rotated left by one or not at all.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn rotated_left<W: Word>(v: V, rotation: u32) -> V {
    if rotation == 0 {
        return v;
    }
    match W::BITS {
        64 => _mm512_rol_epi64::<1>(v),
        32 => _mm512_rol_epi32::<1>(v),
        _ => _mm512_shldi_epi16::<1>(v, v),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn rotated_right<W: Word>(v: V, rotation: u32) -> V {
    if rotation == 0 {
        return v;
    }
    match W::BITS {
        64 => _mm512_ror_epi64::<1>(v),
        32 => _mm512_ror_epi32::<1>(v),
        _ => _mm512_shrdi_epi16::<1>(v, v),
    }
}

/// The greatest word in a vector.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn greatest<W: Word>(v: V) -> W {
    match W::BITS {
        64 => return W::of(_mm512_reduce_max_epu64(v) as usize),
        32 => return W::of(_mm512_reduce_max_epu32(v) as usize),
        _ => {}
    }
    let mut group = [0; GROUP];
    store(&mut group, v);
    W::split(&group).0.iter().fold(W::ZERO, |greatest, word| greatest.max(W::from_bytes(*word)))
}

/// The words of the lanes in `index`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn permute<W: Word>(index: V, v: V) -> V {
    match W::BITS {
        64 => _mm512_permutexvar_epi64(index, v),
        32 => _mm512_permutexvar_epi32(index, v),
        _ => _mm512_permutexvar_epi16(index, v),
    }
}

/// The same; 0 in the lanes not in `keep`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn permute_kept<W: Word>(keep: u32, index: V, v: V) -> V {
    match W::BITS {
        64 => _mm512_maskz_permutexvar_epi64(keep as u8, index, v),
        32 => _mm512_maskz_permutexvar_epi32(keep as u16, index, v),
        _ => _mm512_maskz_permutexvar_epi16(keep, index, v),
    }
}

/// The words a number of lanes before those of `v`, which follows `before`: lane `i` of `index` is `i` minus that number.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn behind<W: Word>(v: V, index: V, before: V) -> V {
    // A negative index selects a lane of the second vector, counted from its end.
    match W::BITS {
        64 => _mm512_permutex2var_epi64(v, index, before),
        32 => _mm512_permutex2var_epi32(v, index, before),
        _ => _mm512_permutex2var_epi16(v, index, before),
    }
}

/// The union (bitwise OR) of each of eight groups, in eight lanes.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn unions(v: [V; 8]) -> V {
    let or = |a, b| _mm512_or_si512(a, b);
    let pair = |a, b| or(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let four = |a, b| or(_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xdd>(a, b));
    let low = four(pair(v[0], v[1]), pair(v[2], v[3]));
    let high = four(pair(v[4], v[5]), pair(v[6], v[7]));
    four(low, high)
}

/// The widths of eight groups, in eight lanes, from their unions.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn widths_of<W: Word>(mut union: V) -> V {
    if W::BITS <= 32 {
        union = _mm512_or_si512(union, _mm512_srli_epi64::<32>(union));
    }
    if W::BITS <= 16 {
        union = _mm512_or_si512(union, _mm512_srli_epi64::<16>(union));
    }
    let union = match W::BITS {
        64 => union,
        32 => _mm512_and_si512(union, _mm512_set1_epi64(0xffff_ffff)),
        _ => _mm512_and_si512(union, _mm512_set1_epi64(0xffff)),
    };
    _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_lzcnt_epi64(union))
}

/// The index of each lane.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn lane_indexes<W: Word>() -> V {
    from_bytes::<W>(
        &const {
            let mut bytes = [0; 32];
            let mut i = 0;
            while i < 32 {
                bytes[i] = i as u8;
                i += 1;
            }
            bytes
        },
    )
}

/// One lane for each byte.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn from_bytes<W: Word>(bytes: &[u8; 32]) -> V {
    // SAFETY: the 32 bytes of the array are readable; the load requires no alignment.
    let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
    match W::BITS {
        64 => _mm512_cvtepu8_epi64(_mm256_castsi256_si128(bytes)),
        32 => _mm512_cvtepu8_epi32(_mm256_castsi256_si128(bytes)),
        _ => _mm512_cvtepu8_epi16(bytes),
    }
}

/// The vector at byte `at`, with zeros past the end.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn load_part(bytes: &[u8], at: usize) -> V {
    if at + GROUP <= bytes.len() {
        return load_at(bytes, at);
    }
    let mut spare = [0; GROUP];
    load(window(bytes, at, &mut spare))
}

/// Stores as much of `v` at byte `at` as fits.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub fn store_part(bytes: &mut [u8], at: usize, v: V) {
    match bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        Some(group) => store(group, v),
        None => {
            let mut group = [0; GROUP];
            store(&mut group, v);
            for (to, from) in bytes.iter_mut().skip(at).zip(group) {
                *to = from;
            }
        }
    }
}
