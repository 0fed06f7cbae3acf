//! Copies for AVX-512: tiles of whole vectors.

use super::lists::Runs;
use super::tiles::{self, Tile};
use super::{Axis, Listed, Transpose, blocks as shared, level, lists};
use core::arch::x86_64::*;
use mpress_codec::simd::{Level, Tier};

level::kernel!(
    Avx512,
    Tier::Avx512,
    "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt"
);

/// Tiles of elements of these widths.
macro_rules! transposes {
    ($($name:ident $width:literal)*) => { $(
        impl Tile<$width> for Avx512 {
            #[inline(always)]
            unsafe fn tile(self, from: *const u8, from_step: isize, to: *mut u8, to_step: isize) {
                // SAFETY: `LINE` bytes from each of these places on are those of a row, and of a column, that the caller vouches for;
                // `self` proves the features.
                unsafe {
                    let rows = core::array::from_fn(|i| load(from.wrapping_offset(i as isize * from_step)));
                    for (i, column) in (0..).zip(squares::$name(rows)) {
                        store(to.wrapping_offset(i * to_step), column);
                    }
                }
            }

            #[inline(always)]
            unsafe fn tile_past_caches(self, from: *const u8, from_step: isize, to: *mut u8, to_step: isize) {
                // SAFETY: as above, and each column begins at a multiple of `LINE`.
                unsafe {
                    let rows = core::array::from_fn(|i| load(from.wrapping_offset(i as isize * from_step)));
                    for (i, column) in (0..).zip(squares::$name(rows)) {
                        stream(to.wrapping_offset(i * to_step), column);
                    }
                }
            }

            #[inline(always)]
            fn finish(self) {
                // SAFETY: every x86-64 has the instruction.
                unsafe { _mm_sfence() };
            }
        }
    )* };
}
transposes!(transpose4 4 transpose8 8 transpose16 16);

/// # Safety
/// 64 bytes must be readable.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn load(from: *const u8) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_loadu_si512(from.cast()) }
}

/// # Safety
/// 64 bytes must be writable.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn store(to: *mut u8, v: __m512i) {
    // SAFETY: the caller's promise.
    unsafe { _mm512_storeu_si512(to.cast(), v) }
}

/// # Safety
/// 64 bytes must be writable, at a multiple of 64.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn stream(to: *mut u8, v: __m512i) {
    // SAFETY: the caller's promise.
    unsafe { _mm512_stream_si512(to.cast(), v) }
}

/// Squares of elements, transposed in registers.
mod squares {
    use core::arch::x86_64::*;
    use core::array::from_fn;

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

    /// Eight by eight elements of 8 bytes: pairs of rows, then their quarters.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn transpose8(rows: [__m512i; 8]) -> [__m512i; 8] {
        let low: [_; 4] = from_fn(|i| _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]));
        let high: [_; 4] = from_fn(|i| _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]));
        let (even, odd) = (transpose16(low), transpose16(high));
        from_fn(|i| if i % 2 == 0 { even[i / 2] } else { odd[i / 2] })
    }

    /// Sixteen by sixteen elements of 4 bytes: pairs of rows, then as of 8 bytes.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn transpose4(rows: [__m512i; 16]) -> [__m512i; 16] {
        let low: [_; 8] = from_fn(|i| _mm512_unpacklo_epi32(rows[2 * i], rows[2 * i + 1]));
        let high: [_; 8] = from_fn(|i| _mm512_unpackhi_epi32(rows[2 * i], rows[2 * i + 1]));
        // In each quarter, `low` has elements 0 and 1 of its two rows, `high` 2 and 3.
        let (low, high) = (transpose8(low), transpose8(high));
        from_fn(|i| if i % 4 < 2 { low[i / 4 * 2 + i % 2] } else { high[i / 4 * 2 + i % 2] })
    }
}
