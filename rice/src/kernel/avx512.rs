//! The kernel for AVX-512: finds the ones in 64 bits of a unary part at once.

use super::{Kernel, avx2};
use crate::block::Block;
use crate::unary::{Places, Unary};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::Avx512;
use mpress_codec_support::avx512::{load, store};

impl Kernel for Avx512 {
    #[inline(always)]
    fn places(self, unary: &Unary, len: usize, to: &mut Places) -> usize {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { places(unary, len, to) }
    }

    #[inline(always)]
    fn undo_delta<W: Word>(self, residuals: &mut Block<W>, before: W) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { avx2::undo_delta(residuals, before) }
    }
}

/// The position of each byte: 0 to 63.
static PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut i = 0;
    while i < 64 {
        places[i] = i as u8;
        i += 1;
    }
    places
};

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn places(unary: &Unary, len: usize, to: &mut Places) -> usize {
    let mut ones = 0;
    let mut place = load(&PLACES);
    // Zeros follow the first `len` bytes.
    for word in unary.as_chunks().0.iter().take(len.div_ceil(8)) {
        let mask = u64::from_le_bytes(*word);
        if let Some(to) = to.get_mut(1 + ones..).and_then(<[_]>::first_chunk_mut) {
            store(to, _mm512_maskz_compress_epi8(mask, place));
        }
        ones += mask.count_ones() as usize;
        place = _mm512_add_epi8(place, _mm512_set1_epi8(64));
    }
    ones
}
