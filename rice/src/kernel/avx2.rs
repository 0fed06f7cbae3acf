//! The kernel for AVX2: computes prefix sums of differences, a row at a time.

use super::{Kernel, Work};
use crate::block::Block;
use crate::format::ROW;
use crate::unary::{self, Places, Unary};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::simd::{Simd, Tier};

/// Proof that the CPU has the instructions of [`Tier::Avx2`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(super) fn new(simd: Simd) -> Option<Self> {
        (simd.tier() >= Tier::Avx2).then_some(Self(()))
    }

    pub(super) fn run<T: Work>(self, work: T) -> T::Output {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { run(self, work) }
    }
}

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
fn run<T: Work>(kernel: Avx2, work: T) -> T::Output {
    work.run(kernel)
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
    // So far each half is separate: the lower half's last word is added to all of the upper half.
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

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn unzigzag<W: Word>(v: __m256i) -> __m256i {
    let sign = |v| _mm256_and_si256(v, splat(W::ONE));
    let zero = _mm256_setzero_si256();
    match W::BITS {
        64 => _mm256_xor_si256(_mm256_srli_epi64::<1>(v), _mm256_sub_epi64(zero, sign(v))),
        32 => _mm256_xor_si256(_mm256_srli_epi32::<1>(v), _mm256_sub_epi32(zero, sign(v))),
        16 => _mm256_xor_si256(_mm256_srli_epi16::<1>(v), _mm256_sub_epi16(zero, sign(v))),
        _ => {
            let half = _mm256_and_si256(_mm256_srli_epi16::<1>(v), _mm256_set1_epi8(0x7f));
            _mm256_xor_si256(half, _mm256_sub_epi8(zero, sign(v)))
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn add<W: Word>(a: __m256i, b: __m256i) -> __m256i {
    match W::BITS {
        64 => _mm256_add_epi64(a, b),
        32 => _mm256_add_epi32(a, b),
        16 => _mm256_add_epi16(a, b),
        _ => _mm256_add_epi8(a, b),
    }
}

/// `word` in every lane.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn splat<W: Word>(word: W) -> __m256i {
    let mut bytes = [0; 8];
    W::write(&[word], &mut bytes);
    let word = i64::from_le_bytes(bytes);
    match W::BITS {
        64 => _mm256_set1_epi64x(word),
        32 => _mm256_set1_epi32(word as i32),
        16 => _mm256_set1_epi16(word as i16),
        _ => _mm256_set1_epi8(word as i8),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn load(row: &[u8; ROW]) -> __m256i {
    // SAFETY: the 32 bytes of the array are readable; the load requires no alignment.
    unsafe { _mm256_loadu_si256(row.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn store(row: &mut [u8; ROW], v: __m256i) {
    // SAFETY: the 32 bytes of the array are writable; the store requires no alignment.
    unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), v) }
}
