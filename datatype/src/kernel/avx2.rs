//! Copies for AVX2: tiles made of squares of 32 bytes.

use super::lists::Runs;
use super::tiles::{self, LINE, Tile};
use super::{Axis, Listed, Transpose, blocks as shared, lists, simd};
use core::arch::x86_64::*;
use mpress_codec::simd::{Simd, Tier};

simd::kernel!(Avx2, Tier::Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");

simd::tiles!(Avx2, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256, 32: 4 transpose4 8 transpose8 16 transpose16);

/// Transposes of squares of elements in registers.
mod squares {
    use core::arch::x86_64::*;

    // Arrays are written out: some builds call `array::from_fn` and its closures as functions.

    /// Two by two elements of 16 bytes.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn transpose16([a, b]: [__m256i; 2]) -> [__m256i; 2] {
        [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)]
    }

    /// Four by four elements of 8 bytes: first pairs of rows, then their halves.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn transpose8([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
        let low = [_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d)];
        let high = [_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d)];
        let ([a, c], [b, d]) = (transpose16(low), transpose16(high));
        [a, b, c, d]
    }

    /// Eight by eight elements of 4 bytes: first pairs of rows, then as for 8 bytes.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn transpose4(rows: [__m256i; 8]) -> [__m256i; 8] {
        let [a, b, c, d, e, f, g, h] = rows;
        let low = [
            _mm256_unpacklo_epi32(a, b),
            _mm256_unpacklo_epi32(c, d),
            _mm256_unpacklo_epi32(e, f),
            _mm256_unpacklo_epi32(g, h),
        ];
        let high = [
            _mm256_unpackhi_epi32(a, b),
            _mm256_unpackhi_epi32(c, d),
            _mm256_unpackhi_epi32(e, f),
            _mm256_unpackhi_epi32(g, h),
        ];
        // In each half, `low` has elements 0 and 1 of its two rows, `high` 2 and 3.
        let ([a, b, e, f], [c, d, g, h]) = (transpose8(low), transpose8(high));
        [a, b, c, d, e, f, g, h]
    }
}
