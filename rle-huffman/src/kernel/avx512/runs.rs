//! Equal symbols: compares 64 bytes at a time with the bytes one symbol later.

use super::scalar;
use super::vector::{LANES, load};
use crate::width::Width;
use core::arch::x86_64::*;

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn mark_equal<const S: usize>(bytes: &[u8], symbol: Width, marks: &mut [u8]) {
    let these = bytes.as_chunks::<LANES>().0;
    let next = bytes.get(S..).unwrap_or(&[]).as_chunks::<LANES>().0;
    // The number of bytes of marks for the symbols of a vector.
    let step = LANES / S / 8;
    for ((these, next), marks) in these.iter().zip(next).zip(marks.chunks_exact_mut(step)) {
        let (these, next) = (load(these), load(next));
        match S {
            1 => marks.copy_from_slice(&_mm512_cmpeq_epi8_mask(these, next).to_le_bytes()),
            2 => marks.copy_from_slice(&_mm512_cmpeq_epi16_mask(these, next).to_le_bytes()),
            4 => marks.copy_from_slice(&_mm512_cmpeq_epi32_mask(these, next).to_le_bytes()),
            _ => marks.copy_from_slice(&_mm512_cmpeq_epi64_mask(these, next).to_le_bytes()),
        }
    }
    scalar::mark_equal(bytes, symbol, marks, these.len().min(next.len()) * LANES / S);
}
