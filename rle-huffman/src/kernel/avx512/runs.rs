//! Runs: 64 bytes at a time are compared with those one symbol behind.

use super::scalar;
use super::vector::{LANES, load};
use crate::kernel::least_run;
use crate::width::Width;
use core::arch::x86_64::*;

/// For each symbol of the vector at `at` whether it is followed by the same.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn repeated<const S: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let these = load(bytes.get(at..)?.first_chunk::<LANES>()?);
    let next = load(bytes.get(at + S..)?.first_chunk::<LANES>()?);
    Some(match S {
        1 => _mm512_cmpeq_epi8_mask(these, next),
        2 => _mm512_cmpeq_epi16_mask(these, next).into(),
        4 => _mm512_cmpeq_epi32_mask(these, next).into(),
        _ => _mm512_cmpeq_epi64_mask(these, next).into(),
    })
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn find_run<const S: usize>(bytes: &[u8], mut at: usize, symbol: Width) -> Option<usize> {
    // Symbols of a vector that are followed by so many repeats in it; then on to the first that may have others behind.
    while let Some(equal) = repeated::<S>(bytes, at) {
        let mut runs = equal;
        for i in 1..const { least_run(S) } {
            runs &= equal >> i;
        }
        if runs != 0 {
            return Some(at + runs.trailing_zeros() as usize * S);
        }
        at += LANES - (least_run(S) - 1) * S;
    }
    scalar::find_run(bytes, at, symbol)
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn end_of_run<const S: usize>(bytes: &[u8], mut at: usize, symbol: Width) -> usize {
    let all = u64::MAX >> (64 - LANES / S);
    while let Some(equal) = repeated::<S>(bytes, at) {
        if equal != all {
            return at + (equal.trailing_ones() as usize + 1) * S;
        }
        at += LANES;
    }
    scalar::end_of_run(bytes, at, symbol)
}
