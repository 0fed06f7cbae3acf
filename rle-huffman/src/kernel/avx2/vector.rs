//! Vectors of 32 bytes: loads, stores, and deinterleaving.

use crate::kernel::planes::Vectors;
use core::arch::x86_64::*;
use mpress_codec_support::Avx2;
use mpress_codec_support::avx2::store;
pub(super) use mpress_codec_support::avx2::{V, load};

/// Bytes of a vector.
pub(super) const LANES: usize = 32;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn unzip(a: V, b: V) -> [V; 2] {
    let low = _mm256_set1_epi16(0xff);
    let even = _mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
    let odd = _mm256_packus_epi16(_mm256_srli_epi16::<8>(a), _mm256_srli_epi16::<8>(b));
    // Pack instructions work on halves of vectors, which leaves quarters in the order a, b, a, b.
    [_mm256_permute4x64_epi64::<0b11_01_10_00>(even), _mm256_permute4x64_epi64::<0b11_01_10_00>(odd)]
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn zip(even: V, odd: V) -> [V; 2] {
    let (low, high) = (_mm256_unpacklo_epi8(even, odd), _mm256_unpackhi_epi8(even, odd));
    [_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high)]
}

impl Vectors<LANES> for Avx2 {
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
        unsafe { unzip(a, b) }
    }
    #[inline(always)]
    fn zip(self, even: V, odd: V) -> [V; 2] {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { zip(even, odd) }
    }
}
