//! Copies for AVX2: tiles of squares of 32 bytes.

use super::lists::Runs;
use super::tiles::{self, LINE, Tile};
use super::{Axis, Listed, Transpose, blocks as shared, level, lists};
use core::arch::x86_64::*;
use mpress_codec::simd::{Level, Tier};

/// Bytes of a vector.
const VECTOR: usize = 32;

level::kernel!(Avx2, Tier::Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");

/// Tiles of elements of these widths.
macro_rules! transposes {
    ($($name:ident $width:literal)*) => { $(
        impl Tile<$width> for Avx2 {
            #[inline(always)]
            unsafe fn tile(self, from: *const u8, from_step: isize, to: *mut u8, to_step: isize) {
                for_squares::<$width>(from, from_step, to, to_step, |from, to| {
                    // SAFETY: `VECTOR` bytes from each of these places on are a half of a row, and of a column, that the caller vouches
                    // for; `self` proves the features.
                    unsafe {
                        let rows = core::array::from_fn(|i| load(from.wrapping_offset(i as isize * from_step)));
                        for (i, column) in (0..).zip(squares::$name(rows)) {
                            store(to.wrapping_offset(i * to_step), column);
                        }
                    }
                });
            }

            #[inline(always)]
            unsafe fn tile_past_caches(self, from: *const u8, from_step: isize, to: *mut u8, to_step: isize) {
                for_squares::<$width>(from, from_step, to, to_step, |from, to| {
                    // SAFETY: as above; each column begins at a multiple of `LINE`, so each half of one at a multiple of `VECTOR`.
                    unsafe {
                        let rows = core::array::from_fn(|i| load(from.wrapping_offset(i as isize * from_step)));
                        for (i, column) in (0..).zip(squares::$name(rows)) {
                            stream(to.wrapping_offset(i * to_step), column);
                        }
                    }
                });
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

/// Where the squares of a tile begin. Both of one column come one after the other, as they are one line.
#[inline(always)]
fn for_squares<const W: usize>(
    from: *const u8,
    from_step: isize,
    to: *mut u8,
    to_step: isize,
    square: impl Fn(*const u8, *mut u8),
) {
    let elements = (VECTOR / W) as isize;
    for half in 0..LINE / VECTOR {
        let (from, to) =
            (from.wrapping_add(half * VECTOR), to.wrapping_offset(half as isize * elements * to_step));
        square(from, to);
        square(from.wrapping_offset(elements * from_step), to.wrapping_add(VECTOR));
    }
}

/// # Safety
/// 32 bytes must be readable.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load(from: *const u8) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_loadu_si256(from.cast()) }
}

/// # Safety
/// 32 bytes must be writable.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store(to: *mut u8, v: __m256i) {
    // SAFETY: the caller's promise.
    unsafe { _mm256_storeu_si256(to.cast(), v) }
}

/// # Safety
/// 32 bytes must be writable, at a multiple of 32.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn stream(to: *mut u8, v: __m256i) {
    // SAFETY: the caller's promise.
    unsafe { _mm256_stream_si256(to.cast(), v) }
}

/// Squares of elements, transposed in registers.
mod squares {
    use core::arch::x86_64::*;
    use core::array::from_fn;

    /// Two by two elements of 16 bytes.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn transpose16([a, b]: [__m256i; 2]) -> [__m256i; 2] {
        [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)]
    }

    /// Four by four elements of 8 bytes: pairs of rows, then their halves.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn transpose8(rows: [__m256i; 4]) -> [__m256i; 4] {
        let low: [_; 2] = from_fn(|i| _mm256_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]));
        let high: [_; 2] = from_fn(|i| _mm256_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]));
        let (even, odd) = (transpose16(low), transpose16(high));
        [even[0], odd[0], even[1], odd[1]]
    }

    /// Eight by eight elements of 4 bytes: pairs of rows, then as of 8 bytes.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn transpose4(rows: [__m256i; 8]) -> [__m256i; 8] {
        let low: [_; 4] = from_fn(|i| _mm256_unpacklo_epi32(rows[2 * i], rows[2 * i + 1]));
        let high: [_; 4] = from_fn(|i| _mm256_unpackhi_epi32(rows[2 * i], rows[2 * i + 1]));
        // In each half, `low` has elements 0 and 1 of its two rows, `high` 2 and 3.
        let (low, high) = (transpose8(low), transpose8(high));
        from_fn(|i| if i % 4 < 2 { low[i / 4 * 2 + i % 2] } else { high[i / 4 * 2 + i % 2] })
    }
}
