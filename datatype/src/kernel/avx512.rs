//! Copies for AVX-512: tiles made of squares of a vector's length.

use super::lists::Runs;
use super::tiles::{self, LINE, Tile};
use super::{Axis, Listed, Transpose, blocks as shared, lists, simd};
use core::arch::x86_64::*;
use mpress_codec::simd::{Simd, Tier};

simd::kernel!(
    Avx512,
    Tier::Avx512,
    "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt"
);

simd::tiles!(Avx512, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_stream_si512, 64: 4 transpose4 8 transpose8 16 transpose16);

/// Transposes of squares of elements in registers.
mod squares {
    use core::arch::x86_64::*;

    // Arrays are written out: some builds call `array::from_fn` and its closures as functions.

    /// Four by four elements of 16 bytes.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn transpose16(rows: [__m512i; 4]) -> [__m512i; 4] {
        let [a, b, c, d] = rows;
        let (ab_low, ab_high) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xee>(a, b));
        let (cd_low, cd_high) = (_mm512_shuffle_i64x2::<0x44>(c, d), _mm512_shuffle_i64x2::<0xee>(c, d));
        [
            _mm512_shuffle_i64x2::<0x88>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0xdd>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high),
            _mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high),
        ]
    }

    /// Eight by eight elements of 8 bytes: first pairs of rows, then their quarters.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn transpose8(rows: [__m512i; 8]) -> [__m512i; 8] {
        let [a, b, c, d, e, f, g, h] = rows;
        let low = [
            _mm512_unpacklo_epi64(a, b),
            _mm512_unpacklo_epi64(c, d),
            _mm512_unpacklo_epi64(e, f),
            _mm512_unpacklo_epi64(g, h),
        ];
        let high = [
            _mm512_unpackhi_epi64(a, b),
            _mm512_unpackhi_epi64(c, d),
            _mm512_unpackhi_epi64(e, f),
            _mm512_unpackhi_epi64(g, h),
        ];
        let ([a, c, e, g], [b, d, f, h]) = (transpose16(low), transpose16(high));
        [a, b, c, d, e, f, g, h]
    }

    /// Sixteen by sixteen elements of 4 bytes: first pairs of rows, then as for 8 bytes.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn transpose4(rows: [__m512i; 16]) -> [__m512i; 16] {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = rows;
        let low = [
            _mm512_unpacklo_epi32(a, b),
            _mm512_unpacklo_epi32(c, d),
            _mm512_unpacklo_epi32(e, f),
            _mm512_unpacklo_epi32(g, h),
            _mm512_unpacklo_epi32(i, j),
            _mm512_unpacklo_epi32(k, l),
            _mm512_unpacklo_epi32(m, n),
            _mm512_unpacklo_epi32(o, p),
        ];
        let high = [
            _mm512_unpackhi_epi32(a, b),
            _mm512_unpackhi_epi32(c, d),
            _mm512_unpackhi_epi32(e, f),
            _mm512_unpackhi_epi32(g, h),
            _mm512_unpackhi_epi32(i, j),
            _mm512_unpackhi_epi32(k, l),
            _mm512_unpackhi_epi32(m, n),
            _mm512_unpackhi_epi32(o, p),
        ];
        // In each quarter, `low` has elements 0 and 1 of its two rows, `high` 2 and 3.
        let ([a, b, e, f, i, j, m, n], [c, d, g, h, k, l, o, p]) = (transpose8(low), transpose8(high));
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
    }
}
