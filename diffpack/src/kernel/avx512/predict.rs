//! Words to residuals, and their cost.

use crate::format::BLOCK;
use crate::kernel::block::{Group, Widths, parts};
use crate::kernel::scalar::{self, terms};
use crate::kernel::{LAGS, SAMPLE};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::avx512::{
    V, add, greatest, leading_zeros, load, load_at, max, rotated_left, splat, store, store_half, sub, unions,
    widths_of, zigzag,
};

differences!("avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt", Group);

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn below<W: Word>(words: &[Group], rotation: u32, residuals: &mut [Group]) -> W {
    let mut maximum = _mm512_setzero_si512();
    for group in words {
        maximum = max::<W>(maximum, rotated_left::<W>(load(group), rotation));
    }
    let maximum = greatest::<W>(maximum);
    for (to, group) in residuals.iter_mut().zip(words) {
        store(to, sub::<W>(splat(maximum), rotated_left::<W>(load(group), rotation)));
    }
    maximum
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn widths<W: Word>(residuals: &[Group]) -> Widths {
    let mut eights = [_mm_setzero_si128(); 4];
    for (eight, groups) in eights.iter_mut().zip(residuals.as_chunks::<8>().0) {
        let mut v = [_mm512_setzero_si512(); 8];
        for (v, group) in v.iter_mut().zip(groups) {
            *v = load(group);
        }
        *eight = _mm512_cvtepi64_epi8(widths_of::<W>(unions(v)));
    }
    // In one store, because they are loaded together.
    let [a, b, c, d] = eights;
    let all = _mm256_set_m128i(_mm_unpacklo_epi64(c, d), _mm_unpacklo_epi64(a, b));
    let mut widths = [0; _];
    store_half(&mut widths, all);
    widths
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn difference_cost<W: Word>(bytes: &[u8], at: usize, lags: &[u16]) -> u32 {
    let v = by_order!(sample::<W>(bytes, at, lags), lags);
    _mm512_reduce_add_epi64(widths_of::<W>(unions(v))) as u32
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn sample<W: Word, const ORDER: usize>(bytes: &[u8], at: usize, lags: &[u16]) -> [V; 8] {
    let terms = sample_terms::<W, ORDER>(bytes, at, lags);
    let mut v = [_mm512_setzero_si512(); 8];
    for (i, v) in v.iter_mut().enumerate() {
        *v = of_terms::<W, ORDER, _>(&terms, i);
    }
    v
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn below_cost<W: Word>(bytes: &[u8], at: usize, rotation: u32) -> u32 {
    let sample: &[u8; SAMPLE] = scalar::term(bytes, at, 0).unwrap_or(&[0; SAMPLE]);
    let mut v = [_mm512_setzero_si512(); 8];
    let mut maximum = _mm512_setzero_si512();
    for (v, group) in v.iter_mut().zip(sample.as_chunks().0) {
        *v = rotated_left::<W>(load(group), rotation);
        maximum = max::<W>(maximum, *v);
    }
    let maximum = splat(greatest::<W>(maximum));
    for v in &mut v {
        *v = sub::<W>(maximum, *v);
    }
    _mm512_reduce_add_epi64(widths_of::<W>(unions(v))) as u32
}

/// The width of each word of 64 or 32 bits.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn widths_of_words<W: Word>(v: V) -> V {
    sub::<W>(splat(W::of(W::BITS as usize)), leading_zeros::<W>(v))
}
