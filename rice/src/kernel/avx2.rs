//! The kernel for AVX2: computes prefix sums of differences, a row at a time.

use super::Kernel;
use crate::block::Block;
use crate::format::ROW;
use crate::unary::{self, Places, Unary};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::Avx2;
use mpress_codec_support::avx2::{add, load, splat, store, unzigzag};

impl Kernel for Avx2 {
    #[inline(always)]
    fn places(self, unary: &Unary, len: usize, places: &mut Places) -> usize {
        unary::places(unary, len, places)
    }

    #[inline(always)]
    fn undo_delta<W: Word>(self, residuals: &mut Block<W>, before: W) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { undo_delta(residuals, before) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn undo_delta<W: Word>(residuals: &mut Block<W>, before: W) {
    let mut before = splat(before);
    let mut row_bytes = [0; ROW];
    for row in residuals.0.chunks_exact_mut(W::LANES) {
        W::write(row, &mut row_bytes);
        let sums = sums::<W>(unzigzag::<W>(load(&row_bytes)));
        store(&mut row_bytes, add::<W>(sums, before));
        W::read(&row_bytes, row);
        // Not taken from the stored row, so that the dependency chain from row to row is a single addition.
        before = add::<W>(before, last::<W>(sums));
    }
}

/// The prefix sums of the words.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn sums<W: Word>(v: __m256i) -> __m256i {
    let mut v = v;
    if W::BITS <= 8 {
        v = add::<W>(v, _mm256_slli_si256::<1>(v));
    }
    if W::BITS <= 16 {
        v = add::<W>(v, _mm256_slli_si256::<2>(v));
    }
    if W::BITS <= 32 {
        v = add::<W>(v, _mm256_slli_si256::<4>(v));
    }
    v = add::<W>(v, _mm256_slli_si256::<8>(v));
    // So far the halves are separate: the lower half's last word is added to each word of the upper half.
    let lower = _mm256_permute2x128_si256::<0x08>(v, v);
    add::<W>(v, last_of_halves::<W>(lower))
}

/// The last word in every lane.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn last<W: Word>(v: __m256i) -> __m256i {
    last_of_halves::<W>(_mm256_permute2x128_si256::<0x11>(v, v))
}

/// The last word of each half, in every lane of that half.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn last_of_halves<W: Word>(v: __m256i) -> __m256i {
    match W::BITS {
        64 => _mm256_unpackhi_epi64(v, v),
        32 => _mm256_shuffle_epi32::<0xff>(v),
        16 => _mm256_shuffle_epi8(v, _mm256_set1_epi16(0x0f0e)),
        _ => _mm256_shuffle_epi8(v, _mm256_set1_epi8(0x0f)),
    }
}
