//! Equal symbols: compares 32 bytes at a time with the bytes one symbol later.

use super::scalar;
use super::vector::{LANES, V, load};
use crate::width::Width;
use core::arch::x86_64::*;

/// The number of bytes whose marks fill whole bytes for every symbol width.
const GROUP: usize = 2 * LANES;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn mark_equal<const S: usize>(bytes: &[u8], symbol: Width, marks: &mut [u8]) {
    let these = bytes.as_chunks::<GROUP>().0;
    let next = bytes.get(S..).unwrap_or(&[]).as_chunks::<GROUP>().0;
    let step = GROUP / S / 8;
    for ((these, next), marks) in these.iter().zip(next).zip(marks.chunks_exact_mut(step)) {
        let equal =
            u64::from(equal::<S>(these, next, 0)) | u64::from(equal::<S>(these, next, 1)) << (LANES / S);
        marks.copy_from_slice(&equal.to_le_bytes()[..step]);
    }
    scalar::mark_equal(bytes, symbol, marks, these.len().min(next.len()) * GROUP / S);
}

/// One bit for each symbol in a half of the group.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn equal<const S: usize>(these: &[u8; GROUP], next: &[u8; GROUP], half: usize) -> u32 {
    let [these, next] = [these, next].map(|group| load(&group.as_chunks().0[half]));
    let bytes = |equal: V| _mm256_movemask_epi8(equal) as u32;
    match S {
        1 => bytes(_mm256_cmpeq_epi8(these, next)),
        // The even one of a symbol's two equal bits.
        2 => _pext_u32(bytes(_mm256_cmpeq_epi16(these, next)), 0x5555_5555),
        4 => _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(these, next))) as u32,
        _ => _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(these, next))) as u32,
    }
}
