//! Vectors of 64 bytes: loads, stores, and deinterleaving.

use crate::kernel::planes::Vectors;
use core::arch::x86_64::*;
use mpress_codec_support::Avx512;
use mpress_codec_support::avx512::store;
pub(super) use mpress_codec_support::avx512::{V, load};

/// Bytes of a vector.
pub(super) const LANES: usize = 64;

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn load_words(words: &[u64; 8]) -> V {
    // SAFETY: the 64 bytes of the array are readable; the load requires no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn store_words(words: &mut [u64; 8], v: V) {
    // SAFETY: the 64 bytes of the array are writable; the store requires no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), v) }
}

/// The values of a linear function for 0 to 63, as bytes.
const fn places(of: [u8; 2]) -> [u8; LANES] {
    let [first, step] = of;
    let mut bytes = [0; LANES];
    let mut i = 0;
    while i < LANES {
        bytes[i] = first + step * i as u8;
        i += 1;
    }
    bytes
}

/// The indices 0, 64, 1, 65..., plus `first`.
const fn in_turn(first: u8) -> [u8; LANES] {
    let mut bytes = [0; LANES];
    let mut i = 0;
    while i < LANES {
        bytes[i] = first + i as u8 / 2 + i as u8 % 2 * 64;
        i += 1;
    }
    bytes
}

const EVEN: [u8; LANES] = places([0, 2]);
const ODD: [u8; LANES] = places([1, 2]);
const FRONT: [u8; LANES] = in_turn(0);
const BACK: [u8; LANES] = in_turn(32);

/// The bytes of two vectors at these indices.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pick(a: V, b: V, [first, second]: [&[u8; LANES]; 2]) -> [V; 2] {
    [_mm512_permutex2var_epi8(a, load(first), b), _mm512_permutex2var_epi8(a, load(second), b)]
}

impl Vectors<LANES> for Avx512 {
    type V = V;
    #[inline(always)]
    fn load(self, bytes: &[u8; LANES]) -> V {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { load(bytes) }
    }
    #[inline(always)]
    fn store(self, v: V, bytes: &mut [u8; LANES]) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { store(bytes, v) }
    }
    #[inline(always)]
    fn unzip(self, a: V, b: V) -> [V; 2] {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { pick(a, b, [&EVEN, &ODD]) }
    }
    #[inline(always)]
    fn zip(self, even: V, odd: V) -> [V; 2] {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { pick(even, odd, [&FRONT, &BACK]) }
    }
}
