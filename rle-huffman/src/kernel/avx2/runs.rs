//! Runs: 32 bytes at a time are compared with those one symbol behind.

use super::scalar;
use super::vector::{LANES, V, load};
use crate::kernel::least_run;
use crate::width::Width;
use core::arch::x86_64::*;

/// For each byte at `at` whether its symbol is followed by the same.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn repeated<const S: usize>(bytes: &[u8], at: usize) -> Option<u32> {
    let these = load(bytes.get(at..)?.first_chunk::<LANES>()?);
    let next = load(bytes.get(at + S..)?.first_chunk::<LANES>()?);
    let equal: V = match S {
        1 => _mm256_cmpeq_epi8(these, next),
        2 => _mm256_cmpeq_epi16(these, next),
        4 => _mm256_cmpeq_epi32(these, next),
        _ => _mm256_cmpeq_epi64(these, next),
    };
    Some(_mm256_movemask_epi8(equal) as u32)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn find_run<const S: usize>(bytes: &[u8], mut at: usize, symbol: Width) -> Option<usize> {
    // Symbols of a vector that are followed by so many repeats in it; then on to the first that may have others behind.
    while let Some(equal) = repeated::<S>(bytes, at) {
        let mut runs = equal;
        for i in 1..const { least_run(S) } {
            runs &= equal >> (i * S);
        }
        if runs != 0 {
            return Some(at + runs.trailing_zeros() as usize);
        }
        at += LANES - (least_run(S) - 1) * S;
    }
    scalar::find_run(bytes, at, symbol)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn end_of_run<const S: usize>(bytes: &[u8], mut at: usize, symbol: Width) -> usize {
    while let Some(equal) = repeated::<S>(bytes, at) {
        if equal != u32::MAX {
            return at + equal.trailing_ones() as usize + S;
        }
        at += LANES;
    }
    scalar::end_of_run(bytes, at, symbol)
}
