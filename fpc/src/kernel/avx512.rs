//! The kernel for AVX-512. A group is the words of one vector: eight doubles or sixteen single floats.
//!
//! The bytes of residuals are compressed and expanded by the byte instructions of VBMI2, a group at a time.

use super::Kernel;
use crate::block::{Row, RowBytes};
use crate::classes::LENGTHS;
use crate::format::{MAX_CLASSES, PACKED, PICKED, ROW_BYTES};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::Avx512;
use mpress_codec_support::avx512::{load, store};

impl Kernel for Avx512 {
    #[inline(always)]
    fn count(self, lengths: &mut RowBytes, counts: &mut [u32; LENGTHS]) -> u64 {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { count(lengths, counts) }
    }
    #[inline(always)]
    fn classify(self, lengths: &mut RowBytes, codes: &[u8; 16], of_class: &[u8; MAX_CLASSES]) -> [u64; 3] {
        // SAFETY: as above.
        unsafe { classify(lengths, codes, of_class) }
    }
    #[inline(always)]
    fn pack<W: Word>(self, residuals: &Row<W>, lengths: &RowBytes, packed: &mut [u8; PACKED]) -> usize {
        // SAFETY: as above.
        unsafe { pack::<W>(residuals, lengths, packed) }
    }
    #[inline(always)]
    fn lengths(self, planes: [u64; 3], of_class: &[u8; MAX_CLASSES]) -> RowBytes {
        // SAFETY: as above.
        unsafe { lengths(planes, of_class) }
    }
    #[inline(always)]
    fn spread(self, bits: u64) -> RowBytes {
        // SAFETY: as above.
        unsafe { spread(bits) }
    }
    #[inline(always)]
    fn unpack<W: Word>(self, wire: &[u8; PACKED], lengths: &RowBytes, residuals: &mut Row<W>) -> usize {
        // SAFETY: as above.
        unsafe { unpack::<W>(wire, lengths, residuals) }
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn count(lengths: &mut RowBytes, counts: &mut [u32; LENGTHS]) -> u64 {
    let picked = load(lengths);
    let only = _mm512_andnot_si512(_mm512_set1_epi8(PICKED as i8), picked);
    store(lengths, only);
    for (length, count) in (0..).zip(counts) {
        *count += _mm512_cmpeq_epi8_mask(only, _mm512_set1_epi8(length)).count_ones();
    }
    _mm512_movepi8_mask(picked)
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn classify(lengths: &mut RowBytes, codes: &[u8; 16], of_class: &[u8; MAX_CLASSES]) -> [u64; 3] {
    let codes = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(load128(codes)), load(lengths));
    let of_class = _mm512_set1_epi64(i64::from_le_bytes(*of_class));
    store(lengths, _mm512_shuffle_epi8(of_class, codes));
    [1, 2, 4].map(|bit| _mm512_test_epi8_mask(codes, _mm512_set1_epi8(bit)))
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn pack<W: Word>(residuals: &Row<W>, lengths: &RowBytes, packed: &mut [u8; PACKED]) -> usize {
    let mut at = 0;
    for (group, mask) in W::flat(residuals).as_chunks().0.iter().zip(masks::<W>(lengths)) {
        // Always stores the whole vector; later groups overwrite the excess. The remainder has no effect; it shows the compiler that the vector is
        // within the buffer.
        if let Some(room) = packed[at % ROW_BYTES..].first_chunk_mut() {
            store(room, _mm512_maskz_compress_epi8(mask, load(group)));
        }
        at += mask.count_ones() as usize;
    }
    at
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn lengths(planes: [u64; 3], of_class: &[u8; MAX_CLASSES]) -> RowBytes {
    let [low, middle, high] = planes;
    let codes = _mm512_maskz_set1_epi8(low, 1);
    let codes = _mm512_or_si512(codes, _mm512_maskz_set1_epi8(middle, 2));
    let codes = _mm512_or_si512(codes, _mm512_maskz_set1_epi8(high, 4));
    let mut lengths = [0; 64];
    store(&mut lengths, _mm512_shuffle_epi8(_mm512_set1_epi64(i64::from_le_bytes(*of_class)), codes));
    lengths
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn spread(bits: u64) -> RowBytes {
    let mut bytes = [0; 64];
    store(&mut bytes, _mm512_maskz_set1_epi8(bits, 1));
    bytes
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn unpack<W: Word>(wire: &[u8; PACKED], lengths: &RowBytes, residuals: &mut Row<W>) -> usize {
    let mut at = 0;
    for (group, mask) in W::flat_mut(residuals).as_chunks_mut().0.iter_mut().zip(masks::<W>(lengths)) {
        // As in `pack`.
        if let Some(bytes) = wire[at % ROW_BYTES..].first_chunk() {
            store(group, _mm512_maskz_expand_epi8(mask, load(bytes)));
        }
        at += mask.count_ones() as usize;
    }
    at
}

/// For each group, the mask of the bytes that belong to residuals. Single floats have half as many groups.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn masks<W: Word>(lengths: &RowBytes) -> [u64; 8] {
    let lengths = load(lengths);
    let word = load(&const { per_byte(W::WIDTH).0 });
    let place = load(&const { per_byte(W::WIDTH).1 });
    let mut first = _mm512_setzero_si512();
    [(); 8].map(|()| {
        let lengths = _mm512_permutexvar_epi8(_mm512_add_epi8(word, first), lengths);
        first = _mm512_add_epi8(first, _mm512_set1_epi8((64 / W::WIDTH) as i8));
        _mm512_cmplt_epu8_mask(place, lengths)
    })
}

/// For each byte of a group: the index of its word, and its position in that word.
const fn per_byte(width: usize) -> ([u8; 64], [u8; 64]) {
    let (mut word, mut place) = ([0; 64], [0; 64]);
    let mut byte = 0;
    while byte < 64 {
        word[byte] = (byte / width) as u8;
        place[byte] = (byte % width) as u8;
        byte += 1;
    }
    (word, place)
}

#[target_feature(enable = "sse2")]
#[inline]
fn load128(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array has the 16 bytes that are read; the load requires no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}
